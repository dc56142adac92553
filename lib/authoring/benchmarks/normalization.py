"""How long our normalizations take compared with torch's, forward, with affine parameters and without."""

from functools import partial

import torch
import torch.nn.functional as F

from blocklab.normalization import batch_norm, layer_norm, rms_norm

from .ratios import Case, case, compare

TINY = {"size": 8, "rounds": 2}


def cases(size: int) -> dict[str, Case]:
    x, weight, bias = torch.randn(size, size), torch.randn(size), torch.randn(size)
    running = torch.zeros(size), torch.ones(size)
    features = (size,)
    return {
        "layer_norm, weight and bias": case(F.layer_norm, layer_norm, x, features, weight, bias, goals=(3.0, 1.4)),
        "layer_norm": case(F.layer_norm, layer_norm, x, features, goals=(3.0, 1.4)),
        "rms_norm, weight": case(F.rms_norm, rms_norm, x, features, weight, 1e-5, goals=(1.1, 0.5)),
        "rms_norm": case(F.rms_norm, rms_norm, x, features, None, 1e-5, goals=(1.1, 0.5)),
        "batch_norm, all arguments": case(
            F.batch_norm, batch_norm, x, *running, weight, bias, training=True, goals=(2.0,)
        ),
        "batch_norm": case(F.batch_norm, batch_norm, x, None, None, training=True, goals=(2.0,)),
    }


def main(size: int = 4096, rounds: int = 31) -> None:
    compare(partial(cases, size), f"{size} x {size} float32", rounds)
