"""LayerNorm in three kernels. Row by row, with h = (x - mean) * scale, scale = 1 / sqrt(var + eps), g = weight * dy:

forward    y = weight * h + bias
backward   dx = scale * (g - mean(g) - h * mean(g * h)),   dweight = sum over rows of dy * h,   dbias = of dy
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from blocklab.fused.tiles import alignment, as_rows, as_vector, few_programs, keeps_rows, loads_wide, tile


@triton.jit(do_not_specialize=["stride", "rows"])
def _normalize(
    x, weight, bias, y, means, scales, stride, rows, eps,
    WIDTH: tl.constexpr, ALIGN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    wide = means.dtype.element_ty  # the type computed in
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # 64 bits: row * stride passes 2**31
    real = (row < rows)[:, None]
    x += row[:, None] * tl.multiple_of(stride.to(tl.int64), ALIGN)
    y += row[:, None] * WIDTH
    # Three passes over the row. If it fits in one block, the compiler drops the loops and keeps the row in registers: x
    # is read once. The second pass squares x - mean, because E[x²] - mean² would cancel.
    total = tl.zeros([ROWS, 1], wide)
    for start in range(0, WIDTH, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        total += tl.sum(tl.load(x + column, real & (column < WIDTH), 0).to(wide), 1, keep_dims=True)
    mean = total / WIDTH
    squares = tl.zeros([ROWS, 1], wide)
    for start in range(0, WIDTH, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        centered = tl.load(x + column, real & (column < WIDTH), 0).to(wide) - mean
        centered = tl.where(column < WIDTH, centered, 0)  # beyond the row it is -mean
        squares += tl.sum(centered * centered, 1, keep_dims=True)
    scale = tl.rsqrt(squares / WIDTH + eps)
    for start in range(0, WIDTH, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        slope = scale
        if weight is not None:
            slope = scale * tl.load(weight + column, column < WIDTH, 0).to(wide)
        result = (tl.load(x + column, real & (column < WIDTH), 0).to(wide) - mean) * slope
        if bias is not None:
            result += tl.load(bias + column, column < WIDTH, 0).to(wide)
        tl.store(y + column, result, real & (column < WIDTH))
    tl.store(means + row[:, None], mean, real)  # last, because the compiler reads x again after a store
    tl.store(scales + row[:, None], scale, real)


@triton.jit(do_not_specialize=["x_stride", "dy_stride", "rows"])
def _average(
    dy, x, weight, means, scales, means_g, means_gh, x_stride, dy_stride, rows,
    WIDTH: tl.constexpr, ALIGN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    real = (row < rows)[:, None]
    x += row[:, None] * tl.multiple_of(x_stride.to(tl.int64), ALIGN)
    dy += row[:, None] * tl.multiple_of(dy_stride.to(tl.int64), ALIGN)
    mean = tl.load(means + row, row < rows, 0)[:, None]
    scale = tl.load(scales + row, row < rows, 0)[:, None]
    sum_g = tl.zeros_like(mean)
    sum_gh = tl.zeros_like(mean)
    for start in range(0, WIDTH, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        h = (tl.load(x + column, real & (column < WIDTH), 0).to(mean.dtype) - mean) * scale
        g = tl.load(dy + column, real & (column < WIDTH), 0).to(mean.dtype)
        if weight is not None:
            g *= tl.load(weight + column, column < WIDTH, 0).to(mean.dtype)
        sum_g += tl.sum(g, 1, keep_dims=True)
        sum_gh += tl.sum(g * h, 1, keep_dims=True)
    tl.store(means_g + row[:, None], sum_g / WIDTH, real)
    tl.store(means_gh + row[:, None], sum_gh / WIDTH, real)


@triton.jit(do_not_specialize=["x_stride", "dy_stride", "rows"])
def _differentiate(
    dy, x, weight, means, scales, means_g, means_gh, dx, sums, x_stride, dy_stride, rows,
    WIDTH: tl.constexpr, ALIGN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    wide = means.dtype.element_ty
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    x_stride = tl.multiple_of(x_stride.to(tl.int64), ALIGN)
    dy_stride = tl.multiple_of(dy_stride.to(tl.int64), ALIGN)
    slope = tl.full([1, BLOCK], 1, wide)
    if weight is not None:
        slope = tl.load(weight + column, column < WIDTH, 0).to(wide)
    dweight = tl.zeros([ROWS, BLOCK], wide)
    dbias = tl.zeros([ROWS, BLOCK], wide)
    # Few programs process many rows each and keep one sum per column. Two stages: the next rows load meanwhile.
    for turn in tl.range(tl.program_id(0), tl.cdiv(rows, ROWS), tl.num_programs(0), num_stages=2):
        row = (turn * ROWS + tl.arange(0, ROWS)).to(tl.int64)
        real = (row < rows)[:, None] & (column < WIDTH)
        mean = tl.load(means + row, row < rows, 0)[:, None]
        scale = tl.load(scales + row, row < rows, 0)[:, None]
        h = (tl.load(x + row[:, None] * x_stride + column, real, 0).to(wide) - mean) * scale
        g = tl.load(dy + row[:, None] * dy_stride + column, real, 0).to(wide)
        dweight += g * h
        dbias += g
        g *= slope
        if means_g is None:  # the tile holds whole rows
            mean_g = tl.sum(g, 1, keep_dims=True) / WIDTH
            mean_gh = tl.sum(g * h, 1, keep_dims=True) / WIDTH
        else:
            mean_g = tl.load(means_g + row, row < rows, 0)[:, None]
            mean_gh = tl.load(means_gh + row, row < rows, 0)[:, None]
        tl.store(dx + row[:, None] * WIDTH + column, scale * (g - mean_g - h * mean_gh), real)
    sums += tl.program_id(0).to(tl.int64) * 2 * WIDTH + column
    tl.store(sums, tl.sum(dweight, 0, keep_dims=True), column < WIDTH)
    tl.store(sums + WIDTH, tl.sum(dbias, 0, keep_dims=True), column < WIDTH)


def forward(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """x (rows, width) normalized, and the mean and the scale of every row for the backward pass."""
    x, weight, bias, (rows, width) = as_rows(x), as_vector(weight), as_vector(bias), x.shape
    y = torch.empty((rows, width), dtype=x.dtype, device=x.device)
    means = torch.empty(rows, dtype=torch.promote_types(x.dtype, torch.float32), device=x.device)
    scales = torch.empty_like(means)
    align = alignment(x)
    most, piece = (32768, 16384) if loads_wide(x, align) else (16384, 8192)
    pieces = tile(width, most if width <= most else piece)
    with torch.cuda.device_of(x):
        _normalize[(triton.cdiv(rows, pieces["ROWS"]),)](
            x, weight, bias, y, means, scales, x.stride(0), rows, eps, width, align, **pieces
        )
    return y, means, scales


def backward(dy: Tensor, x: Tensor, weight: Tensor | None, means: Tensor, scales: Tensor) -> tuple[Tensor, Tensor]:
    """dx, and dweight and dbias stacked, (2, width). Each program writes its own sums: no locks, deterministic."""
    dy, x, weight, (rows, width) = as_rows(dy), as_rows(x), as_vector(weight), x.shape
    dx = torch.empty((rows, width), dtype=x.dtype, device=x.device)
    align = alignment(x, dy)
    common = (x.stride(0), dy.stride(0), rows, width, align)
    whole = keeps_rows(x, align)
    means_g = means_gh = None
    with torch.cuda.device_of(x):
        if not whole:
            means_g, means_gh = torch.empty_like(means), torch.empty_like(means)
            pieces = tile(width, 8192)
            programs = (triton.cdiv(rows, pieces["ROWS"]),)
            _average[programs](dy, x, weight, means, scales, means_g, means_gh, *common, **pieces)
        pieces = tile(width, 8192 if whole else 4096)
        programs = few_programs(x, pieces)
        sums = torch.empty((programs[0], 2, width), dtype=means.dtype, device=x.device)
        _differentiate[programs](dy, x, weight, means, scales, means_g, means_gh, dx, sums, *common, **pieces)
    return dx, sums.sum(0)
