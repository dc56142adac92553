"""Error messages, and that no position broadcasts silently."""

import math

import pytest
import torch

from blocklab.positional_encoding import rotary_embedding, shift_matrix, sinusoidal_encoding, wavelengths

NAN, INF = float("nan"), float("inf")
x = torch.ones(2, 3, 5, 4)  # (N, heads, L, d)
at = torch.arange(5)

WRONG_VALUES = {
    "sinusoidal_encoding: expected length to be at least 0, got -1": lambda: sinusoidal_encoding(-1, 4),
    "sinusoidal_encoding: expected length to be between 0 and 2147483648, got 2147483649": lambda: sinusoidal_encoding(
        2**31 + 1, 4
    ),
    f"sinusoidal_encoding: expected length to be between 0 and 2147483648, got {2**70}": lambda: sinusoidal_encoding(
        2**70, 4
    ),
    "sinusoidal_encoding: expected d_model to be at least 1, got 0": lambda: sinusoidal_encoding(3, 0),
    "sinusoidal_encoding: expected d_model to be at least 1, got -4": lambda: sinusoidal_encoding(3, -4),
    f"sinusoidal_encoding: expected d_model to be between 1 and 134217728, got {2**70}": lambda: sinusoidal_encoding(
        3, 2**70
    ),
    "sinusoidal_encoding: expected d_model to be even, got 5": lambda: sinusoidal_encoding(3, 5),
    "sinusoidal_encoding: expected length x d_model to have at most 134217728 elements, got 67108865 x 2": lambda: (
        sinusoidal_encoding(2**26 + 1, 2)
    ),
    "sinusoidal_encoding: expected base to be finite and above 0, got 0.0": lambda: sinusoidal_encoding(3, 4, 0),
    "sinusoidal_encoding: expected base to be finite and above 0, got -1.5": lambda: sinusoidal_encoding(3, 4, -1.5),
    "sinusoidal_encoding: expected base to be finite and above 0, got nan": lambda: sinusoidal_encoding(3, 4, NAN),
    "sinusoidal_encoding: expected base to be finite and above 0, got inf": lambda: sinusoidal_encoding(3, 4, INF),
    "wavelengths: expected d_model to be even, got 3": lambda: wavelengths(3),
    "wavelengths: expected base to be finite and above 0, got 0.0": lambda: wavelengths(4, 0.0),
    f"shift_matrix: expected d_model x d_model to have at most 134217728 elements, got {2**20} x {2**20}": lambda: (
        shift_matrix(1, 2**20)
    ),
    "shift_matrix: expected d_model to be even, got 1": lambda: shift_matrix(2, 1),
    "shift_matrix: expected base to be finite and above 0, got -2.0": lambda: shift_matrix(2, 4, -2),
    "shift_matrix: expected offset to be between -2147483648 and 2147483648, got nan": lambda: shift_matrix(NAN, 4),
    "shift_matrix: expected offset to be between -2147483648 and 2147483648, got 2147483649.0": lambda: shift_matrix(
        2**31 + 1, 4
    ),
    "shift_matrix: expected offset to be between -2147483648 and 2147483648, got -inf": lambda: shift_matrix(-INF, 4),
    "rotary_embedding: expected x to have shape (*, L, d), got (4,)": lambda: rotary_embedding(torch.ones(4), at[:1]),
    "rotary_embedding: expected x to have shape (*, L, d), got ()": lambda: rotary_embedding(torch.tensor(1.0), at[:1]),
    "rotary_embedding: expected the last axis of x to be even, got 3": lambda: rotary_embedding(x[..., :3], at),
    "rotary_embedding: expected base to be finite and above 0, got 0.0": lambda: rotary_embedding(x, at, 0),
    "rotary_embedding: expected base to be finite and above 0, got -1.0": lambda: rotary_embedding(x, at, -1),
    "rotary_embedding: expected pairing to be 'adjacent' or 'half', got 'interleaved'": lambda: rotary_embedding(
        x, at, pairing="interleaved"
    ),
    # positions that would broadcast, or stand for another axis
    "rotary_embedding: expected positions to have shape (5,) or (2, 3, 5), got (1,)": lambda: rotary_embedding(
        x, at[:1]
    ),
    "rotary_embedding: expected positions to have shape (5,) or (2, 3, 5), got (4,)": lambda: rotary_embedding(
        x, at[:4]
    ),
    "rotary_embedding: expected positions to have shape (5,) or (2, 3, 5), got ()": lambda: rotary_embedding(x, at[0]),
    "rotary_embedding: expected positions to have shape (5,) or (2, 3, 5), got (3, 5)": lambda: rotary_embedding(
        x, at.expand(3, 5)
    ),
    "rotary_embedding: expected positions to have shape (5,) or (2, 3, 5), got (3, 3, 5)": lambda: rotary_embedding(
        x, at.expand(3, 3, 5)
    ),
    "rotary_embedding: expected positions to have shape (5,) or (2, 3, 5), got (2, 3, 1)": lambda: rotary_embedding(
        x, torch.zeros(2, 3, 1)
    ),
    "rotary_embedding: expected positions to have shape (5,), got (1, 5)": lambda: rotary_embedding(x[0, 0], at[None]),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert str(caught.value) == message


WRONG_TYPES = {
    "sinusoidal_encoding: expected length to be an integer, got float 3.0": lambda: sinusoidal_encoding(3.0, 4),
    "sinusoidal_encoding: expected d_model to be an integer, got str '4'": lambda: sinusoidal_encoding(3, "4"),
    "sinusoidal_encoding: expected base to be a number, got str '10000'": lambda: sinusoidal_encoding(3, 4, "10000"),
    "sinusoidal_encoding: expected dtype to be a floating point type, got torch.int64": lambda: sinusoidal_encoding(
        3, 4, dtype=torch.int64
    ),
    "wavelengths: expected d_model to be an integer, got float 4.0": lambda: wavelengths(4.0),
    "wavelengths: expected dtype to be a floating point type, got torch.complex64": lambda: wavelengths(
        4, dtype=torch.complex64
    ),
    "shift_matrix: expected offset to be a number, got NoneType": lambda: shift_matrix(None, 4),
    "shift_matrix: expected d_model to be an integer, got float 4.0": lambda: shift_matrix(1, 4.0),
    "shift_matrix: expected dtype to be a floating point type, got str 'double'": lambda: shift_matrix(
        1, 4, dtype="double"
    ),
    "rotary_embedding: expected x to be a tensor, got list [[1.0, 2.0]]": lambda: rotary_embedding(
        [[1.0, 2.0]], at[:1]
    ),
    "rotary_embedding: expected x to have a floating point dtype, got torch.int64": lambda: rotary_embedding(
        x.long(), at
    ),
    "rotary_embedding: expected x to have a floating point dtype, got torch.complex64": lambda: rotary_embedding(
        x.to(torch.complex64), at
    ),
    "rotary_embedding: expected positions to be a tensor, got int 5": lambda: rotary_embedding(x, 5),
    "rotary_embedding: expected positions to be a tensor, got range range(0, 5)": lambda: rotary_embedding(x, range(5)),
    "rotary_embedding: expected positions to be integers or floats, got torch.bool": lambda: rotary_embedding(
        x, at > 2
    ),
    "rotary_embedding: expected positions to be integers or floats, got torch.complex64": lambda: rotary_embedding(
        x, at.to(torch.complex64)
    ),
    "rotary_embedding: expected base to be a number, got NoneType": lambda: rotary_embedding(x, at, None),
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_type_error_messages(message):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[message]()
    assert str(caught.value) == message


FARTHEST = 2**31


def turned(position: int, frequency: float) -> list[float]:
    """(1, 1) turned by the angle of a position, in Python's own arithmetic."""
    cosine, sine = math.cos(position * frequency), math.sin(position * frequency)
    return [cosine - sine, sine + cosine]


def test_the_farthest_positions_are_accurate():
    y = rotary_embedding(torch.ones(2, 4), torch.tensor([-FARTHEST, FARTHEST]))
    wanted = [turned(position, 1.0) + turned(position, 0.01) for position in (-FARTHEST, FARTHEST)]
    torch.testing.assert_close(y, torch.tensor(wanted), rtol=0, atol=1e-6)


@pytest.mark.parametrize("offset", [-FARTHEST, FARTHEST])
def test_the_farthest_offset_is_accurate(offset):
    matrix = shift_matrix(offset, 4).double()
    for pair, frequency in ((0, 1.0), (2, 0.01)):
        cosine, sine = math.cos(offset * frequency), math.sin(offset * frequency)
        wanted = torch.tensor([[cosine, sine], [-sine, cosine]], dtype=torch.float64)
        torch.testing.assert_close(matrix[pair : pair + 2, pair : pair + 2], wanted, rtol=0, atol=1e-6)


BEYOND = {  # angles that float64 cannot reduce to one turn; the absolute value of the least int64 is negative
    "a position": lambda: rotary_embedding(x, at + 2**32),
    "the least integer": lambda: rotary_embedding(x, torch.where(at == 3, torch.iinfo(torch.int64).min, at)),
    "a position that is no number": lambda: rotary_embedding(x, at * NAN),
    "an infinite position": lambda: rotary_embedding(x, torch.full((5,), INF)),
    "a small base": lambda: rotary_embedding(x, at, base=1e-20),
    "a frequency": lambda: rotary_embedding(x, at, frequencies=torch.tensor([1.0, 1e10])),
    "a table with a small base": lambda: sinusoidal_encoding(3, 4, base=1e-20),
    "a shift with a small base": lambda: shift_matrix(2, 4, base=1e-20),
}


@pytest.mark.parametrize("what", BEYOND)
def test_angles_beyond_float64_precision_are_rejected(what):
    with pytest.raises(ValueError, match=r"^\w+: expected angles \(position \* frequency\) of at most 2\*\*31, got"):
        BEYOND[what]()


@pytest.mark.parametrize(
    "function", [sinusoidal_encoding, shift_matrix, rotary_embedding], ids=lambda function: function.__name__
)
def test_error_of_a_large_angle_names_the_function(function):
    first = torch.ones(5, 4) if function is rotary_embedding else 2
    second = torch.tensor([0, 0, 0, 0, 1]) if function is rotary_embedding else 4
    with pytest.raises(ValueError) as caught:
        function(first, second, base=1e-20)
    angle = "2e+10" if function is shift_matrix else "1e+10"
    expected = "expected angles (position * frequency) of at most 2**31"
    assert str(caught.value) == f"{function.__name__}: {expected}, got {angle}"
