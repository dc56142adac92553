"""The fused kernels on a GPU: as accurate as torch's own, and the same bits at every call."""

import pytest
import torch

from blocklab import fused
from blocklab_course.benchmarking.accuracy import is_accurate, relative_errors
from blocklab_course.benchmarking.calls import DIRECTIONS, prepare
from blocklab_course.benchmarking.implementations import operations

pytestmark = pytest.mark.skipif(not fused.available(), reason="wants a CUDA device and Triton")

ROWS = 3000


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("width", [1, 127, 1000, 4096, 4097, 16384, 65536])
def test_as_accurate_as_torch(width, dtype, direction):
    torch.manual_seed(0)
    for operation in operations(torch.device("cuda"), compiled=False):
        inputs = operation.inputs(ROWS, width, dtype, torch.device("cuda"), direction)
        first = next(iter(operation.implementations.values()))
        found, compared = (
            relative_errors(arm, operation.exact, inputs, direction)
            for arm in (operation.implementations["fused"], first)
        )
        assert is_accurate(found, compared, dtype), (operation.name, found, compared)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "swiglu"])
def test_the_same_bits_at_every_call(name):
    [operation] = [each for each in operations(torch.device("cuda"), compiled=False) if each.name == name]
    inputs = operation.inputs(ROWS, 4097, torch.bfloat16, torch.device("cuda"), "backward")
    call = prepare(operation.implementations["fused"], inputs, "backward")
    first = call()
    for _ in range(20):
        assert all(torch.equal(one, other) for one, other in zip(first, call(), strict=True))
