"""Pictures made of pixels inside a picture made of strokes."""

from base64 import b64encode
from io import BytesIO

import numpy as np
from PIL import Image

COMPRESSION = 3
"""How hard zlib tries. At 6, its own choice, pictures of panels take half as long again and are no smaller."""

TOLERANCE = 1e-3
"""Pixels: how far the cells of an even grid may be from their places."""


def data_url(pixels: np.ndarray) -> str:
    """Rows from the top, red first, as the address of a PNG."""
    shown = pixels if (pixels[..., 3] < 255).any() else pixels[..., :3]
    out = BytesIO()
    Image.fromarray(np.ascontiguousarray(shown)).save(out, "PNG", compress_level=COMPRESSION)
    return "data:image/png;base64," + b64encode(out.getvalue()).decode()


def nonempty_region(pixels: np.ndarray) -> tuple[slice, slice] | None:
    """The rows and columns that are not empty."""
    rows, columns = (np.flatnonzero(pixels[..., 3].any(axis)) for axis in (1, 0))
    return (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)) if len(rows) else None


def even_grid(corners: np.ndarray) -> tuple[float, float, float, float] | None:
    """Left, first row's edge, right, last row's edge of a mesh whose cells are all as large; None for any other."""
    (height, width), (x0, y0), (x1, y1) = corners.shape[:2], corners[0, 0], corners[-1, -1]
    even = np.stack(np.meshgrid(np.linspace(x0, x1, width), np.linspace(y0, y1, height)), -1)
    return (x0, y0, x1, y1) if np.abs(corners - even).max() < TOLERANCE else None
