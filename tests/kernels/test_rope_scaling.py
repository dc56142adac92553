"""The four scaling rules: recorded numbers, what each rule keeps, and their formulas in plain Python."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab.positional_encoding import rotary_embedding
from blocklab.rope_scaling import (
    llama3_scaling,
    ntk_aware,
    position_interpolation,
    rotary_frequencies,
    yarn,
    yarn_temperature,
)
from tolerance import TOLERANCE

DOUBLE = torch.float64
CLOSE = TOLERANCE[DOUBLE]
SIX_DIGITS = {"rtol": 1e-6, "atol": 0}

RULES = {  # d = 8, base 10000; by rule the frequencies, and the score of (16, 0) and of (3, 0)
    "none": (lambda: rotary_frequencies(8), [1, 0.1, 0.01, 0.001], -0.719832, -0.890667),
    "position interpolation": (
        lambda: position_interpolation(8, 10000.0, 4),
        [0.25, 0.025, 0.0025, 0.00025],
        -0.052755,
        -0.377884,
    ),
    "NTK-aware": (lambda: ntk_aware(8, 10000.0, 4), [1, 0.0629961, 0.00396850, 0.00025], -0.788787, -0.796793),
    "YaRN, 16": (lambda: yarn(8, 10000.0, 4, 16), [1, 0.025, 0.0025, 0.00025], -0.585540, -0.705813),
    "Llama 3.1, 16": (
        lambda: llama3_scaling(8, 10000.0, 4, 16),
        [0.636620, 0.025, 0.0025, 0.00025],
        -0.141192,
        -1.081747,
    ),
    "YaRN, 4096": (lambda: yarn(8, 10000.0, 4, 4096), [1, 0.1, 0.00625, 0.00025], None, None),
}


@pytest.mark.parametrize("name", RULES)
def test_frequencies_and_scores_match_recorded_numbers(name):
    rule, expected, far, near = RULES[name]
    frequencies = rule()
    assert frequencies.dtype == DOUBLE
    assert_close(frequencies, torch.tensor(expected, dtype=DOUBLE), **SIX_DIGITS)
    query, key = (f(torch.arange(8, dtype=DOUBLE))[None] for f in (torch.sin, torch.cos))
    for m, score in ((16, far), (3, near)):
        if score is not None:
            got = rotary_embedding(query, torch.tensor([m]), frequencies=frequencies) @ key.T
            assert got.item() == pytest.approx(score, abs=6e-7)


def test_the_larger_base_of_ntk_aware():
    larger = 10000 * 4 ** (8 / 6)
    assert larger == pytest.approx(63496.042079, abs=6e-7)
    assert_close(ntk_aware(8, 10000.0, 4), rotary_frequencies(8, larger), **CLOSE)


def test_yarn_temperature_matches_the_formula():
    assert yarn_temperature(1) == 1
    assert yarn_temperature(4) == pytest.approx(1.138629, abs=6e-7)
    assert yarn_temperature(math.e**5) == pytest.approx(1.5)


def ratios(ruled, d, base):
    return ruled / rotary_frequencies(d, base)


def test_yarn_matches_llama_2():
    # the pairs 0 to 20 are kept, 46 to 63 divided, and the ramp between is even in the pair's number
    ratio = ratios(yarn(128, 10000.0, 4.0, 4096), 128, 10000.0)
    expected = [1 - 0.75 * min(max((i - 20) / 26, 0), 1) for i in range(64)]
    assert_close(ratio, torch.tensor(expected, dtype=DOUBLE), **CLOSE)


def test_llama3_scaling_matches_llama_3_1():
    ratio = ratios(llama3_scaling(128, 500000.0), 128, 500000.0)
    assert [(ratio == 1).sum().item(), (ratio == 0.125).sum().item()] == [29, 29]
    assert ((ratio < 1) & (ratio > 0.125)).nonzero().flatten().tolist() == [29, 30, 31, 32, 33, 34]
    expected = torch.tensor([1, 0.828168, 0.493507, 0.190211, 0.125], dtype=DOUBLE)
    assert_close(ratio[[28, 29, 31, 34, 35]], expected, rtol=0, atol=6e-7)


def test_a_ramp_over_turns_is_not_the_ramp_of_published_yarn():
    over_turns = llama3_scaling(8, 10000.0, 4, 4096, low=1, high=32)
    assert_close(over_turns, torch.tensor([1, 0.1, 0.00383524, 0.00025], dtype=DOUBLE), rtol=2e-6, atol=0)
    assert not torch.allclose(yarn(8, 10000.0, 4, 4096), over_turns)


# The formulas in plain Python


def interpolated_by_hand(d, base, factor):
    return [base ** (-2 * i / d) / factor for i in range(d // 2)]


def ntk_by_hand(d, base, factor):
    larger = base * factor ** (d / (d - 2))
    return [larger ** (-2 * i / d) for i in range(d // 2)]


def yarn_by_hand(d, base, factor, length, beta_fast=32.0, beta_slow=1.0):
    def pair(turns):
        return d * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    first = min(max(math.floor(pair(beta_fast)), 0), d - 1)
    last = min(max(math.ceil(pair(beta_slow)), 0), d - 1)
    out = []
    for i in range(d // 2):
        ramp = (1.0 if i > first else 0.0) if first == last else min(max((i - first) / (last - first), 0), 1)
        w = base ** (-2 * i / d)
        out.append((1 - ramp) * w + ramp * w / factor)
    return out


def llama3_by_hand(d, base, factor, length, low=1.0, high=4.0):
    out = []
    for i in range(d // 2):
        w = base ** (-2 * i / d)
        wavelength = 2 * math.pi / w
        if wavelength < length / high:
            out.append(w)
        elif wavelength > length / low:
            out.append(w / factor)
        else:
            share = (length / wavelength - low) / (high - low)
            out.append((1 - share) * w / factor + share * w)
    return out


widths, bases, factors = st.integers(2, 40).map(lambda pairs: 2 * pairs), st.floats(1.5, 1e7), st.floats(1, 100)
lengths = st.integers(1, 200_000)


def same(got, expected):
    assert_close(got, torch.tensor(expected, dtype=DOUBLE), **CLOSE)
    assert_close(got.log(), torch.tensor(expected, dtype=DOUBLE).log(), rtol=0, atol=1e-11)  # of the slow ones, too


@given(widths, bases, factors)
def test_interpolation_and_ntk_match_plain_python(d, base, factor):
    same(position_interpolation(d, base, factor), interpolated_by_hand(d, base, factor))
    same(ntk_aware(d, base, factor), ntk_by_hand(d, base, factor))


@given(widths, bases, factors, lengths, st.floats(1.5, 64), st.floats(0.1, 1.4))
def test_yarn_matches_plain_python(d, base, factor, length, fast, slow):
    same(yarn(d, base, factor, length), yarn_by_hand(d, base, factor, length))
    same(yarn(d, base, factor, length, fast, slow), yarn_by_hand(d, base, factor, length, fast, slow))


@given(widths, bases, factors, lengths, st.floats(0.1, 3), st.floats(3.5, 64))
def test_llama3_scaling_matches_plain_python(d, base, factor, length, low, high):
    same(llama3_scaling(d, base, factor, length), llama3_by_hand(d, base, factor, length))
    same(llama3_scaling(d, base, factor, length, low, high), llama3_by_hand(d, base, factor, length, low, high))


# Laws

ALL = {
    "position interpolation": position_interpolation,
    "NTK-aware": ntk_aware,
    "YaRN": lambda d, base, factor: yarn(d, base, factor, 4096),
    "Llama 3.1": lambda d, base, factor: llama3_scaling(d, base, factor, 4096),
}
each_rule = pytest.mark.parametrize("rule", ALL.values(), ids=ALL)


@each_rule
@given(widths, bases)
def test_factor_1_changes_nothing(rule, d, base):
    assert torch.equal(rule(d, base, 1), rotary_frequencies(d, base))


@each_rule
@given(widths, bases, factors)
def test_no_pair_is_slowed_by_more_than_the_factor(rule, d, base, factor):
    ratio = ratios(rule(d, base, factor), d, base)
    assert ratio.max() <= 1 + 1e-12
    assert ratio.min() >= (1 - 1e-12) / factor
    assert (ratio.diff() <= 1e-12).all()  # the slower a pair, the more it is slowed


@given(widths, bases, factors)
def test_ntk_aware_keeps_the_first_pair_and_slows_the_last_by_the_factor(d, base, factor):
    trained, longer = rotary_frequencies(d, base), ntk_aware(d, base, factor)
    assert longer[0] == trained[0]
    assert_close(longer[-1], trained[-1] / factor, rtol=1e-15, atol=0)


@pytest.mark.parametrize("pairing", ["adjacent", "half"])
def test_position_interpolation_is_a_division_of_positions(pairing, rng):
    x, positions = torch.randn(3, 7, 6, generator=rng, dtype=DOUBLE), torch.arange(7)
    got = rotary_embedding(x, positions, pairing=pairing, frequencies=position_interpolation(6, 50.0, 4))
    assert_close(got, rotary_embedding(x, positions / 4, 50.0, pairing), **CLOSE)


@pytest.mark.parametrize(("length", "kept"), [(1, 1), (6, 1), (2**31, 4)])
def test_yarn_where_both_ends_of_the_ramp_meet(length, kept):
    # too short for a full turn of any pair, or long enough for 32 turns of all: a step, where a ramp would divide by 0
    got, trained = yarn(8, 20.0, 4.0, length), rotary_frequencies(8, 20.0)
    assert_close(got[:kept], trained[:kept], **CLOSE)
    assert_close(got[kept:], trained[kept:] / 4, **CLOSE)


@pytest.mark.parametrize("integer", [int, torch.tensor], ids=["int", "tensor"])
def test_widths_can_be_numpy_or_tensor_integers(integer):
    assert torch.equal(yarn(integer(8), 10000, 4, integer(16)), yarn(8, 10000.0, 4.0, 16))
    assert torch.equal(ntk_aware(integer(8), 10000, 4), ntk_aware(8, 10000.0, 4.0))


COMPILED = {
    "rotary_frequencies": lambda x, factor: x * rotary_frequencies(8, 100.0 * factor),
    "position_interpolation": lambda x, factor: x * position_interpolation(8, 100.0, factor),
    "ntk_aware": lambda x, factor: x * ntk_aware(8, 100.0, factor),
    "yarn": lambda x, factor: x * yarn(8, 100.0, factor, 64) * yarn_temperature(factor),
    "llama3_scaling": lambda x, factor: x * llama3_scaling(8, 100.0, factor, 64),
}


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.exhaustive
def test_compiles_without_graph_breaks(name, rng):
    x = torch.randn(3, 4, generator=rng, dtype=DOUBLE)
    torch.compiler.reset()
    compiled = torch.compile(COMPILED[name], fullgraph=True, backend="aot_eager", dynamic=False)
    for factor in (4.0, 2.0):
        assert_close(compiled(x, factor), COMPILED[name](x, factor), **CLOSE)
