import math

import pytest

from blocklab_course.panel.numbers import short_number


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (1.0, "1"),
        (0.8351, "0.835"),
        (3162.28, "3160"),
        (999.7, "1000"),
        (1e6, "1000000"),
        (1e-6, "0.000001"),
        (-3.16e-6, "−0.00000316"),
        (5.2e7, "5.2 · 10⁷"),
        (1e-20, "10⁻²⁰"),
        (-4.1e-18, "−4.1 · 10⁻¹⁸"),
        (9.999e6, "10⁷"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ],
)
def test_short_number(number, text):
    assert short_number(number) == text


@pytest.mark.parametrize(("digits", "text"), [(1, "1000"), (2, "1300"), (5, "1293.4")])
def test_short_number_with_other_digits(digits, text):
    assert short_number(1293.42, digits) == text
