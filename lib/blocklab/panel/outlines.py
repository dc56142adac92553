"""Paths as the `d` of an SVG path: whole numbers, as few characters as that takes."""

import re

import numpy as np
from matplotlib import _path
from matplotlib.path import Path

LETTERS = {Path.MOVETO: "m", Path.LINETO: "l", Path.CURVE3: "q", Path.CURVE4: "c", Path.CLOSEPOLY: "z"}
ABSOLUTE = [b"M", b"L", b"Q", b"C", b"Z"]
TIGHT = re.compile(r" ?\n?([MLQCZ]) ?")
END = bytes([Path.CLOSEPOLY])
CURVED = {Path.CURVE3, Path.CURVE4}


def cleaned(path: Path, matrix: np.ndarray, page, snap: bool | None, width: float, simplify: bool):
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
    return f"M{x} {y}l{numbers(rest)}{'z' * closed}"


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
            LETTERS[code] + numbers([there - here for point in taken for there, here in zip(point, at, strict=True)])
        )
        at = taken[-1]
        start = at if code == Path.MOVETO else start
    return "".join(told)


def numbers(values: list[int]) -> str:
    return " ".join(map(str, values)).replace(" -", "-")
