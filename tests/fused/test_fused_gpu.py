"""The fused kernels on a GPU are as accurate as torch's and deterministic."""

import pytest
import torch

from blocklab import fused
from blocklab_course.benchmarking.accuracy import is_accurate, relative_errors
from blocklab_course.benchmarking.calls import DIRECTIONS, prepare
from blocklab_course.benchmarking.implementations import operations

pytestmark = pytest.mark.skipif(not fused.available(), reason="needs a CUDA device and Triton")

ROWS = 3000


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("width", [1, 127, 1000, 4096, 4097, 16384, 65536])
def test_as_accurate_as_torch(width, dtype, direction):
    torch.manual_seed(0)
    for operation in operations(torch.device("cuda"), compiled=False):
        inputs = operation.inputs(ROWS, width, dtype, torch.device("cuda"), direction)
        pair = operation.implementations["fused"], next(iter(operation.implementations.values()))
        found, reference = (relative_errors(function, operation.exact, inputs, direction) for function in pair)
        assert is_accurate(found, reference, dtype), (operation.name, found, reference)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "swiglu"])
def test_results_are_deterministic(name):
    [operation] = [each for each in operations(torch.device("cuda"), compiled=False) if each.name == name]
    inputs = operation.inputs(ROWS, 4097, torch.bfloat16, torch.device("cuda"), "backward")
    call = prepare(operation.implementations["fused"], inputs, "backward")
    first = call()
    for _ in range(20):
        assert all(torch.equal(one, other) for one, other in zip(first, call(), strict=True))
