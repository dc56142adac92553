"""Rotary positions beyond the length that a model was trained on: four rules that slow its pairs of features down.

Each gives the frequencies that `rotary_embedding` takes in place of a base. The factor is the new length over the
trained one. A pair that turns fully within the trained length has met every angle there is; one that does not would
meet new ones, so it is the slow pairs that have to be slowed. The rules differ in what they do to the fast ones.
"""

import math

import torch
from torch import Tensor

from blocklab.arguments import want_integer, want_number, want_range
from blocklab.positional_encoding import FARTHEST, pair_frequencies


def rotary_frequencies(d: int, base: float = 10000.0) -> Tensor:
    """How far each pair of features turns from one position to the next, as the model was trained.

        w_i = base**(-2i / d),   0 <= i < d/2

    d: the width that is rotated, of a head or of a part of it. Result: (d/2,), in float64, as that of all the rules.

    Raises ValueError for an odd d, one below 1 or above 2**27 and a base that is not above 0, TypeError for anything
    but an integer and a number.

    Source: Su et al. 2021, arXiv:2104.09864
    """
    return pair_frequencies("rotary_frequencies", "d", d, base)


def position_interpolation(d: int, base: float, factor: float) -> Tensor:
    """Slow all pairs alike: the same as to divide every position by the factor.

        w'_i = w_i / factor

    Result: (d/2,), in float64. Neighbours come closer, too, than the model has ever seen them.

    Raises as `rotary_frequencies`, and ValueError for a factor that is below 1 or not finite.

    Source: Chen et al. 2023, arXiv:2306.15595; huggingface/transformers, src/transformers/modeling_rope_utils.py
    """
    factor = _want_factor("position_interpolation", factor)
    return pair_frequencies("position_interpolation", "d", d, base) / factor


def ntk_aware(d: int, base: float, factor: float) -> Tensor:
    """Slow the pairs by a larger base: the first not at all, the last by the factor, the others in between.

        w'_i = (base * factor**(d / (d - 2)))**(-2i / d) = w_i / factor**(2i / (d - 2))

    Result: (d/2,), in float64. It is computed in the second form, in which no power leaves the range of a float.

    Raises as `position_interpolation`, and ValueError for a d of 2, whose only pair is both the first and the last.

    Source: huggingface/transformers, src/transformers/modeling_rope_utils.py
    """
    factor = _want_factor("ntk_aware", factor)
    frequencies = pair_frequencies("ntk_aware", "d", d, base)
    pairs = len(frequencies)
    if pairs == 1:
        raise ValueError("ntk_aware wants d to be at least 4, because it divides by d - 2, got 2")
    return frequencies / factor ** (torch.arange(pairs, dtype=torch.float64) / (pairs - 1))


def yarn(d: int, base: float, factor: float, length: int, beta_fast: float = 32.0, beta_slow: float = 1.0) -> Tensor:
    """Keep the pairs that turn often within the trained length, slow those that turn rarely, and ramp in between.

        w'_i = (1 - r_i) w_i + r_i w_i / factor,   r_i = (i - first) / (last - first), cut to [0, 1]
        first = floor(pair(beta_fast)),   last = ceil(pair(beta_slow)),   both cut to [0, d - 1]
        pair(turns) = d ln(length / (2 pi turns)) / (2 ln base)

    pair(turns): where the pair would stand that turns so often. Result: (d/2,), in float64; cos and sin are then
    multiplied by `yarn_temperature`. As published code has it, the ramp is even in i, not in the number of turns.

    Raises as `position_interpolation`, and ValueError for a base that is not above 1, a length outside [1, 2**31] and
    betas that are not finite or not beta_fast > beta_slow > 0.

    Source: Peng et al. 2023, arXiv:2309.00071; jquesnelle/yarn, scaled_rope/LlamaYaRNScaledRotaryEmbedding.py
    """
    factor = _want_factor("yarn", factor)
    base = want_number("yarn", "base", base)
    if not base > 1:
        raise ValueError(f"yarn wants base to be above 1, because it divides by ln base, got {base}")
    length = want_integer("yarn", "length", length, 1, FARTHEST)
    slow, fast = _want_rising("yarn", beta_slow=beta_slow, beta_fast=beta_fast)
    if slow == 0:
        raise ValueError(f"yarn wants beta_slow to be above 0, got {slow}")
    frequencies = pair_frequencies("yarn", "d", d, base)
    d = 2 * len(frequencies)

    def pair(turns: float) -> float:
        return d * (math.log(length / (2 * math.pi)) - math.log(turns)) / (2 * math.log(base))

    first, last = (min(max(end, 0), d - 1) for end in (math.floor(pair(fast)), math.ceil(pair(slow))))
    ramp = (torch.arange(d // 2, dtype=torch.float64) - first) / max(last - first, 1)  # a step, where they meet
    return torch.lerp(frequencies, frequencies / factor, ramp.clamp(0, 1))


def yarn_temperature(factor: float) -> float:
    """By how much YaRN stretches queries and keys, as a factor of cos and sin; a score grows by its square.

        0.1 ln(factor) + 1

    Raises ValueError for a factor that is below 1 or not finite, TypeError for anything but a number.

    Source: Peng et al. 2023, arXiv:2309.00071; jquesnelle/yarn, `get_mscale`
    """
    return 0.1 * math.log(_want_factor("yarn_temperature", factor)) + 1


def llama3_scaling(
    d: int, base: float, factor: float = 8.0, length: int = 8192, low: float = 1.0, high: float = 4.0
) -> Tensor:
    """Slow the pairs that turn less than `low` times within the trained length, keep those above `high`, ramp between.

        w'_i = (1 - t_i) w_i / factor + t_i w_i,   t_i = (length w_i / (2 pi) - low) / (high - low), cut to [0, 1]

    Result: (d/2,), in float64. Unlike `yarn`, the ramp is even in the number of turns. The defaults are those of
    Llama 3.1; Llama 3.2 has the factor 32.

    Raises as `position_interpolation`, and ValueError for a length outside [1, 2**31] and for anything but finite
    0 <= low < high.

    Source: meta-llama/llama-models, models/llama3/reference_impl/model.py, `apply_scaling`
    """
    factor = _want_factor("llama3_scaling", factor)
    length = want_integer("llama3_scaling", "length", length, 1, FARTHEST)
    low, high = _want_rising("llama3_scaling", low=low, high=high)
    frequencies = pair_frequencies("llama3_scaling", "d", d, base)
    turns = length * frequencies / (2 * math.pi)
    return torch.lerp(frequencies / factor, frequencies, ((turns - low) / (high - low)).clamp(0, 1))


def _want_factor(function: str, factor: float) -> float:
    """The factor as a float. Refuses, with a ValueError, one that is below 1 or not finite."""
    number = want_range(function, "factor", factor, 1)
    if number == math.inf:
        raise ValueError(f"{function} wants factor to be finite, got {number}")
    return number


def _want_rising(function: str, **ends: float) -> list[float]:
    """Two numbers of turns as floats. Refuses, with a ValueError, any but finite ones from 0 on, the second larger."""
    (low, _), (high, _) = ends.items()
    least, most = numbers = [want_range(function, name, end, 0) for name, end in ends.items()]
    if not least < most < math.inf:
        raise ValueError(f"{function} wants {high} to be finite and above {low}, got {low} {least} and {high} {most}")
    return numbers
