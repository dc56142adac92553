"""Raster images inside a picture made of strokes."""

from base64 import b64encode
from io import BytesIO

import numpy as np
from PIL import Image

from blocklab_course.panel import css, palette

COMPRESSION = 3
"""Of PNG. zlib's default of 6 takes 1.5 times as long and saves no space here."""

TINTS = {int(colour[1:], 16): colour for colour in css.NAMES if colour not in ("#000000", palette.PAPER)}
"""The colours of tints by number, without black and white: an image of only these is a photo or a grey scale."""

TOLERANCE = 1e-3
"""Pixels that cells of an even grid may deviate."""


def data_url(pixels: np.ndarray) -> str:
    """Encode rows of RGBA or grey pixels, top first, as the data URL of a PNG."""
    shown = pixels if pixels.ndim == 2 or (pixels[..., 3] < 255).any() else pixels[..., :3]
    out = BytesIO()
    Image.fromarray(np.ascontiguousarray(shown)).save(out, "PNG", compress_level=COMPRESSION)
    return "data:image/png;base64," + b64encode(out.getvalue()).decode()


def split_tints(pixels: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Split an RGBA image that only has palette colours, each more or less opaque.

    Returns each colour and its opacity in every pixel; nothing if a visible pixel has any other colour.
    """
    numbers = (pixels[..., :3] @ np.array([1 << 16, 1 << 8, 1])).ravel()
    opacity = pixels[..., 3]
    found = np.unique(numbers[opacity.ravel() > 0])
    if not set(found.tolist()) <= TINTS.keys():
        return []
    return [(TINTS[n], np.where(numbers.reshape(opacity.shape) == n, opacity, 0).astype(np.uint8)) for n in found]


def nonempty_region(pixels: np.ndarray) -> tuple[slice, slice] | None:
    """Return the rows and columns that are not fully transparent; None if all are."""
    rows, columns = (np.flatnonzero(pixels[..., 3].any(axis)) for axis in (1, 0))
    return (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)) if len(rows) else None


def even_grid(corners: np.ndarray) -> tuple[float, float, float, float] | None:
    """Return x0, y0, x1, y1 of a mesh with cells of equal size; None for any other mesh."""
    (height, width), (x0, y0), (x1, y1) = corners.shape[:2], corners[0, 0], corners[-1, -1]
    even = np.stack(np.meshgrid(np.linspace(x0, x1, width), np.linspace(y0, y1, height)), -1)
    return (x0, y0, x1, y1) if np.abs(corners - even).max() < TOLERANCE else None
