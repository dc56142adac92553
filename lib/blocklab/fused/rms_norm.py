"""RMSNorm in three kernels. Row by row, with h = x * scale, scale = 1 / sqrt(mean(x²) + eps), g = weight * dy:

forward    y = weight * h
backward   dx = scale * (g - h * mean(g * h)),   dweight = sum over rows of dy * h
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from blocklab.fused.tiles import alignment, as_rows, as_vector, few_programs, keeps_rows, tile


@triton.jit(do_not_specialize=["stride", "rows"])
def _normalize(
    x, weight, y, scales, stride, rows, eps,
    WIDTH: tl.constexpr, ALIGN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    wide = scales.dtype.element_ty  # the type computed in
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # 64 bits: row * stride passes 2**31
    real = (row < rows)[:, None]
    x += row[:, None] * tl.multiple_of(stride.to(tl.int64), ALIGN)
    y += row[:, None] * WIDTH
    # Two passes over the row. If it fits in one block, the compiler drops the loops and keeps the row in registers:
    # x is read once.
    squares = tl.zeros([ROWS, 1], wide)
    for start in range(0, WIDTH, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        value = tl.load(x + column, real & (column < WIDTH), 0).to(wide)
        squares += tl.sum(value * value, 1, keep_dims=True)
    scale = tl.rsqrt(squares / WIDTH + eps)
    for start in range(0, WIDTH, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        slope = scale
        if weight is not None:
            slope = scale * tl.load(weight + column, column < WIDTH, 0).to(wide)
        value = tl.load(x + column, real & (column < WIDTH), 0).to(wide)
        tl.store(y + column, value * slope, real & (column < WIDTH))
    tl.store(scales + row[:, None], scale, real)  # last, because the compiler reads x again after a store


@triton.jit(do_not_specialize=["x_stride", "dy_stride", "rows"])
def _average(
    dy, x, weight, scales, means_gh, x_stride, dy_stride, rows,
    WIDTH: tl.constexpr, ALIGN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    real = (row < rows)[:, None]
    x += row[:, None] * tl.multiple_of(x_stride.to(tl.int64), ALIGN)
    dy += row[:, None] * tl.multiple_of(dy_stride.to(tl.int64), ALIGN)
    scale = tl.load(scales + row, row < rows, 0)[:, None]
    sum_gh = tl.zeros_like(scale)
    for start in range(0, WIDTH, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        h = tl.load(x + column, real & (column < WIDTH), 0).to(scale.dtype) * scale
        g = tl.load(dy + column, real & (column < WIDTH), 0).to(scale.dtype)
        if weight is not None:
            g *= tl.load(weight + column, column < WIDTH, 0).to(scale.dtype)
        sum_gh += tl.sum(g * h, 1, keep_dims=True)
    tl.store(means_gh + row[:, None], sum_gh / WIDTH, real)


@triton.jit(do_not_specialize=["x_stride", "dy_stride", "rows"])
def _differentiate(
    dy, x, weight, scales, means_gh, dx, sums, x_stride, dy_stride, rows,
    WIDTH: tl.constexpr, ALIGN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    wide = scales.dtype.element_ty
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    x_stride = tl.multiple_of(x_stride.to(tl.int64), ALIGN)
    dy_stride = tl.multiple_of(dy_stride.to(tl.int64), ALIGN)
    slope = tl.full([1, BLOCK], 1, wide)
    if weight is not None:
        slope = tl.load(weight + column, column < WIDTH, 0).to(wide)
    dweight = tl.zeros([ROWS, BLOCK], wide)
    # Few programs process many rows each and keep one sum per column. Two stages: the next rows load meanwhile.
    for turn in tl.range(tl.program_id(0), tl.cdiv(rows, ROWS), tl.num_programs(0), num_stages=2):
        row = (turn * ROWS + tl.arange(0, ROWS)).to(tl.int64)
        real = (row < rows)[:, None] & (column < WIDTH)
        scale = tl.load(scales + row, row < rows, 0)[:, None]
        h = tl.load(x + row[:, None] * x_stride + column, real, 0).to(wide) * scale
        g = tl.load(dy + row[:, None] * dy_stride + column, real, 0).to(wide)
        dweight += g * h
        g *= slope
        if means_gh is None:  # the tile holds whole rows
            mean_gh = tl.sum(g * h, 1, keep_dims=True) / WIDTH
        else:
            mean_gh = tl.load(means_gh + row, row < rows, 0)[:, None]
        tl.store(dx + row[:, None] * WIDTH + column, scale * (g - h * mean_gh), real)
    sums += tl.program_id(0).to(tl.int64) * WIDTH + column
    tl.store(sums, tl.sum(dweight, 0, keep_dims=True), column < WIDTH)


def forward(x: Tensor, weight: Tensor | None, eps: float) -> tuple[Tensor, Tensor]:
    """x (rows, width) normalized, and the scale of every row for the backward pass."""
    x, weight, (rows, width) = as_rows(x), as_vector(weight), x.shape
    y = torch.empty((rows, width), dtype=x.dtype, device=x.device)
    scales = torch.empty(rows, dtype=torch.promote_types(x.dtype, torch.float32), device=x.device)
    pieces = tile(width, 32768 if width <= 32768 else 16384)
    with torch.cuda.device_of(x):
        _normalize[(triton.cdiv(rows, pieces["ROWS"]),)](
            x, weight, y, scales, x.stride(0), rows, eps, width, alignment(x), **pieces
        )
    return y, scales


def backward(dy: Tensor, x: Tensor, weight: Tensor | None, scales: Tensor) -> tuple[Tensor, Tensor]:
    """dx and dweight (width,). Each program writes its own sum: no locks, deterministic."""
    dy, x, weight, (rows, width) = as_rows(dy), as_rows(x), as_vector(weight), x.shape
    dx = torch.empty((rows, width), dtype=x.dtype, device=x.device)
    align = alignment(x, dy)
    common = (x.stride(0), dy.stride(0), rows, width, align)
    whole = keeps_rows(x, align)
    means_gh = None
    with torch.cuda.device_of(x):
        if not whole:
            means_gh = torch.empty_like(scales)
            pieces = tile(width, 8192)
            programs = (triton.cdiv(rows, pieces["ROWS"]),)
            _average[programs](dy, x, weight, scales, means_gh, *common, **pieces)
        pieces = tile(width, 8192 if whole else 4096)
        programs = few_programs(x, pieces)
        sums = torch.empty((programs[0], width), dtype=scales.dtype, device=x.device)
        _differentiate[programs](dy, x, weight, scales, means_gh, dx, sums, *common, **pieces)
    return dx, sums.sum(0)
