"""Regression tests for bugs that similar kernels had in other projects."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from fused_reference import NAMES, error, inputs, ours, result_and_gradients, torchs
from torch.testing import assert_close

from blocklab import fused
from tolerance import TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_row_offsets_beyond_32_bits(name):
    # Liger-Kernel #803 and #1483, vllm #42862, flashinfer #3005, triton #6748: row * stride in 32 bits. A wrong
    # address crashes the process, so this runs in a subprocess.
    far = subprocess.run(
        [sys.executable, Path(__file__).with_name("far_rows.py"), name], capture_output=True, text=True
    )
    assert (far.returncode, far.stdout.split()) == (0, ["right"]), far.stderr[-1000:]


@pytest.mark.parametrize("width", [1, 3, 7, 17, 129, 769, 1000, 1023, 4097])
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_padding_columns_are_ignored(name, width):
    # Liger-Kernel #518, unsloth PR #1867, triton #9838: with a mean far from 0, the variance counted every column
    # between the width and the next power of two. Also E[x²] - mean², which cancels: llm.c's layernorm_forward
    x, *vectors = inputs(name, (3, width))
    x += 1000
    exact = torchs(name, x, *vectors)
    got = ours(name, x.float(), *(v.float() for v in vectors))
    assert error(got, exact) <= 1000 * torch.finfo(torch.float32).eps


@pytest.mark.parametrize("width", [3, 1000, 4097, 8200, 33000])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_out_of_bounds(name, width, monkeypatch):
    # the interpreter, like a GPU, silently overwrites memory next to the result
    plain, padded = torch.empty, []

    def empty(*shape, **options):
        memory = torch.full((shape_of(*shape).numel() + 128,), 7.0, **options)
        padded.append(memory)
        return memory[64:-64].view(shape_of(*shape))

    def shape_of(*shape):
        return plain(*shape, device="meta").shape

    monkeypatch.setattr(torch, "empty", empty)
    monkeypatch.setattr(torch, "empty_like", lambda t: empty(t.shape, dtype=t.dtype, device=t.device))
    tensors = inputs(name, (5, width), torch.float32)
    got = result_and_gradients(ours, name, tensors, torch.ones(5, width))
    assert len(padded) >= 3
    assert all((memory[:64] == 7).all() and (memory[-64:] == 7).all() for memory in padded)
    assert not any((t == 7).all() for t in got)


@pytest.mark.parametrize("scale", [300.0, 60000.0])
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_float16_squares_do_not_overflow(name, scale):
    # pytorch PR #133085: x² of 256 and more is infinite in float16
    x = (torch.tensor([[1, -1, 0.5, 0.25], [1, 1, 1, -1]]) * scale).half()
    weight, bias = torch.ones(4).half(), torch.zeros(4).half()
    got = result_and_gradients(ours, name, [x, weight, bias], torch.ones(2, 4))
    exact = result_and_gradients(torchs, name, [x.double(), weight.double(), bias.double()], torch.ones(2, 4))
    assert_close([t.double() for t in got], exact, **TOLERANCE[torch.float16])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, about lanes of a tile beyond the row
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_constant_rows_stay_finite(name, dtype):
    # pytorch PR #142848: 1 / 0 in the scale, where float16 rounds eps=1e-12 to 0
    x = torch.tensor([[0.0] * 5, [3.0] * 5], dtype=dtype)
    function, plain = getattr(fused, name), getattr(F, name)
    assert_close(function(x, (5,), eps=1e-12).double(), plain(x.double(), (5,), eps=1e-12), **TOLERANCE[dtype])
    pair = [
        torch.autograd.functional.vjp(lambda x, f=f: f(x, (5,), eps=1e-6), t, torch.ones_like(t))[1]
        for f, t in ((function, x), (plain, x.double()))
    ]
    assert_close(pair[0].double(), pair[1], **TOLERANCE[dtype])


@pytest.mark.parametrize("name", NAMES)
def test_gradient_with_zero_strides(name):
    # .sum().backward() sends one number for all: quack #88, unsloth PR #10617
    tensors = [t.requires_grad_() for t in inputs(name, (4, 24), torch.float32)]
    used = tensors[: 2 if name == "rms_norm" else None]
    flat = torch.autograd.grad(ours(name, *tensors).sum(), used)
    full = torch.autograd.grad(ours(name, *tensors), used, torch.ones(4, 24))
    assert all(map(torch.equal, flat, full))


@pytest.mark.parametrize("name", NAMES)
def test_unaligned_pointers(name):
    # pytorch PR #186235, flashinfer #634, flash-attention #289
    tensors = inputs(name, (4, 24), torch.float16)
    moved = [torch.cat([t.flatten()[:1], t.flatten()])[1:].view(t.shape) for t in tensors]
    assert all(t.data_ptr() % 16 for t in moved)
    dy = torch.ones(4, 24).half()
    assert all(map(torch.equal, *(result_and_gradients(ours, name, group, dy) for group in (moved, tensors))))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, in the interpreter
@pytest.mark.parametrize("name", NAMES)
def test_extreme_inputs_match_torch(name):
    x = torch.tensor([[-1e4, -90.0, 0.0, 90.0, 1e4], [torch.inf, 1.0, 1.0, 1.0, 1.0], [torch.nan, 1.0, 1.0, 1.0, 1.0]])
    others = [torch.ones(3, 5)] if name == "swiglu" else [torch.ones(5), torch.zeros(5)]
    assert_close(ours(name, x, *others), torchs(name, x, *others), equal_nan=True, **TOLERANCE[torch.float32])
