"""How many bytes an operation moves between memory and chip, counted from the reads and writes of its kernels.

TRAFFIC lists the kernels of every operation, variant and direction, each with what it computes, reads and writes. The
variant "fused" moves the fewest bytes, "eager" runs step by step as in `eager`, "llama" as `eager.llama_rms_norm`. The
letters:

    M  the matrix (rows, width)     v  a vector (width,)                r  one number per row
    W  the matrix in float32        V  a vector (width,) in float32     R  one number per row in float32
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

FLOAT32_LETTERS = "WVR"  # float32, or the dtype of x if that is wider


@dataclass(frozen=True)
class Step:
    """One kernel: its formula, the letters that it reads and writes, and its label in figures."""

    formula: str
    reads: str
    writes: str
    sign: str = ""


# x / d with d = sqrt(m + eps), and what autograd makes of it: t is the gradient that arrives
_ROOT = (Step("s = m + eps", "r", "r"), Step("d = sqrt(s)", "r", "r"))
_DIVIDE_BACK = (
    Step("dc = t / d", "Mr", "M"),
    Step("h = c / d", "Mr", "M"),
    Step("-t", "M", "M"),
    Step("-t h", "MM", "M"),
    Step("-t h / d", "Mr", "M"),
    Step("dd = its sum over the row", "M", "r"),
    Step("2 d", "r", "r"),
    Step("ds = dd / 2 d", "rr", "r"),
)
_SCALE_BACK = (Step("dy h", "MM", "M"), Step("dweight = its sum", "M", "v"), Step("t = dy weight", "Mv", "M"))

_LAYER_NORM = (
    Step("mean of x", "M", "r", "μ"),
    Step("m = variance of x", "M", "r", "σ²"),
    Step("c = x - mean", "Mr", "M", "− μ"),
    *_ROOT,
    Step("h = c / d", "Mr", "M", "÷ σ"),
    Step("h weight", "Mv", "M", "× γ"),
    Step("y = h weight + bias", "Mv", "M", "+ β"),
)
_LAYER_NORM_BACK = (
    Step("dbias = sum of dy", "M", "v"),
    *_SCALE_BACK,
    *_DIVIDE_BACK,
    Step("-dc", "M", "M"),
    Step("dmean = its sum over the row", "M", "r"),
    Step("mean of x, again", "M", "r"),
    Step("x - mean, again", "Mr", "M"),
    Step("2/d ds", "r", "r"),
    Step("the variance's part of dx", "rM", "M"),
    Step("dc + that", "MM", "M"),
    Step("the mean's part of dx, written out", "r", "M"),
    Step("dx = all three", "MM", "M"),
)
_RMS_NORM = (
    Step("x²", "M", "M", "x²"),
    Step("m = mean of x²", "M", "r", "RMS²"),
    *_ROOT,
    Step("h = x / d", "Mr", "M", "÷ RMS"),
    Step("y = h weight", "Mv", "M", "× γ"),
)
_RMS_NORM_BACK = (
    *_SCALE_BACK,
    *_DIVIDE_BACK,
    Step("ds / width, written out", "r", "M"),
    Step("x to the power 1", "M", "M"),
    Step("2 x", "M", "M"),
    Step("2 x ds / width", "MM", "M"),
    Step("dx = dc + that", "MM", "M"),
)
_LLAMA_RMS_NORM = (
    Step("x to float32", "M", "W"),
    Step("x²", "W", "W"),
    Step("m = mean of x²", "W", "R"),
    Step("s = m + eps", "R", "R"),
    Step("1 / sqrt(s)", "R", "R"),
    Step("h = x / sqrt(s)", "WR", "W"),
    Step("h to the type of x", "W", "M"),
    Step("y = weight h", "vM", "M"),
)


def _over_channels(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same steps with one statistic per column: batch_norm on a matrix (N, C)."""
    return tuple(replace(s, reads=s.reads.replace("r", "v"), writes=s.writes.replace("r", "v")) for s in steps)


