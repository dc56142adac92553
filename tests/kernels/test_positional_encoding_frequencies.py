"""The rotary embedding with frequencies given instead of a base."""

import math

import pytest
import torch
from torch.testing import assert_close

from blocklab.positional_encoding import rotary_embedding
from blocklab.rope_scaling import rotary_frequencies
from tolerance import TOLERANCE

DOUBLE = torch.float64
each_pairing = pytest.mark.parametrize("pairing", ["adjacent", "half"])
each_dtype = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
x, at = torch.ones(2, 3, 5, 4), torch.arange(5)  # (N, h, L, d)


def normal(shape, rng):
    return torch.randn(shape, generator=rng, dtype=DOUBLE)


@each_pairing
@each_dtype
def test_frequencies_of_a_base_rotate_like_the_base(pairing, dtype, rng):
    x, positions = normal((2, 5, 8), rng).to(dtype), 100 * normal(5, rng)
    got = rotary_embedding(x, positions, pairing=pairing, frequencies=rotary_frequencies(8, 50.0))
    assert got.dtype == dtype
    assert torch.equal(got, rotary_embedding(x, positions, 50.0, pairing))


@each_pairing
def test_rotation_by_given_frequencies_matches_plain_python(pairing, rng):
    x, positions, frequencies = normal((7, 6), rng), normal(7, rng).tolist(), [-1.5, 0.0, 0.25]
    expected = []
    for row, position in zip(x.tolist(), positions, strict=True):
        turned = [0.0] * 6
        for i, frequency in enumerate(frequencies):
            a, b = (2 * i, 2 * i + 1) if pairing == "adjacent" else (i, i + 3)
            cosine, sine = math.cos(position * frequency), math.sin(position * frequency)
            turned[a], turned[b] = row[a] * cosine - row[b] * sine, row[a] * sine + row[b] * cosine
        expected.append(turned)
    given = torch.tensor(frequencies, dtype=DOUBLE)
    got = rotary_embedding(x, torch.tensor(positions, dtype=DOUBLE), pairing=pairing, frequencies=given)
    assert_close(got, torch.tensor(expected, dtype=DOUBLE), **TOLERANCE[DOUBLE])


def test_base_is_ignored_with_frequencies():
    frequencies = rotary_frequencies(4)
    expected = rotary_embedding(x, at)
    for base in (3.0, -1.0, None):
        assert torch.equal(rotary_embedding(x, at, base, frequencies=frequencies), expected)


@each_dtype
def test_frequencies_of_any_float_type_make_angles_in_float64(dtype):
    frequencies = torch.tensor([1.0, 2.0**-9]).to(dtype)  # exact in all types
    far = torch.tensor([131_001, 131_003])
    got = rotary_embedding(torch.ones(2, 4, dtype=DOUBLE), far, frequencies=frequencies)
    expected = rotary_embedding(torch.ones(2, 4, dtype=DOUBLE), far, frequencies=frequencies.double())
    assert torch.equal(got, expected)
    assert got[1, 0].item() == pytest.approx(math.cos(131_003) - math.sin(131_003), abs=1e-10)


@each_pairing
def test_derivatives_reach_x_positions_and_frequencies(pairing, rng):
    inputs = [normal(shape, rng).requires_grad_() for shape in ((2, 3, 4), (3,), (2,))]

    def function(x, positions, frequencies):
        return rotary_embedding(x, positions, pairing=pairing, frequencies=frequencies)

    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


@each_pairing
@pytest.mark.exhaustive
def test_compiles_without_graph_breaks(pairing, rng):
    x = normal((2, 3, 4), rng)
    torch.compiler.reset()
    compiled = torch.compile(rotary_embedding, fullgraph=True, backend="aot_eager", dynamic=False)
    for base in (10000.0, 10.0):
        frequencies = rotary_frequencies(4, base)
        got = compiled(x, torch.arange(3), pairing=pairing, frequencies=frequencies)
        assert_close(got, rotary_embedding(x, torch.arange(3), base, pairing), **TOLERANCE[DOUBLE])


def test_accepts_meta_tensors():
    meta = torch.device("meta")
    x, positions, frequencies = (torch.zeros(shape, device=meta) for shape in ((2, 3, 4), (3,), (2,)))
    assert rotary_embedding(x, positions, frequencies=frequencies).shape == (2, 3, 4)


def test_no_features_have_no_frequencies():
    assert rotary_embedding(torch.zeros(3, 0), torch.arange(3), frequencies=torch.zeros(0)).shape == (3, 0)


WRONG = {
    "expected frequencies to have shape (2,), got (1,)": torch.ones(1),
    "expected frequencies to have shape (2,), got (4,)": torch.ones(4),
    "expected frequencies to have shape (2,), got (5, 2)": torch.ones(5, 2),
    "expected frequencies to have shape (2,), got ()": torch.tensor(1.0),
    "expected frequencies on cpu like x, got it on meta": torch.ones(2, device="meta"),
}


@pytest.mark.parametrize("message", WRONG)
def test_frequencies_of_a_wrong_shape_or_device_are_rejected(message):
    with pytest.raises(ValueError) as caught:
        rotary_embedding(x, at, frequencies=WRONG[message])
    assert f"rotary_embedding: {message}" in str(caught.value)
