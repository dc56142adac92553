"""How long our normalizations take beside torch's:  python -m workshop.benchmarks.normalization

Forward, one thread, 4096 x 4096 float32.
"""

import torch
import torch.nn.functional as F

from blocklab.normalization import batch_norm, layer_norm, rms_norm

from . import ratios

SIZE = 4096
ROUNDS = 31


def arms() -> ratios.Arms:
    """With weight and bias, and without."""
    x, weight, bias = torch.randn(SIZE, SIZE), torch.randn(SIZE), torch.randn(SIZE)
    ours, theirs = ((torch.zeros(SIZE), torch.ones(SIZE)) for _ in range(2))
    compiled_layer_norm, compiled_rms_norm = (torch.compile(f, fullgraph=True) for f in (layer_norm, rms_norm))
    d = (SIZE,)
    return {
        "layer_norm, weight and bias": (
            lambda: F.layer_norm(x, d, weight, bias),
            [
                ("as written", lambda: layer_norm(x, d, weight, bias), 3.0),
                ("compiled", lambda: compiled_layer_norm(x, d, weight, bias), 1.4),
            ],
        ),
        "layer_norm, bare": (
            lambda: F.layer_norm(x, d),
            [
                ("as written", lambda: layer_norm(x, d), 3.0),
                ("compiled", lambda: compiled_layer_norm(x, d), 1.4),
            ],
        ),
        "rms_norm, weight": (
            lambda: F.rms_norm(x, d, weight, 1e-5),
            [
                ("as written", lambda: rms_norm(x, d, weight, 1e-5), 1.1),
                ("compiled", lambda: compiled_rms_norm(x, d, weight, 1e-5), 0.5),
            ],
        ),
        "rms_norm, bare": (
            lambda: F.rms_norm(x, d, None, 1e-5),
            [
                ("as written", lambda: rms_norm(x, d, None, 1e-5), 1.1),
                ("compiled", lambda: compiled_rms_norm(x, d, None, 1e-5), 0.5),
            ],
        ),
        "batch_norm, training, all": (
            lambda: F.batch_norm(x, *theirs, weight, bias, training=True),
            [("as written", lambda: batch_norm(x, *ours, weight, bias, training=True), 2.0)],
        ),
        "batch_norm, training, bare": (
            lambda: F.batch_norm(x, None, None, training=True),
            [("as written", lambda: batch_norm(x, None, None, training=True), 2.0)],
        ),
    }


if __name__ == "__main__":
    ratios.run(lambda: ratios.compare(arms, f"{SIZE} x {SIZE} float32, forward, no gradient", ROUNDS))
