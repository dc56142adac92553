"""SwiGLU in two kernels. Elementwise, with s = sigmoid(gate):

forward    y = gate * s * value
backward   dgate = dy * value * s * (1 + gate * (1 - s)),   dvalue = dy * gate * s
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from blocklab.fused.tiles import alignment, as_rows, tile


@triton.jit(do_not_specialize=["gate_stride", "value_stride", "rows"])
def _multiply(
    gate, value, y, gate_stride, value_stride, rows,
    WIDTH: tl.constexpr, ALIGN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    columns = tl.cdiv(WIDTH, BLOCK)
    row = (tl.program_id(0) // columns).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # row * stride passes 2**31
    column = tl.program_id(0) % columns * BLOCK + tl.arange(0, BLOCK)[None, :]
    real = (row < rows) & (column < WIDTH)
    gate += row * tl.multiple_of(gate_stride.to(tl.int64), ALIGN)
    value += row * tl.multiple_of(value_stride.to(tl.int64), ALIGN)
    a = tl.load(gate + column, real, 0).to(WIDE)
    b = tl.load(value + column, real, 0).to(WIDE)
    tl.store(y + row * WIDTH + column, a * tl.sigmoid(a) * b, real)


@triton.jit(do_not_specialize=["dy_stride", "gate_stride", "value_stride", "rows"])
def _differentiate(
    dy, gate, value, dgate, dvalue, dy_stride, gate_stride, value_stride, rows,
    WIDTH: tl.constexpr, ALIGN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    columns = tl.cdiv(WIDTH, BLOCK)
    row = (tl.program_id(0) // columns).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(0) % columns * BLOCK + tl.arange(0, BLOCK)[None, :]
    real = (row < rows) & (column < WIDTH)
    dy += row * tl.multiple_of(dy_stride.to(tl.int64), ALIGN)
    gate += row * tl.multiple_of(gate_stride.to(tl.int64), ALIGN)
    value += row * tl.multiple_of(value_stride.to(tl.int64), ALIGN)
    d = tl.load(dy + column, real, 0).to(WIDE)
    a = tl.load(gate + column, real, 0).to(WIDE)
    b = tl.load(value + column, real, 0).to(WIDE)
    s = tl.sigmoid(a)
    tl.store(dgate + row * WIDTH + column, d * b * s * (1 + a * (1 - s)), real)
    tl.store(dvalue + row * WIDTH + column, d * a * s, real)


def forward(gate: Tensor, value: Tensor) -> Tensor:
    """silu(gate) * value for two matrices (rows, width), in the wider of their types."""
    gate, value, (rows, width) = as_rows(gate), as_rows(value), gate.shape
    y = torch.empty((rows, width), dtype=torch.promote_types(gate.dtype, value.dtype), device=gate.device)
    pieces = tile(width, 1024)
    programs = (triton.cdiv(rows, pieces["ROWS"]) * triton.cdiv(width, pieces["BLOCK"]),)
    with torch.cuda.device_of(gate):
        _multiply[programs](
            gate, value, y, gate.stride(0), value.stride(0), rows,
            width, alignment(gate, value), WIDE=_computed_in(y), **pieces,
        )  # fmt: skip
    return y


def backward(dy: Tensor, gate: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """dgate and dvalue, each in its own type."""
    dy, gate, value, (rows, width) = as_rows(dy), as_rows(gate), as_rows(value), gate.shape
    dgate, dvalue = (torch.empty((rows, width), dtype=t.dtype, device=t.device) for t in (gate, value))
    pieces = tile(width, 1024)
    programs = (triton.cdiv(rows, pieces["ROWS"]) * triton.cdiv(width, pieces["BLOCK"]),)
    with torch.cuda.device_of(gate):
        _differentiate[programs](
            dy, gate, value, dgate, dvalue, dy.stride(0), gate.stride(0), value.stride(0), rows,
            width, alignment(dy, gate, value), WIDE=_computed_in(dy), **pieces,
        )  # fmt: skip
    return dgate, dvalue


def _computed_in(y: Tensor) -> tl.dtype:
    return tl.float64 if y.dtype == torch.float64 else tl.float32  # float64 only in the interpreter
