"""Right before fast: how far a result lies from the same formula in float64, beside how far torch's own lies."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from blocklab_course.benchmarking.calls import Function, prepare

CHUNK = 1024  # rows at a time: float64 takes four times the memory of bfloat16, and autograd keeps several of them
LIMIT = 1.5  # times the error of the arm compared with
ANOTHER_ORDER = 1e-6  # what a sum of thousands of float32 may differ by when its order is another


def relative_errors(
    function: Function, exact: Function, inputs: Sequence[Tensor], direction: str = "forward"
) -> list[float]:
    """For every result, the length of its error over its own length, against exact(*inputs in float64).

    Inputs with two axes are taken in chunks of rows, each of which has to be independent of the others, and so are
    results; a result with one axis is a sum over rows, as the gradient of a weight.
    """
    results = _several(prepare(function, inputs, direction)())
    sums = {i: torch.zeros_like(result, dtype=torch.float64) for i, result in enumerate(results) if result.dim() == 1}
    squares = [[0.0, 0.0] for _ in results]  # of the error, of what is exact

    def add(i: int, result: Tensor, wanted: Tensor) -> None:
        squares[i][0] += (result.double() - wanted).square().sum().item()
        squares[i][1] += wanted.square().sum().item()

    for start in range(0, len(inputs[0]), CHUNK):
        rows = slice(start, start + CHUNK)
        part = [(tensor[rows] if tensor.dim() == 2 else tensor).double() for tensor in inputs]
        for i, wanted in enumerate(_several(prepare(exact, part, direction)())):
            if i in sums:
                sums[i] += wanted
            else:
                add(i, results[i][rows], wanted)
    for i, wanted in sums.items():
        add(i, results[i], wanted)
    return [math.sqrt(error / max(whole, 1e-300)) for error, whole in squares]


def near_enough(errors: Sequence[float], compared: Sequence[float], dtype: torch.dtype, limit: float = LIMIT) -> bool:
    """Whether every error is at most `limit` times the one compared with. NaN never is.

    A result rounded once is off by about a quarter of the type's eps, so nothing below that is asked for.
    """
    least = max(torch.finfo(dtype).eps / 4, ANOTHER_ORDER)
    return all(error <= limit * max(theirs, least) for error, theirs in zip(errors, compared, strict=True))


def _several(results: Tensor | Sequence[Tensor]) -> Sequence[Tensor]:
    return (results,) if isinstance(results, Tensor) else results
