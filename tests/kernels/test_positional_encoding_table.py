"""The sinusoidal table, its shift matrix and its wavelengths."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab.positional_encoding import rotary_embedding, shift_matrix, sinusoidal_encoding, wavelengths
from tolerance import TOLERANCE

TEN_DIGITS = {"rtol": 0, "atol": 6e-11}
DOUBLE = torch.float64


def table(length, d_model, base=10000.0):
    return sinusoidal_encoding(length, d_model, base, dtype=DOUBLE)


def number(position, column, d_model, base):
    """One entry of the table, in Python floats."""
    angle = position / base ** (2 * (column // 2) / d_model)
    return math.cos(angle) if column % 2 else math.sin(angle)


def test_small_table_matches_recorded_numbers():
    expected = [
        [0, 1, 0, 1],
        [0.84147098, 0.54030231, 0.00999983, 0.99995],
        [0.90929743, -0.41614684, 0.01999867, 0.99980001],
    ]
    assert_close(table(3, 4), torch.tensor(expected, dtype=DOUBLE), rtol=0, atol=6e-9)


def test_large_table_matches_recorded_numbers():
    encoding = table(512, 64)
    row = torch.tensor([-0.5063656411, 0.8623188723, -0.3975110223, 0.9175973993], dtype=DOUBLE)
    assert encoding.sum().item() == pytest.approx(8559.75481375, abs=6e-9)
    assert_close(encoding[100, :4], row, **TEN_DIGITS)
    assert_close(encoding.norm(dim=1), torch.full((512,), 5.656854249492381, dtype=DOUBLE), **TEN_DIGITS)
    products = (encoding @ encoding[0])[[0, 1, 2, 5, 10, 20, 50, 100]]
    expected = [32.0, 30.916832, 28.303862, 23.503971, 21.051629, 18.879144, 15.673797, 17.874669]
    assert_close(products, torch.tensor(expected, dtype=DOUBLE), rtol=0, atol=6e-7)


@given(st.integers(0, 9), st.integers(1, 7), st.floats(0.5, 1e6))
def test_table_matches_the_formula(length, pairs, base):
    expected = [[number(k, c, 2 * pairs, base) for c in range(2 * pairs)] for k in range(length)]
    expected = torch.tensor(expected, dtype=DOUBLE).reshape(length, 2 * pairs)
    assert_close(table(length, 2 * pairs, base), expected, **TOLERANCE[DOUBLE])


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_table_is_float32_by_default_and_rounded_once(dtype):
    encoding = sinusoidal_encoding(300, 16, dtype=dtype)
    assert encoding.dtype == dtype
    assert torch.equal(encoding, table(300, 16).to(dtype))
    assert sinusoidal_encoding(3, 4).dtype == shift_matrix(3, 4).dtype == wavelengths(4).dtype == torch.float32
    assert torch.equal(shift_matrix(0.3, 6, dtype=dtype), shift_matrix(0.3, 6, dtype=DOUBLE).to(dtype))
    assert torch.equal(wavelengths(6, dtype=dtype), wavelengths(6, dtype=DOUBLE).to(dtype))


def test_far_positions_are_accurate_in_float32():
    # angles in float32 are off by 4e-4 here
    encoding = sinusoidal_encoding(5000, 512).double()
    exact = torch.tensor([[number(k, c, 512, 1e4) for c in (0, 1, 6, 7, 510)] for k in (4321, 4999)], dtype=DOUBLE)
    assert_close(encoding[[4321, 4999]][:, [0, 1, 6, 7, 510]], exact, rtol=6e-8, atol=1e-9)


@given(st.integers(1, 40), st.integers(1, 9), st.floats(1.0, 1e5))
def test_rows_have_equal_norms_and_products_depend_only_on_distance(length, pairs, base):
    encoding = table(length, 2 * pairs, base)
    products = encoding @ encoding.T
    expected = sum(math.cos((length - 1) / base ** (i / pairs)) for i in range(pairs))
    assert products[0, -1].item() == pytest.approx(expected, abs=1e-11)
    for distance in range(length):
        along = products.diagonal(distance)
        assert_close(along, along[:1].expand_as(along), rtol=0, atol=1e-11)
    assert_close(products.diagonal(), torch.full((length,), float(pairs), dtype=DOUBLE), rtol=0, atol=1e-11)


def test_products_do_not_fall_steadily_with_distance():
    products = table(30, 64) @ table(30, 64)[0]
    rises = [k for k in range(1, 30) if products[k] > products[k - 1]]
    assert rises == [6, 11, 12, 17, 18, 23, 24, 25]


@pytest.mark.parametrize("offset", [0, 1, 7, 100, -7, 2.5], ids=str)
@pytest.mark.parametrize("base", [10000.0, 100.0], ids=str)
def test_the_shift_matrix_shifts_every_row(offset, base):
    encoding, shift = table(300, 6, base), shift_matrix(offset, 6, base, dtype=DOUBLE)
    shifted = [[number(k + offset, c, 6, base) for c in range(6)] for k in range(300)]
    assert_close(encoding @ shift.T, torch.tensor(shifted, dtype=DOUBLE), rtol=0, atol=1e-11)


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.integers(1, 5))
def test_the_shift_matrix_is_a_rotation(offset, other, pairs):
    shift, back = (shift_matrix(o, 2 * pairs, dtype=DOUBLE) for o in (offset, -offset))
    eye = torch.eye(2 * pairs, dtype=DOUBLE)
    assert shift.shape == (2 * pairs, 2 * pairs)
    assert_close(shift @ shift.T, eye, **TOLERANCE[DOUBLE])
    assert_close(back, shift.T, **TOLERANCE[DOUBLE])
    assert torch.linalg.det(shift).item() == pytest.approx(1)
    both = shift_matrix(offset + other, 2 * pairs, dtype=DOUBLE)
    assert_close(shift @ shift_matrix(other, 2 * pairs, dtype=DOUBLE), both, rtol=0, atol=1e-11)


def test_a_quarter_turn_by_hand():
    # (sin, cos) of 0 is (0, 1); a quarter turn on it is (1, 0)
    shift = shift_matrix(math.pi / 2, 2, dtype=DOUBLE)
    assert_close(shift, torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=DOUBLE), **TOLERANCE[DOUBLE])
    assert_close(shift @ table(1, 2)[0], torch.tensor([1.0, 0.0], dtype=DOUBLE), **TOLERANCE[DOUBLE])


def test_rotary_embedding_rotates_the_table_backwards():
    # there (sin, cos), here (cos, sin): a pair rotated by -7 positions is the row 7 positions on
    encoding = table(20, 6)
    rotated = rotary_embedding(encoding, torch.full((20,), -7))
    assert_close(rotated[:13], encoding[7:], **TOLERANCE[DOUBLE])


def test_wavelengths_match_the_formula():
    waves = wavelengths(512, dtype=DOUBLE)
    assert waves.shape == (256,)
    assert waves[0].item() == pytest.approx(2 * math.pi)
    assert round(waves[-1].item()) == 60611  # and not 10000 * 2 pi = 62832
    assert_close(waves[1:] / waves[:-1], torch.full((255,), 10000 ** (2 / 512), dtype=DOUBLE))
    assert_close(wavelengths(4, 100.0), torch.tensor([2 * math.pi, 20 * math.pi]))


def test_pair_returns_after_one_wavelength():
    for pair, wave in enumerate(wavelengths(6, dtype=DOUBLE).tolist()):
        block = shift_matrix(wave, 6, dtype=DOUBLE)[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2]
        assert_close(block, torch.eye(2, dtype=DOUBLE), **TOLERANCE[DOUBLE])


def test_no_positions_make_an_empty_table():
    assert sinusoidal_encoding(0, 6).shape == (0, 6)


def test_tables_of_different_bases_differ():
    first = table(9, 6, 100.0)
    assert not torch.allclose(table(9, 6, 50.0), first)
    assert torch.equal(table(9, 6, 100.0), first)


COMPILED = {
    "sinusoidal_encoding": lambda x, base: x * sinusoidal_encoding(5, 4, base, dtype=DOUBLE),
    "wavelengths": lambda x, base: x.sum() * wavelengths(4, base, dtype=DOUBLE),
    "shift_matrix": lambda x, base: x @ shift_matrix(3, 4, base, dtype=DOUBLE).T,
}


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.exhaustive
def test_compiles_without_graph_breaks(name, rng):
    x = torch.randn(5, 4, generator=rng, dtype=DOUBLE)
    compiled = torch.compile(COMPILED[name], fullgraph=True, backend="aot_eager", dynamic=False)
    for base in (10000.0, 10.0):
        assert_close(compiled(x, base), COMPILED[name](x, base), **TOLERANCE[DOUBLE])
