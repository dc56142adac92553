"""PyTorch's own sample inputs for its norms: same arguments, same results."""

import math

import pytest
import torch
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db

from blocklab import normalization as ours
from tolerance import TOLERANCE

NORMS = ("batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm")
# torch lists each of them once, and batch_norm a second time without cuDNN.
OPS = [op for op in op_db if op.name.removeprefix("nn.functional.") in NORMS]
CASES = [(op, torch.float64) for op in OPS]
CASES += [(op, torch.complex128) for op in OPS if torch.complex128 in op.dtypes]  # rms_norm alone


def fresh(value):
    """A copy, so that the running statistics that one call moves do not reach the next."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def test_torch_has_samples_for_all_five():
    assert {op.name for op in OPS} == {f"nn.functional.{name}" for name in NORMS}


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=lambda value: getattr(value, "formatted_name", str(value)))
def test_matches_torch_on_its_own_samples(op, dtype):
    function = getattr(ours, op.name.removeprefix("nn.functional."))
    run = 0
    for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
        calls = [
            (fresh(sample.input), [fresh(a) for a in sample.args], {k: fresh(v) for k, v in sample.kwargs.items()})
            for _ in range(2)
        ]
        (x, args, kwargs), (torch_x, torch_args, torch_kwargs) = calls
        y, expected = function(x, *args, **kwargs), op(torch_x, *torch_args, **torch_kwargs)
        # NaN is right where torch has it: one sample takes the root of a negative number
        assert_close(y, expected, **TOLERANCE[torch.float64], equal_nan=True)
        # the running statistics among the arguments, after the call; everything else must be untouched
        assert_close([x, args, kwargs], [torch_x, torch_args, torch_kwargs], **TOLERANCE[torch.float64])
        run += 1
    assert run > 0


@pytest.mark.parametrize("op", [op for op in OPS if op.error_inputs_func], ids=lambda op: op.formatted_name)
def test_rejects_what_torch_rejects(op):
    function = getattr(ours, op.name.removeprefix("nn.functional."))
    run = 0
    for error in op.error_inputs("cpu"):
        sample = error.sample_input
        if sample.input.numel() == 0:  # refused from torch 2.14 on; before and here, nothing gives nothing
            assert function(sample.input, *sample.args, **sample.kwargs).shape == sample.input.shape
            continue
        with pytest.raises(ValueError, match=r" expected .* got "):
            function(sample.input, *sample.args, **sample.kwargs)
        run += 1
    assert run > 0


def test_torch_samples_cover_negative_eps_and_momentum_and_empty_input():
    # what makes the samples worth running: if torch drops these, ours lose a test
    seen = set()
    for op in OPS:
        for sample in op.sample_inputs("cpu", torch.float64, requires_grad=False):
            numbers = {"eps": 1.0, "momentum": 1.0, **sample.kwargs}
            seen |= {key for key in ("eps", "momentum") if numbers[key] < 0}
            seen |= {"empty"} if math.prod(sample.input.shape) == 0 else set()
    assert seen == {"eps", "momentum", "empty"}
