"""Memory traffic, tiles and loads, compared with counted operators and with results by hand."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from blocklab_course.benchmarking import bytes_moved, bytes_per_number, eager, load_bits, tiles_and_waves, traffic
from blocklab_course.benchmarking.memory_traffic import TRAFFIC

HALF, SINGLE, DOUBLE = torch.bfloat16, torch.float32, torch.float64


class CountBytes(TorchDispatchMode):
    """Counts the bytes that torch operators read and write. Views are free; expanded elements count once."""

    total = 0

    def __torch_dispatch__(self, step, types, args=(), kwargs=None):
        result = step(*args, **(kwargs or {}))
        if not step.is_view and step is not torch.ops.aten.detach.default:
            tensors = [t for t in tree_leaves((args, kwargs, result)) if isinstance(t, torch.Tensor)]
            for t in tensors:
                real = [n for n, stride in zip(t.shape, t.stride(), strict=True) if stride]
                self.total += math.prod(real) * t.itemsize
        return result


INPUTS = {  # M a matrix, v a vector
    "layer_norm": "Mvv",
    "batch_norm": "Mvv",
    "rms_norm": "Mv",
    "add_rms_norm": "MMv",
    "swiglu": "MM",
    "llama_rms_norm": "Mv",
}


ROWS = {name: (name, "eager") for name in INPUTS} | {"llama_rms_norm": ("rms_norm", "llama")}


def counted(name, shape, dtype):
    """Bytes of the forward pass and of the backward pass of a function of `eager`, as torch runs them."""
    shapes = {"M": shape, "v": shape[-1:]}
    inputs = [torch.randn(shapes[letter]).to(dtype).requires_grad_() for letter in INPUTS[name]]
    with CountBytes() as forward:
        results = getattr(eager, name)(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    gradients = [torch.randn_like(y) for y in results]
    with CountBytes() as backward:
        torch.autograd.grad(results, inputs, gradients)
    return {"forward": forward.total, "backward": backward.total}


TYPES = {name: [HALF, SINGLE, DOUBLE] for name in INPUTS}
TYPES["llama_rms_norm"] = [HALF, SINGLE]  # float32 is where it goes, whatever comes


@pytest.mark.parametrize("shape", [(3, 5), (7, 2)], ids=str)
@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name in TYPES for dtype in TYPES[name]], ids=str)
def test_eager_traffic_matches_torch_operators(name, shape, dtype):
    op, variant = ROWS[name]
    found = counted(name, shape, dtype)
    for direction in [direction for *row, direction in TRAFFIC if row == [op, variant]]:
        assert bytes_moved(op, shape, dtype, direction, variant) == found[direction], direction


def by_hand(op, rows, width, s):
    """Forward and backward bytes of the fused operations. s: bytes of a number; statistics have 4 or more."""
    n, p, stat = rows * width * s, width * s, max(s, 4)
    return {
        "layer_norm": (2 * n + 2 * stat * rows + 2 * p, 3 * n + 2 * stat * rows + 3 * p),
        "rms_norm": (2 * n + stat * rows + p, 3 * n + stat * rows + 2 * p),
        "swiglu": (3 * n, 5 * n),
        "add_rms_norm": (4 * n + stat * rows + p, 4 * n + stat * rows + 2 * p),
        # mean and scale written, read; running ones read, written; weight and bias
        "batch_norm": (3 * n + 8 * stat * width + 2 * p, 5 * n + 4 * stat * width + 5 * p),
    }[op]


@pytest.mark.parametrize("dtype", [HALF, SINGLE, DOUBLE], ids=str)
@pytest.mark.parametrize("op", ["layer_norm", "rms_norm", "swiglu", "add_rms_norm", "batch_norm"])
def test_fused_bytes_by_hand(op, dtype):
    wanted = by_hand(op, 6, 10, dtype.itemsize)
    assert tuple(bytes_moved(op, (6, 10), dtype, direction) for direction in ("forward", "backward")) == wanted


@pytest.mark.parametrize(
    ("op", "variant", "forward", "backward"),
    [
        ("layer_norm", "fused", 4, 6),
        ("rms_norm", "fused", 4, 6),
        ("batch_norm", "fused", 6, 10),
        ("swiglu", "fused", 6, 10),
        ("add_rms_norm", "fused", 8, 8),
        ("layer_norm", "eager", 20, 68),
        ("rms_norm", "eager", 14, 58),
        ("swiglu", "eager", 10, 18),
        ("batch_norm", "eager", 20, 68),
        ("add_rms_norm", "eager", 20, 64),
        ("rms_norm", "llama", 36, None),
    ],
)
def test_bytes_per_number_in_bfloat16(op, variant, forward, backward):
    assert bytes_per_number(op, HALF, variant=variant) == forward
    if backward is not None:
        assert bytes_per_number(op, HALF, "backward", variant) == backward


def test_steps_use_known_letters():
    assert all(set(step.reads + step.writes) <= set("MWvVrR") for steps in TRAFFIC.values() for step in steps)


def test_leading_axes_count_as_rows_and_channels_as_width():
    assert bytes_moved("rms_norm", (2, 3, 10), HALF) == bytes_moved("rms_norm", (6, 10), HALF)
    assert bytes_moved("batch_norm", (2, 10, 3), HALF) == bytes_moved("batch_norm", (6, 10), HALF)
    assert bytes_moved("batch_norm", (2, 10, 3), HALF) != bytes_moved("batch_norm", (20, 3), HALF)
    assert bytes_moved("rms_norm", (4, 0), HALF) == 0


def test_unknown_operation_variant_or_direction_is_an_error():
    with pytest.raises(ValueError, match=r"expected op to be one of layer_norm, .*, got 'softmax'"):
        bytes_moved("softmax", (2, 3), HALF)
    with pytest.raises(ValueError, match="expected direction to be one of forward, backward, got 'sideways'"):
        traffic("swiglu", "sideways")
    with pytest.raises(ValueError, match="expected variant to be one of fused, eager, got 'llama'"):
        traffic("swiglu", variant="llama")
    with pytest.raises(ValueError, match="expected direction to be one of forward, got 'backward'"):
        bytes_per_number("rms_norm", HALF, "backward", "llama")
    with pytest.raises(ValueError, match="at least one axis"):
        bytes_moved("swiglu", (), HALF)


# 128 x 256 tiles on 132 processors. The shares to four digits are rows * width / (waves * 132 * 32768).
@pytest.mark.parametrize(
    ("rows", "width", "tiles", "waves", "share"),
    [
        (8192, 10922, 2752, 21, 0.9850),
        (8192, 10944, 2752, 21, 0.9870),
        (8192, 11008, 2752, 21, 0.9928),
        (4096, 10922, 1376, 11, 0.9403),
        (4096, 11008, 1376, 11, 0.9477),
        (8192, 14336, 3584, 28, 0.9697),
        (8192, 11264, 2816, 22, 0.9697),
        (1024, 1056, 40, 1, 0.25),
    ],
)
def test_tiles_and_waves_by_hand(rows, width, tiles, waves, share):
    found = tiles_and_waves(rows, width)
    assert (found.tiles, found.waves) == (tiles, waves)
    assert found.share == pytest.approx(share, abs=6e-5)


def test_share_is_1_for_whole_waves():
    assert tiles_and_waves(6, 20, tile=(2, 5), processors=4) == (12, 3, 1.0)
    assert tiles_and_waves(6, 21, tile=(2, 5), processors=4) == (15, 4, 126 / 160)


def test_tiles_and_waves_rejects_sizes_below_1_and_floats():
    with pytest.raises(ValueError, match="processors to be at least 1, got 0"):
        tiles_and_waves(8, 8, processors=0)
    with pytest.raises(ValueError, match="tile to be at least 1, got 0"):
        tiles_and_waves(8, 8, tile=(4, 0))
    with pytest.raises(TypeError, match="width to be an integer"):
        tiles_and_waves(8, 8.0)


@pytest.mark.parametrize(
    ("width", "dtype", "bits"),
    [
        *((10920, HALF, 128), (10922, HALF, 32), (10923, HALF, 16), (10924, HALF, 64), (11008, HALF, 128)),
        *((4097, SINGLE, 32), (4098, SINGLE, 64), (4100, SINGLE, 128), (4097, DOUBLE, 64), (4098, DOUBLE, 128)),
    ],
    ids=str,
)
def test_load_bits_is_the_widest_aligned_load(width, dtype, bits):
    assert load_bits(width, dtype) == bits
    row = width * dtype.itemsize
    assert row % (bits // 8) == 0
    assert bits == 128 or row % (bits // 4)  # twice as wide would not fit
