"""Rotary positions beyond the length that a model was trained on: four rules that slow its pairs of features down.

Each returns the frequencies that `rotary_embedding` takes instead of a base, (d/2,) in float64. The factor is the new
length divided by the trained one. A pair that makes a full turn within the trained length has met every angle; a slower
one would meet new angles, so the slow pairs have to be slowed down. The rules differ in what they do to the fast ones.
"""

import math

import torch
from torch import Tensor

from blocklab._validation import check_integer, check_number, check_range
from blocklab.positional_encoding import FARTHEST, pair_frequencies


def rotary_frequencies(d: int, base: float = 10000.0) -> Tensor:
    """How far each pair of features turns from one position to the next, as the model was trained.

        w_i = base**(-2i / d),   0 <= i < d/2

    d: the width that is rotated, of a head or of a part of it.
    Raises ValueError for an odd d, one below 1 or above 2**27 and a base that is not above 0, TypeError for anything
    but an integer and a number. Source: Su et al. 2021, arXiv:2104.09864

    >>> rotary_frequencies(4)
    tensor([1.0000, 0.0100], dtype=torch.float64)
    """
    return pair_frequencies("rotary_frequencies", "d", d, base)


def position_interpolation(d: int, base: float, factor: float) -> Tensor:
    """Slow all pairs alike, which is the same as dividing every position by the factor.

        w'_i = w_i / factor

    Neighbouring tokens also come closer together than the model has ever seen them.
    Raises the errors of `rotary_frequencies`, and ValueError for a factor that is below 1 or not finite.
    Source: Chen et al. 2023, arXiv:2306.15595; huggingface/transformers, src/transformers/modeling_rope_utils.py

    >>> position_interpolation(4, 10000.0, factor=2.0)
    tensor([0.5000, 0.0050], dtype=torch.float64)
    """
    factor = _check_factor("position_interpolation", factor)
    return pair_frequencies("position_interpolation", "d", d, base) / factor


def ntk_aware(d: int, base: float, factor: float) -> Tensor:
    """Slow the pairs down with a larger base: the first not at all, the last by the factor, the others in between.

        w'_i = (base * factor**(d / (d - 2)))**(-2i / d) = w_i / factor**(2i / (d - 2))

    Computed in the second form, in which no power overflows.
    Raises the errors of `position_interpolation`, and ValueError for d = 2, whose only pair is both first and last.
    Source: huggingface/transformers, src/transformers/modeling_rope_utils.py

    >>> ntk_aware(4, 10000.0, factor=2.0)
    tensor([1.0000, 0.0050], dtype=torch.float64)
    """
    factor = _check_factor("ntk_aware", factor)
    frequencies = pair_frequencies("ntk_aware", "d", d, base)
    pairs = len(frequencies)
    if pairs == 1:
        raise ValueError("ntk_aware: expected d to be at least 4, because it divides by d - 2, got 2")
    return frequencies / factor ** (torch.arange(pairs, dtype=torch.float64) / (pairs - 1))


