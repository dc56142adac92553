"""Accuracy before speed: the error against the same formula in float64, compared with the error of torch's function."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from blocklab_course.benchmarking.calls import Function, prepare

ROWS_PER_CHUNK = 1024  # float64 takes four times the memory of bfloat16, and autograd keeps several copies
ERROR_RATIO_LIMIT = 1.5  # times the error of the reference implementation
SUMMATION_ORDER_ERROR = 1e-6  # between float32 sums of thousands of terms in different orders


def relative_errors(
    function: Function, exact: Function, inputs: Sequence[Tensor], direction: str = "forward"
) -> list[float]:
    """For every result, ‖result - exact‖ / ‖exact‖, where exact(*inputs) is computed in float64.

    Inputs and results with two axes are split into chunks of rows, so rows have to be independent of each other. A
    result with one axis is a sum over rows, such as the gradient of a weight.
    """
    results = _as_sequence(prepare(function, inputs, direction)())
    sums = {i: torch.zeros_like(result, dtype=torch.float64) for i, result in enumerate(results) if result.dim() == 1}
    squares = [[0.0, 0.0] for _ in results]  # of the error and of the exact result

    def add(i: int, result: Tensor, wanted: Tensor) -> None:
        squares[i][0] += (result.double() - wanted).square().sum().item()
        squares[i][1] += wanted.square().sum().item()

    for start in range(0, len(inputs[0]), ROWS_PER_CHUNK):
        rows = slice(start, start + ROWS_PER_CHUNK)
        part = [(tensor[rows] if tensor.dim() == 2 else tensor).double() for tensor in inputs]
        for i, wanted in enumerate(_as_sequence(prepare(exact, part, direction)())):
            if i in sums:
                sums[i] += wanted
            else:
                add(i, results[i][rows], wanted)
    for i, wanted in sums.items():
        add(i, results[i], wanted)
    return [math.sqrt(error / max(whole, 1e-300)) for error, whole in squares]


def is_accurate(
    errors: Sequence[float], reference: Sequence[float], dtype: torch.dtype, limit: float = ERROR_RATIO_LIMIT
) -> bool:
    """Whether every error is at most `limit` times that of the reference. NaN is not.

    Rounding once costs about a quarter of the dtype's eps, so a smaller reference error counts as that much.
    """
    least = max(torch.finfo(dtype).eps / 4, SUMMATION_ORDER_ERROR)
    return all(error <= limit * max(theirs, least) for error, theirs in zip(errors, reference, strict=True))


def _as_sequence(results: Tensor | Sequence[Tensor]) -> Sequence[Tensor]:
    return (results,) if isinstance(results, Tensor) else results
