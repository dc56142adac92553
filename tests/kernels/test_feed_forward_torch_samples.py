"""PyTorch's own sample inputs for its activations: same arguments, same results."""

import pytest
import torch
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db

from blocklab import feed_forward as ours
from tolerance import TOLERANCE

NAMES = ("relu", "gelu", "silu", "glu")
# torch lists silu twice, once for real and once for complex numbers
OPS = [op for op in op_db if op.name.removeprefix("nn.functional.") in NAMES]
WIDEST = (torch.float64, torch.complex128)


def test_torch_has_samples_for_all_four():
    assert {op.name for op in OPS} == {f"nn.functional.{name}" for name in NAMES}
    assert len(OPS) > len(NAMES)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.formatted_name)
def test_matches_torch_on_its_own_samples(op):
    function = getattr(ours, op.name.removeprefix("nn.functional."))
    run = 0
    for dtype in [dtype for dtype in WIDEST if dtype in op.dtypes]:
        for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
            x = sample.input.clone()
            y = function(x, *sample.args, **sample.kwargs)
            expected = op(sample.input, *sample.args, **sample.kwargs)
            assert_close(y, expected, **TOLERANCE[torch.float64])
            assert torch.equal(x, sample.input)
            run += 1
    assert run > 0


@pytest.mark.parametrize("op", [op for op in OPS if op.error_inputs_func], ids=lambda op: op.formatted_name)
def test_rejects_what_torch_rejects(op):
    function = getattr(ours, op.name.removeprefix("nn.functional."))
    run = 0
    for error in op.error_inputs("cpu"):
        sample = error.sample_input
        with pytest.raises(ValueError, match=r" expected .* got "):
            function(sample.input, *sample.args, **sample.kwargs)
        run += 1
    assert run > 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64], ids=str)
def test_rejects_types_that_torch_rejects(name, dtype):
    x = torch.ones(2, 4, dtype=dtype)
    try:
        expected = getattr(torch.nn.functional, name)(x)
    except RuntimeError:
        with pytest.raises(TypeError, match=f"{name}: expected x to have .*floating point dtype, got {dtype}"):
            getattr(ours, name)(x)
    else:
        assert_close(getattr(ours, name)(x), expected)
