"""Paths as the `d` attribute of an SVG path, in whole numbers and few characters."""

import re

import numpy as np
from matplotlib import _path
from matplotlib.path import Path

LETTERS = {Path.MOVETO: "m", Path.LINETO: "l", Path.CURVE3: "q", Path.CURVE4: "c", Path.CLOSEPOLY: "z"}
ABSOLUTE = [b"M", b"L", b"Q", b"C", b"Z"]
TIGHT = re.compile(r" ?\n?([MLQCZ]) ?")
CIRCLE = Path.unit_circle()
END = bytes([Path.CLOSEPOLY])
CURVED = {Path.CURVE3, Path.CURVE4}


def clean(path: Path, matrix: np.ndarray, page, snap: bool | None, width: float, simplify: bool):
    """Return corners and codes as Agg draws them: clipped to `page`, straight edges snapped for this line width."""
    return _path.cleanup_path(path, matrix, True, page, snap, width, simplify, True, None)


def absolute(corners: np.ndarray, codes: np.ndarray, scale: float) -> str:
    """Encode corners and codes from `clean` in absolute position."""
    kinds = codes.tobytes()
    if not CURVED.isdisjoint(kinds) or kinds.count(Path.MOVETO) > 1:
        enlarge = np.diag((scale, scale, 1.0))
        parts = _path.convert_to_string(Path(corners, codes), enlarge, None, False, None, 0, ABSOLUTE, False)
        return TIGHT.sub(r"\1", parts.decode()).replace("\n", "")
    closed = kinds[-2:-1] == END
    steps = np.rint(corners[: -2 if closed else -1] * scale).astype(int)
    if len(steps) < 2:
        return ""
    steps[1:] -= steps[:-1]
    x, y, *rest = steps.ravel().tolist()
    return f"M{x} {y}l{join_numbers(rest)}{'z' * closed}"


def relative(corners: np.ndarray, codes) -> str:
    """Encode a path in relative coordinates; put `M x y` in front to place it."""
    points, parts, at, start, step = np.rint(corners).astype(int).tolist(), [], (0, 0), (0, 0), 0
    while step < len(points) and codes[step] != Path.STOP:
        code, used = codes[step], points[step : step + Path.NUM_VERTICES_FOR_CODE[codes[step]]]
        step += len(used)
        if code == Path.CLOSEPOLY:
            parts.append("z")
            at = start
            continue
        parts.append(
            LETTERS[code]
            + join_numbers([there - here for point in used for there, here in zip(point, at, strict=True)])
        )
        at = used[-1]
        start = at if code == Path.MOVETO else start
    return "".join(parts)


def polylines(corners: np.ndarray, snap: bool | None, widths: np.ndarray, scale: float) -> list[str]:
    """Encode many lines with the same number of corners, as `clean` and `absolute` do one by one."""
    if snap is not False:
        level = (np.abs(np.diff(corners, axis=1)) < 1e-4).any(2).all(1)
        odd = (widths + 0.5).astype(int) % 2 / 2
        at_pixels = np.floor(corners + 0.5) + odd[:, None, None]
        corners = np.where((level if snap is None else level | True)[:, None, None], at_pixels, corners)
    steps = np.rint(corners * scale).astype(int)
    steps[:, 1:] -= steps[:, :-1]
    return [f"M{x} {y}l{join_numbers(rest)}" for x, y, *rest in steps.reshape(len(steps), -1).tolist()]


def radius(path: Path) -> float:
    """Return the radius of a circle around the origin; 0 for any other path."""
    if path.codes is None or len(path.codes) != len(CIRCLE.codes):
        return 0.0
    size = -path.vertices[0, 1]
    return size if np.allclose(path.vertices, CIRCLE.vertices * size) else 0.0


def circle(size: float) -> str:
    """Encode a circle in relative coordinates."""
    r = round(size)
    return f"m{-r} 0a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"


def join_numbers(values: list[int]) -> str:
    return " ".join(map(str, values)).replace(" -", "-")
