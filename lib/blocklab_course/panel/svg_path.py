"""Paths as the `d` of an SVG path: whole numbers, as few characters as that takes."""

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
    """Corners and codes as Agg draws them: cut at the `page`, straight edges of a pen so wide at whole pixels."""
    return _path.cleanup_path(path, matrix, True, page, snap, width, simplify, True, None)


def absolute(corners: np.ndarray, codes: np.ndarray, scale: float) -> str:
    """Corners and codes, as `cleaned` gives them, in their place."""
    kinds = codes.tobytes()
    if not CURVED.isdisjoint(kinds) or kinds.count(Path.MOVETO) > 1:
        enlarge = np.diag((scale, scale, 1.0))
        told = _path.convert_to_string(Path(corners, codes), enlarge, None, False, None, 0, ABSOLUTE, False)
        return TIGHT.sub(r"\1", told.decode()).replace("\n", "")
    closed = kinds[-2:-1] == END
    steps = np.rint(corners[: -2 if closed else -1] * scale).astype(int)
    if len(steps) < 2:
        return ""
    steps[1:] -= steps[:-1]
    x, y, *rest = steps.ravel().tolist()
    return f"M{x} {y}l{join_numbers(rest)}{'z' * closed}"


def relative(corners: np.ndarray, codes) -> str:
    """A path whose every number is a difference, so that it may stand anywhere: put `M x y` in front."""
    points, told, at, start, step = np.rint(corners).astype(int).tolist(), [], (0, 0), (0, 0), 0
    while step < len(points) and codes[step] != Path.STOP:
        code, taken = codes[step], points[step : step + Path.NUM_VERTICES_FOR_CODE[codes[step]]]
        step += len(taken)
        if code == Path.CLOSEPOLY:
            told.append("z")
            at = start
            continue
        told.append(
            LETTERS[code]
            + join_numbers([there - here for point in taken for there, here in zip(point, at, strict=True)])
        )
        at = taken[-1]
        start = at if code == Path.MOVETO else start
    return "".join(told)


def polylines(corners: np.ndarray, snap: bool | None, widths: np.ndarray, scale: float) -> list[str]:
    """Many lines of as many corners each, as `cleaned` and `absolute` give them one by one."""
    if snap is not False:
        level = (np.abs(np.diff(corners, axis=1)) < 1e-4).any(2).all(1)
        odd = (widths + 0.5).astype(int) % 2 / 2
        at_pixels = np.floor(corners + 0.5) + odd[:, None, None]
        corners = np.where((level if snap is None else level | True)[:, None, None], at_pixels, corners)
    steps = np.rint(corners * scale).astype(int)
    steps[:, 1:] -= steps[:, :-1]
    return [f"M{x} {y}l{join_numbers(rest)}" for x, y, *rest in steps.reshape(len(steps), -1).tolist()]


def radius(path: Path) -> float:
    """Of a circle around the origin, as marks are; 0 for any other path."""
    if path.codes is None or len(path.codes) != len(CIRCLE.codes):
        return 0.0
    size = -path.vertices[0, 1]
    return size if np.allclose(path.vertices, CIRCLE.vertices * size) else 0.0


def circle(size: float) -> str:
    """A circle that may stand anywhere, by its radius."""
    r = round(size)
    return f"m{-r} 0a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"


def join_numbers(values: list[int]) -> str:
    return " ".join(map(str, values)).replace(" -", "-")
