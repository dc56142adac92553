"""The contrast of colours, as the Web Content Accessibility Guidelines define it."""

import numpy as np


def luminance(colours) -> np.ndarray:
    """The relative luminance of sRGB colours, (*, 3) from 0 to 1."""
    parts = np.asarray(colours, float)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def contrast(one, other) -> np.ndarray:
    """The contrast ratio, from 1 to 21, of sRGB colours, (*, 3) from 0 to 1."""
    light = luminance(one), luminance(other)
    return (np.maximum(*light) + 0.05) / (np.minimum(*light) + 0.05)
