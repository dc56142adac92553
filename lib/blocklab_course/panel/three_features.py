"""Token vectors of three features, drawn as points in space with the diagonal (1, 1, 1) upwards."""

from functools import lru_cache
from math import hypot

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.patheffects import withStroke
from torch import Tensor

from blocklab_course.i18n import Text
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.palette import INK, QUIET

COUNT = 300
EPS = 1e-5
RADIUS = 3**0.5
PLASTIC = 1.22074408460575947536  # its powers spread points evenly through a cube: the root of x**4 = x + 1
POLE = np.ones(3) / RADIUS
FRAME = np.stack([[1, -1, 0] / np.sqrt(2), [1, 1, -2] / np.sqrt(6), POLE])  # across, across, along (1, 1, 1)
AXES = 1.16 * RADIUS * np.vstack([np.eye(3), POLE])  # the tips of the arrows
CLOSEST = 1.22 * RADIUS  # half the width of the picture, at least
RANGE = Text(en="{low} to {high}", zh="{low} 到 {high}")
LAYERS = 16  # from the farthest to the nearest; points that look alike are one stroke


def three_number_tokens() -> Tensor:
    """300 tokens of three numbers, (300, 3), spread evenly over the normal distribution; for each its opposite too."""
    numbers = torch.arange(1, COUNT // 2 + 1, dtype=torch.float64)[:, None]
    half = torch.special.ndtri((0.5 + numbers * PLASTIC ** -torch.arange(1, 4, dtype=torch.float64)) % 1)
    return torch.cat([half, -half])


def angles(x: Tensor) -> Tensor:
    """The angle between each row of x, (N, 3), and (1, 1, 1), in degrees."""
    return torch.rad2deg(torch.acos((x.sum(-1) / RADIUS / x.norm(dim=-1)).clamp(-1, 1)))


def on_the_way(x: Tensor, steps: float, subtract: bool) -> Tensor:
    """x after step 1, subtracting the mean (or none), and step 2, dividing; a fraction goes a part of the way."""
    done = min(steps, 1.0)
    x = x - done * x.mean(-1, keepdim=True) if subtract else x
    size = (x.square().mean(-1, keepdim=True) + EPS).sqrt()
    done = max(steps - 1, 0.0)
    return x * ((1 - done) + done / size)


def between(values: Tensor, form: str, unit: str = "") -> str:
    """The smallest and the largest value in words, or one number where both print alike."""
    low, high = (format(float(value), form) + unit for value in (values.min(), values.max()))
    return low if low == high else RANGE.format(low=low, high=high)


class View:
    """One look at space from far away: what is nearer is larger and darker. A point whose token had a mean below 0
    before the shift is hollow, on all of its way.
    """

    def __init__(self, axes: Axes, colour: str):
        self.title = axes.set_title("", size=13, pad=15, color=INK, animated=True)  # above the name of the diagonal
        axes.set(xlim=(-1.3, 1.3), ylim=(-1, 1), aspect="equal", xticks=[], yticks=[])
        style_axes(axes, edges=())
        self.colour = np.array(to_rgba(colour))
        self.wires = wire_sphere()
        self.wire = LineCollection([], colors=QUIET, alpha=0.35, linewidths=0.8, zorder=1, animated=True)
        self.rim = axes.plot([], [], color=QUIET, linewidth=0.9, zorder=2, animated=True)[0]
        self.arrows = LineCollection([], colors=[QUIET] * 3 + [INK], linewidths=1.3, zorder=3, animated=True)
        for lines in (self.wire, self.arrows):
            axes.add_collection(lines, autolim=False)
        self.dots = axes.scatter([], [], edgecolors="white", linewidths=0.7, zorder=4, animated=True)
        names = ("x₁", "x₂", "x₃", "(1, 1, 1)")
        self.names = [axes.text(0, 0, n, size=10, color=INK, ha="center", va="center", animated=True) for n in names]
        for name in self.names:
            name.set(zorder=5, clip_on=False, path_effects=[withStroke(linewidth=2.5, foreground="white")])

    def show(self, points: np.ndarray, above: np.ndarray, tilt: float, turn: float, half: float) -> None:
        """Draw the points, (N, 3). above: which are filled, (N,); half: what distance the half height stands for."""
        look = looking(tilt, turn) / half
        self.wire.set_segments((self.wires @ look.T)[..., :2])
        around = np.linspace(0, 2 * np.pi, 97)
        self.rim.set_data(RADIUS / half * np.cos(around), RADIUS / half * np.sin(around))
        tips = AXES @ look.T[:, :2]
        self.arrows.set_segments([[(0, 0), tip] for tip in tips])
        for name, (x, y) in zip(self.names, tips, strict=True):
            name.set_position(beyond(x, y))
        first, *_, last = self.names
        draggable(first, "turn", lambda turn: beyond(*AXES[0] @ looking(tilt, turn)[:2].T / half))
        draggable(last, "tilt", lambda tilt: beyond(*AXES[-1] @ looking(tilt, turn)[:2].T / half))
        places = points @ look.T
        near = np.clip(0.5 + 0.5 * places[:, 2] * half / max(RADIUS, np.abs(places[:, 2]).max() * half), 0, 1)
        near = np.rint(near * LAYERS) / LAYERS
        order = np.lexsort((above, near))  # the nearest last, on top
        places, above, near = places[order], above[order], near[order]
        colours = np.tile(self.colour, (len(places), 1))
        colours[:, 3] = 0.2 + 0.8 * near
        self.dots.set_offsets(places[:, :2])
        self.dots.set_sizes(12 + 22 * near)
        self.dots.set_facecolors(np.where(above[:, None], colours, (1, 1, 1, 1)))
        self.dots.set_edgecolors(np.where(above[:, None], (1, 1, 1, 1), colours))


def beyond(x: float, y: float) -> tuple[float, float]:
    """Where the name of an arrow with that tip stands."""
    away = hypot(x, y)
    return (x, y) if away < 1e-9 else (x * (1 + 0.07 / away), y * (1 + 0.07 / away))


@lru_cache(4096)
def looking(tilt: float, turn: float) -> np.ndarray:
    """The matrix to (right, up, towards the reader), with (1, 1, 1) up at tilt 0."""
    high, around = np.deg2rad(tilt), np.deg2rad(turn)
    turned = np.array([[np.cos(around), -np.sin(around), 0], [np.sin(around), np.cos(around), 0], [0, 0, 1]]) @ FRAME
    right, away, along = turned
    return np.stack([right, np.cos(high) * along + np.sin(high) * away, np.sin(high) * along - np.cos(high) * away])


def wire_sphere() -> np.ndarray:
    """Circles of latitude and longitude about (1, 1, 1), (circles, points, 3)."""
    around = np.linspace(0, 2 * np.pi, 73)
    circles = []
    for height in np.deg2rad([-60, -30, 0, 30, 60]):
        flat = np.cos(height)
        circles.append([flat * np.cos(around), flat * np.sin(around), np.full_like(around, np.sin(height))])
    for side in np.deg2rad([0, 30, 60, 90, 120, 150]):
        circles.append([np.cos(around) * np.cos(side), np.cos(around) * np.sin(side), np.sin(around)])
    return RADIUS * np.stack(circles).transpose(0, 2, 1) @ FRAME
