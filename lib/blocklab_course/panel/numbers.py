"""How figures write numbers."""

import math

import numpy as np

SMALL, LARGE = 1e-6, 1e7
"""From SMALL to below LARGE a number is written with digits only, as the values of sliders are."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def short_number(number: float, digits: int = 3) -> str:
    """Round to significant digits, and never use e-notation: 3160, 0.00032, 4.1 · 10⁻¹⁸."""
    if not math.isfinite(number):
        return f"{number:g}"
    rounded = float(f"{number:.{digits}g}")
    if rounded == 0 or SMALL <= abs(rounded) < LARGE:
        written = np.format_float_positional(rounded, trim="-")
    else:
        factor, _, exponent = f"{rounded:.{digits - 1}e}".partition("e")
        factor = np.format_float_positional(float(factor), trim="-")
        power = "10" + str(int(exponent)).translate(SUPERSCRIPTS)
        written = power if factor == "1" else f"{factor} · {power}"
    return written.replace("-", "−")