def yarn(d: int, base: float, factor: float, length: int, beta_fast: float = 32.0, beta_slow: float = 1.0) -> Tensor:
    """Keep the pairs that turn often within the trained length, slow those that turn rarely, with a ramp in between.

        w'_i = (1 - r_i) w_i + r_i w_i / factor,   r_i = (i - first) / (last - first), cut to [0, 1]
        first = floor(pair(beta_fast)),   last = ceil(pair(beta_slow)),   both cut to [0, d - 1]
        pair(turns) = d ln(length / (2 pi turns)) / (2 ln base)

    pair(turns): the index of the pair that would turn so often. cos and sin are then multiplied by `yarn_temperature`.
    As in the published code, the ramp is linear in i, not in the number of turns.
    Raises the errors of `position_interpolation`, and ValueError for a base that is not above 1, a length outside
    [1, 2**31] and anything but finite betas with beta_fast > beta_slow > 0.
    Source: Peng et al. 2023, arXiv:2309.00071; jquesnelle/yarn, scaled_rope/LlamaYaRNScaledRotaryEmbedding.py

    >>> yarn(4, 10000.0, factor=2.0, length=64)
    tensor([1.0000, 0.0050], dtype=torch.float64)
    """
    factor = _check_factor("yarn", factor)
    base = check_number("yarn", "base", base)
    if not base > 1:
        raise ValueError(f"yarn: expected base to be above 1, because it divides by ln base, got {base}")
    length = check_integer("yarn", "length", length, 1, FARTHEST)
    slow, fast = _check_rising("yarn", beta_slow=beta_slow, beta_fast=beta_fast)
    if slow == 0:
        raise ValueError(f"yarn: expected beta_slow to be above 0, got {slow}")
    frequencies = pair_frequencies("yarn", "d", d, base)
    d = 2 * len(frequencies)

    def pair(turns: float) -> float:
        return d * (math.log(length / (2 * math.pi)) - math.log(turns)) / (2 * math.log(base))

    first, last = (min(max(end, 0), d - 1) for end in (math.floor(pair(fast)), math.ceil(pair(slow))))
    ramp = (torch.arange(d // 2, dtype=torch.float64) - first) / max(last - first, 1)  # a step if first == last
    return torch.lerp(frequencies, frequencies / factor, ramp.clamp(0, 1))


def yarn_temperature(factor: float) -> float:
    """The factor by which YaRN multiplies cos and sin, and so queries and keys; a score grows by its square.

        0.1 ln(factor) + 1

    Raises ValueError for a factor that is below 1 or not finite, TypeError for anything but a number.
    Source: Peng et al. 2023, arXiv:2309.00071; jquesnelle/yarn, `get_mscale`

    >>> yarn_temperature(1.0)
    1.0
    """
    return 0.1 * math.log(_check_factor("yarn_temperature", factor)) + 1


def llama3_scaling(
    d: int, base: float, factor: float = 8.0, length: int = 8192, low: float = 1.0, high: float = 4.0
) -> Tensor:
    """Slow the pairs that turn less than `low` times in the trained length, keep those above `high`, ramp in between.

        w'_i = (1 - t_i) w_i / factor + t_i w_i,   t_i = (length w_i / (2 pi) - low) / (high - low), cut to [0, 1]

    Unlike in `yarn`, the ramp is linear in the number of turns. The defaults are those of Llama 3.1; Llama 3.2 has the
    factor 32.
    Raises the errors of `position_interpolation`, and ValueError for a length outside [1, 2**31] and for anything but
    finite 0 <= low < high. Source: meta-llama/llama-models, models/llama3/reference_impl/model.py, `apply_scaling`

    >>> llama3_scaling(4, 500000.0)
    tensor([1.0000e+00, 5.2485e-04], dtype=torch.float64)
    """
    factor = _check_factor("llama3_scaling", factor)
    length = check_integer("llama3_scaling", "length", length, 1, FARTHEST)
    low, high = _check_rising("llama3_scaling", low=low, high=high)
    frequencies = pair_frequencies("llama3_scaling", "d", d, base)
    turns = length * frequencies / (2 * math.pi)
    return torch.lerp(frequencies / factor, frequencies, ((turns - low) / (high - low)).clamp(0, 1))


def _check_factor(function: str, factor: float) -> float:
    number = check_range(function, "factor", factor, 1)
    if number == math.inf:
        raise ValueError(f"{function}: expected factor to be finite, got {number}")
    return number


def _check_rising(function: str, **ends: float) -> list[float]:
    """Two finite numbers of turns from 0 on, the second larger."""
    low, high = ends
    least, most = numbers = [check_range(function, name, end, 0) for name, end in ends.items()]
    if not least < most < math.inf:
        got = f"{low} {least} and {high} {most}"
        raise ValueError(f"{function}: expected {high} to be finite and above {low}, got {got}")
    return numbers