TRAFFIC: dict[tuple[str, str, str], Sequence[Step]] = {  # (operation, variant, direction)
    # A row fits on the chip: one read, one write, and float32 statistics saved for the backward pass, which reads dy
    # and x once and writes dx once. The sums for the parameters stay on the chip until the end.
    ("layer_norm", "fused", "forward"): [Step("y, mean, scale of x, weight, bias", "Mvv", "MRR")],
    ("layer_norm", "fused", "backward"): [Step("dx, dweight, dbias of dy, x, weight, mean, scale", "MMvRR", "Mvv")],
    ("rms_norm", "fused", "forward"): [Step("y, scale of x, weight", "Mv", "MR")],
    ("rms_norm", "fused", "backward"): [Step("dx, dweight of dy, x, weight, scale", "MMvR", "Mv")],
    ("add_rms_norm", "fused", "forward"): [Step("x + residual, y, scale of x, residual, weight", "MMv", "MMR")],
    # x and the residual have the same gradient, which is written once.
    ("add_rms_norm", "fused", "backward"): [
        Step("dx, dweight of dy, gradient of the sum, sum, weight, scale", "MMMvR", "Mv")
    ],
    # A channel is spread over the batch, which does not fit on the chip: one pass for the statistics, one to use them.
    ("batch_norm", "fused", "forward"): [
        Step("mean, scale, running mean and variance, old to new", "MVV", "VVVV"),
        Step("y of x, mean, scale, weight, bias", "MVVvv", "M"),
    ],
    ("batch_norm", "fused", "backward"): [
        Step("dweight, dbias of dy, x, mean, scale", "MMVV", "vv"),
        Step("dx of dy, x, mean, scale, weight, dweight, dbias", "MMVVvvv", "M"),
    ],
    # Computing the sigmoid again is cheaper than storing it.
    ("swiglu", "fused", "forward"): [Step("y of gate, value", "MM", "M")],
    ("swiglu", "fused", "backward"): [Step("dgate, dvalue of dy, gate, value", "MMM", "MM")],
    # Every step is a kernel that reads its operands from memory and writes its result back. Autograd runs the
    # derivative of every step as separate kernels, and adds the gradients of every use of x.
    ("layer_norm", "eager", "forward"): _LAYER_NORM,
    ("layer_norm", "eager", "backward"): _LAYER_NORM_BACK,
    ("rms_norm", "eager", "forward"): _RMS_NORM,
    ("rms_norm", "eager", "backward"): _RMS_NORM_BACK,
    ("add_rms_norm", "eager", "forward"): (Step("x + residual", "MM", "M"), *_RMS_NORM),
    ("add_rms_norm", "eager", "backward"): (*_RMS_NORM_BACK, Step("dx + gradient of the sum", "MM", "M")),
    ("batch_norm", "eager", "forward"): _over_channels(_LAYER_NORM),
    ("batch_norm", "eager", "backward"): _over_channels(_LAYER_NORM_BACK),
    ("swiglu", "eager", "forward"): [Step("silu of gate", "M", "M"), Step("y = that value", "MM", "M")],
    ("swiglu", "eager", "backward"): [
        Step("dvalue = dy silu", "MM", "M"),
        Step("dy value", "MM", "M"),
        Step("dgate of that", "MM", "M"),
    ],
    ("rms_norm", "llama", "forward"): _LLAMA_RMS_NORM,  # half of the steps in float32
}


def traffic(op: str, direction: str = "forward", variant: str = "fused") -> Sequence[Step]:
    """The kernels of an operation. Raises ValueError where there is no such entry."""
    key = (op, variant, direction)
    for n, name in enumerate(("op", "variant", "direction")):
        known = dict.fromkeys(each[n] for each in TRAFFIC if each[:n] == key[:n])
        if key[n] not in known:
            raise ValueError(f"traffic: expected {name} to be one of {', '.join(known)}, got {key[n]!r}")
    return TRAFFIC[key]


def bytes_moved(
    op: str, shape: Sequence[int], dtype: torch.dtype, direction: str = "forward", variant: str = "fused"
) -> int:
    """Bytes that the operation reads and writes; the variant "fused" moves the fewest possible.

    shape: (*, width); for batch_norm (N, C, *), whose width is C. `bytes_moved("rms_norm", (32768, 4096),
    torch.bfloat16)` is 4 bytes per number, 2 in and 2 out, plus a little for the weight and the statistics.

    Raises ValueError as `traffic` does, and for a shape without axes.
    """
    letters = _letters(traffic(op, direction, variant), dtype)
    if len(shape) == 0:
        raise ValueError(f"bytes_moved: expected shape to have at least one axis, got {tuple(shape)}")
    width = shape[1] if op == "batch_norm" and len(shape) > 1 else shape[-1]
    numbers = math.prod(shape)
    rows = numbers // width if width else 0
    count = {"M": numbers, "W": numbers, "v": width, "V": width, "r": rows, "R": rows}
    return sum(count[letter] * _size(letter, dtype) for letter in letters)


def bytes_per_number(op: str, dtype: torch.dtype, direction: str = "forward", variant: str = "fused") -> int:
    """`bytes_moved` per number of a matrix so large that vectors don't count: 4 for rms_norm in bfloat16."""
    return sum(_size(letter, dtype) for letter in _letters(traffic(op, direction, variant), dtype) if letter in "MW")


def _letters(steps: Sequence[Step], dtype: torch.dtype) -> str:
    """All letters that the steps read and write, without casts to the same dtype."""
    changes = _size("M", dtype) != _size("W", dtype)
    return "".join(s.reads + s.writes for s in steps if changes or {s.reads, s.writes} != {"M", "W"})


def _size(letter: str, dtype: torch.dtype) -> int:
    return max(dtype.itemsize, 4) if letter in FLOAT32_LETTERS else dtype.itemsize
