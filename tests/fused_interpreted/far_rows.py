"""Run a function on rows 1.5e9 numbers apart: the third starts beyond 2**31. The memory between is never touched."""

import sys

import torch
from fused_reference import inputs, ours, result_and_gradients

APART = 1_500_000_000
ROWS, WIDTH = 3, 24

name = sys.argv[1]


def spread(near):
    """Copy the rows to memory with a stride of APART."""
    memory = torch.empty((ROWS - 1) * APART + WIDTH, dtype=near.dtype)
    far = memory.as_strided((ROWS, WIDTH), (APART, 1))
    return far.copy_(near)


tensors = inputs(name, (ROWS, WIDTH), torch.float16)
dy = torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(1)).half()
far = [spread(t) if t.shape == (ROWS, WIDTH) else t for t in tensors]
pair = [result_and_gradients(ours, name, *case) for case in ((tensors, dy), (far, spread(dy)))]
print("right" if all(map(torch.equal, *pair)) else "wrong")
