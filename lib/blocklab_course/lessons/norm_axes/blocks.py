"""A tensor drawn as blocks in perspective: one block per number, samples side by side, plates floating in each."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from blocklab_course.panel.palette import INK, MOVED, SHADES, letters_on, shade

# Where a block's three visible faces lie, as corners of the unit cube (x right, y into the picture, z up); the first
# corner closes the outline. The top gets most light, the front less, the side least.
TOP = np.array([(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1), (0, 0, 1)], float)
FRONT = np.array([(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1), (0, 0, 0)], float)
SIDE = np.array([(1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1), (1, 0, 0)], float)

BLOCK = np.array([0.86, 0.86, 0.34])  # width, depth, height of a block on a grid of pitch 1
LIFT = 0.4  # how far a raised block floats above its place, where plates leave room for it
OUTLINE, THICK = 0.6, 1.6  # points
TOWER_GAP = 1.2  # between the samples
LOW_PLATES = 1.16  # low plates are seen more from above than PITCH says
YAW, PITCH, DISTANCE = np.radians(20.0), np.radians(34.0), 24.0


def project(points: np.ndarray) -> np.ndarray:
    """From (x, y, z) to the picture plane: turned by YAW, tilted by PITCH, seen from DISTANCE. (…, 3) → (…, 2)."""
    right = points[..., 0] * np.cos(YAW) + points[..., 1] * np.sin(YAW)
    away = points[..., 1] * np.cos(YAW) - points[..., 0] * np.sin(YAW)
    up = points[..., 2] * np.cos(PITCH) + away * np.sin(PITCH)
    depth = DISTANCE + away * np.cos(PITCH) - points[..., 2] * np.sin(PITCH)
    return np.stack([right, up], -1) * (DISTANCE / depth)[..., None]


class Blocks:
    """The blocks of a tensor of shape (towers, plates, rows, columns); `paint` colours, raises and labels them.

    Blocks are numbered as the tensor's elements are, last axis fastest. Nothing here knows what the axes mean.
    Every tower is seen by a camera of its own, so that all look alike and the same block is found at once.
    """

    def __init__(self, axes: Axes, shape: Sequence[int]):
        towers, plates, rows, columns = self.shape = tuple(shape)
        tower, plate, row, column = (index.ravel() for index in np.indices(self.shape))
        self.lift = LIFT if plates > 1 else LIFT / 4  # on a single plate a high block would hide the row behind it
        x = column - columns / 2
        y = rows / 2 - 1.0 - row  # row 0 at the back, as a matrix is read
        z = ((plates - 1) / 2 - plate) * self._plate_gap()  # plate 0 on top
        self.corner = np.stack([x, y, z], -1).astype(float)
        width = columns * np.cos(YAW) + rows * np.sin(YAW) + TOWER_GAP
        self.shift = np.stack([(tower - (towers - 1) / 2) * width, np.zeros(tower.size)], -1)
        # Painter's order: from below upwards, from the back to the front, from left to right.
        self.order = np.lexsort((column, -y, z, tower))
        self.artist = PathCollection([], joinstyle="round", animated=True, zorder=2)
        axes.add_collection(self.artist, autolim=False)
        axes.set_axis_off()
        axes.set_aspect("equal")
        self.owners: list[int] = []
        """Whose each of the painted paths is, in the order of drawing: the number of a block."""
        self.glyphs: dict[str, Path] = {}
        cube = np.stack(np.meshgrid([0, 1], [0, 1], [0, BLOCK[2] + self.lift]), -1).reshape(-1, 3)
        outline = self.place(self.corner[:, None] + cube).reshape(-1, 2)
        self.extent = (*outline.min(0), *outline.max(0))

    def place(self, points: np.ndarray) -> np.ndarray:
        """Points of each block, (block, …, 3), to the picture plane, each tower at its own place."""
        return project(points) + self.shift.reshape(-1, *[1] * (points.ndim - 2), 2)

    def paint(
        self,
        colours: Sequence,
        raised: np.ndarray | None = None,
        labels: Sequence[str] | None = None,
        outlined: np.ndarray | None = None,
    ) -> None:
        """Give block i `colours[i]`, lift it where `raised[i]`, print `labels[i]` on its top face.

        outlined: the blocks with a thick outline in the colour of what moved.
        """
        corner = self.raised(raised)
        faces = self.place(corner[:, None, None] + np.stack([FRONT, SIDE, TOP]) * BLOCK)  # (block, face, corner, xy)
        paths, colour, width, edge = [], [], [], []
        self.owners = np.repeat(self.order, 3 if labels is None else 4).tolist()
        for block in self.order:
            paths += [Path(face) for face in faces[block]]
            tint = colours[block]
            colour += [*(shade(tint, light) for light in SHADES), tint]
            marked = outlined is not None and outlined[block]
            width += [THICK if marked else OUTLINE] * 3
            edge += [MOVED if marked else INK] * 3
            if labels is not None:
                paths.append(self._label(corner[block], block, labels[block]))
                colour.append(letters_on(tint))
                width.append(0)
                edge.append(INK)
        self.artist.set(paths=paths, facecolors=colour, edgecolors=edge, linewidths=width)

    def raised(self, raised: np.ndarray | None) -> np.ndarray:
        """The corner of every block, lifted where asked."""
        corner = self.corner.copy()
        if raised is not None:
            corner[:, 2] += self.lift * np.asarray(raised, float)
        return corner

    def top(self, block: int, raised: bool = False) -> np.ndarray:
        """Where the middle of a block's top face lies in the picture."""
        middle = self.corner + BLOCK * (0.5, 0.5, 1.0) + (0, 0, self.lift * raised)
        return self.place(middle)[block]

    def _plate_gap(self) -> float:
        """The distance from plate to plate at which no block, raised or not, hides the top of another."""
        seen_depth = self.shape[2] * np.tan(PITCH) + BLOCK[2] + self.lift
        return LOW_PLATES * seen_depth

    def _label(self, corner: np.ndarray, block: int, text: str) -> Path:
        """The text's outline lying on the top face of a block, in the same perspective."""
        glyph = self._glyph(text)
        flat = np.append(glyph.vertices, np.zeros((len(glyph.vertices), 1)), 1)
        return Path(project(flat + corner + BLOCK * (0.5, 0.5, 1.0)) + self.shift[block], glyph.codes)

    def _glyph(self, text: str) -> Path:
        """The text's outline about its own middle, in units of a block; stretched in depth, which tilting shortens."""
        if text not in self.glyphs:
            outline = TextPath((0, 0), text, size=0.5 if len(text) < 2 else 0.42)
            box = outline.get_extents()
            middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
            self.glyphs[text] = Path((outline.vertices - middle) * (1.0, 1.3), outline.codes)
        return self.glyphs[text]
