"""The rotary embedding: both pairings, every dtype, every shape of positions, and its invariants."""

import cmath

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab.positional_encoding import rotary_embedding
from tolerance import TOLERANCE

DOUBLE = torch.float64
PAIRINGS = ("adjacent", "half")
each_pairing = pytest.mark.parametrize("pairing", PAIRINGS)
each_dtype = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)


def normal(shape, rng):
    return torch.randn(shape, generator=rng, dtype=DOUBLE)


def by_hand(x, positions, base=10000.0, pairing="adjacent"):
    """Every pair as one complex number, times exp(i angle), in Python."""
    *leading, L, d = x.shape
    places = positions.expand(*leading, L).reshape(-1).tolist()
    out = []
    for row, position in zip(x.reshape(-1, d).tolist(), places, strict=True):
        turned = [0.0] * d
        for i in range(d // 2):
            a, b = (2 * i, 2 * i + 1) if pairing == "adjacent" else (i, i + d // 2)
            z = complex(row[a], row[b]) * cmath.exp(1j * position * base ** (-2 * i / d))
            turned[a], turned[b] = z.real, z.imag
        out.append(turned)
    return torch.tensor(out, dtype=DOUBLE).reshape(x.shape)


@st.composite
def cases(draw):
    """x, positions, base and pairing; the axes have different lengths, so that none can stand for another."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True))
    rng = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    x = 3 * normal([*shape, 2 * draw(st.integers(1, 4))], rng)
    x = x.transpose(0, -1).contiguous().transpose(0, -1) if draw(st.booleans()) else x
    leading = [draw(st.sampled_from([1, n])) for n in shape[:-1]] if draw(st.booleans()) else []
    positions = 100 * normal([*leading, shape[-1]], rng)
    if draw(st.booleans()):
        positions = positions.to(draw(st.sampled_from([torch.int64, torch.int32, torch.int16])))
    dtype, pairing = draw(st.sampled_from(list(TOLERANCE))), draw(st.sampled_from(PAIRINGS))
    return x.to(dtype), positions, draw(st.floats(1, 1e6)), pairing


@given(cases())
def test_is_a_product_of_complex_numbers_rounded_once(case):
    x, positions, base, pairing = case
    before = x.clone()
    y = rotary_embedding(x, positions, base, pairing)
    assert y.dtype == x.dtype
    assert y.shape == x.shape
    assert_close(y.double(), by_hand(x.double(), positions.double(), base, pairing), **TOLERANCE[x.dtype])
    assert torch.equal(x, before)


@each_dtype
@each_pairing
def test_far_positions_are_accurate(dtype, pairing, rng):
    x = normal((50, 8), rng).to(dtype)
    positions = torch.arange(131_000, 131_050)
    expected = by_hand(x.double(), positions, pairing=pairing)
    close = TOLERANCE[dtype] if dtype != DOUBLE else {"rtol": 0, "atol": 1e-10}  # 1.3e5 rad in float64
    assert_close(rotary_embedding(x, positions, pairing=pairing).double(), expected, **close)


@each_pairing
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_a_half_type_is_rounded_once_over_many_numbers(pairing, dtype, rng):
    x = normal((20, 30, 64), rng).to(dtype)
    y = rotary_embedding(x, torch.arange(30), pairing=pairing)
    assert_close(y.double(), by_hand(x.double(), torch.arange(30), pairing=pairing), **TOLERANCE[dtype])


def test_scores_match_recorded_numbers():
    query, key = (f(torch.arange(8, dtype=DOUBLE))[None] for f in (torch.sin, torch.cos))
    expected = {
        (0, 0): 0.3862255034,
        (0, 3): -0.1002978493,
        (5, 8): -0.1002978493,
        (3, 0): -0.8906674968,
        (8, 5): -0.8906674968,
    }
    for (m, n), score in expected.items():
        got = rotary_embedding(query, torch.tensor([m])) @ rotary_embedding(key, torch.tensor([float(n)])).T
        assert got.item() == pytest.approx(score, abs=6e-11)


def test_a_quarter_turn_by_hand():
    x = torch.tensor([[3.0, 4.0]], dtype=DOUBLE)
    quarter = torch.tensor([torch.pi / 2], dtype=DOUBLE)
    assert_close(rotary_embedding(x, quarter), torch.tensor([[-4.0, 3.0]], dtype=DOUBLE))
    # base 1: every pair turns alike
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]], dtype=DOUBLE)
    assert_close(rotary_embedding(x, quarter, 1), torch.tensor([[-2.0, 1.0, -4.0, 3.0]], dtype=DOUBLE))
    half = rotary_embedding(x, quarter, 1.0, "half")
    assert_close(half, torch.tensor([[-3.0, -4.0, 1.0, 2.0]], dtype=DOUBLE))


@each_pairing
@given(st.integers(-300, 300), st.integers(-300, 300), st.integers(-300, 300))
def test_a_score_depends_only_on_the_distance_and_norms_are_kept(pairing, m, n, shift):
    rng = torch.Generator().manual_seed(0)
    query, key = normal((1, 6), rng), normal((1, 6), rng)

    def at(x, position):
        return rotary_embedding(x, torch.tensor([position]), 50.0, pairing)

    score = at(query, m) @ at(key, n).T
    assert_close(at(query, m + shift) @ at(key, n + shift).T, score, rtol=0, atol=1e-11)
    assert_close(query @ at(key, n - m).T, score, rtol=0, atol=1e-11)
    assert_close(at(query, m).norm(), query.norm(), **TOLERANCE[DOUBLE])
    assert_close(at(at(query, m), -m), query, rtol=0, atol=1e-11)


def test_half_is_adjacent_with_permuted_features(rng):
    x, positions = normal((2, 5, 8), rng), torch.arange(5)
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])  # the first of every pair, then the second
    adjacent, half = rotary_embedding(x, positions), rotary_embedding(x[..., order], positions, pairing="half")
    assert_close(adjacent[..., order], half, **TOLERANCE[DOUBLE])
    assert not torch.allclose(adjacent, rotary_embedding(x, positions, pairing="half"))


@each_pairing
def test_position_0_does_not_rotate(pairing, rng):
    x = normal((3, 6), rng)
    assert torch.equal(rotary_embedding(x, torch.zeros(3), pairing=pairing), x)


def test_positions_may_differ_between_sequences(rng):
    x = normal((2, 3, 5, 4), rng)  # (N, heads, L, d)
    positions = torch.randint(0, 50, (2, 1, 5), generator=rng)
    got = rotary_embedding(x, positions)
    for n in range(2):
        assert torch.equal(got[n], rotary_embedding(x[n], positions[n, 0]))


@each_pairing
@pytest.mark.parametrize("shape", [(0, 4), (2, 0, 4), (3, 0), (0, 5, 6)], ids=str)
def test_empty_stays_empty(pairing, shape):
    assert rotary_embedding(torch.zeros(shape), torch.arange(shape[-2]), pairing=pairing).shape == shape


@each_pairing
def test_first_and_second_derivative(pairing, rng):
    x, positions = normal((2, 3, 4), rng).requires_grad_(), normal(3, rng).requires_grad_()

    def function(x, positions):
        return rotary_embedding(x, positions, 20.0, pairing)

    assert torch.autograd.gradcheck(function, (x, positions))
    assert torch.autograd.gradgradcheck(function, (x, positions))
    zeros = torch.zeros(2, 3, 4, dtype=DOUBLE, requires_grad=True)
    assert torch.autograd.gradgradcheck(function, (zeros, positions))


@each_pairing
@pytest.mark.parametrize("dtype", [torch.bfloat16, DOUBLE], ids=str)
@pytest.mark.exhaustive
def test_compiles_without_graph_breaks(pairing, dtype, rng):
    x = normal((2, 3, 4), rng).to(dtype)
    torch.compiler.reset()  # forget the other cases, of which it counts the same code's
    compiled = torch.compile(rotary_embedding, fullgraph=True, backend="aot_eager", dynamic=False)
    for base in (10000.0, 10.0):
        got = compiled(x, torch.arange(3), base, pairing)
        assert_close(got, rotary_embedding(x, torch.arange(3), base, pairing), **TOLERANCE[dtype])


def test_accepts_meta_tensors():
    y = rotary_embedding(torch.zeros(2, 3, 4, device="meta"), torch.zeros(3, device="meta"))
    assert y.shape == (2, 3, 4)
