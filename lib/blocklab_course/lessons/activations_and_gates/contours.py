"""One hidden unit over the plane of a two-number token: straight contours without a gate, curved ones with it."""

from collections.abc import Callable
from math import copysign, cos, radians, sin

import numpy as np
import torch
from contourpy import contour_generator
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import BoundaryNorm, ListedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from torch import Tensor

from blocklab.feed_forward import ACTIVATIONS, Activation, gated_unit
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction, Slider, Toggle
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, PAPER, POKED, QUIET

SIDE, POINTS = 1.5, 61  # half the side of the square, and points along it
APART = 0.25  # between neighbouring contours
LEVELS = [APART * i for i in range(-19, 20) if i]  # a product reaches 4.5 in a corner
AWAY = 1.27  # from 0 to the name of an arrow, whose tip is at 1
FLAT = 1e-9  # a slope below this has no direction
BANDS = sorted([*LEVELS, -FLAT, FLAT])  # one tint between two contours
STRENGTH = np.linspace(0.14, 1, len(LEVELS) // 2)  # of the tints, outward from 0, where there is none
UNUSED = "(v)"  # without a gate
COLOURS = {"u": POKED, "u, v": POKED, "v": OTHER, UNUSED: QUIET}  # of arrows and names
TINT = ListedColormap(
    [
        *(to_rgba(OTHER, each) for each in STRENGTH[::-1]),
        to_rgba(MOVED, 0),
        *(to_rgba(MOVED, each) for each in STRENGTH),
    ]
)

GUESS = Prediction(
    {
        Text(en="only a smooth f", zh="只有光滑的 f"): "smooth",
        Text(en="only a gate", zh="只有门"): "gate",
        Text(en="either one", zh="任何一个都行"): "either",
        Text(en="only both at once", zh="两者缺一不可"): "both",
    },
    right="gate",
    question=Text(
        en="With ReLU and no gate the contours are straight. What bends them?",
        zh="用 ReLU、不用门，等高线是直的。怎样才会变弯？",
    ),
    explanation=Text(
        en="Only a gate bends them: tick the gate and set f to none, and the right picture is a saddle; without a gate "
        "no f helps.",
        zh="只有门能让它变弯：勾选“门控”，f 选“无”，右图就是一个马鞍面；没有门，换什么 f 都没有用。",
    ),
)
"""What bends the contours of one unit."""

NO_ACTIVATION: Activation = lambda u: u  # noqa: E731
CHOICES = {
    Text(en="none", zh="无"): "none",
    "sigmoid": "sigmoid",
    "ReLU": "relu",
    "GELU": "gelu",
    "SiLU": "silu",
}
"""For a panel's choice: the activation f."""

WRITTEN = {"none": "u", "sigmoid": "σ(u)", "relu": "ReLU(u)", "gelu": "GELU(u)", "silu": "SiLU(u)"}
NO_VALUE = Text(en="1: no gate, v is not used", zh="1：没有门，不用 v")
UNIT = Text(en="the unit: {unit}", zh="单元：{unit}")
SEEN = Text(
    en="{unit} runs from {low:.2f} to {high:.2f}. Between its contours and those on the left lie {turn:.0f}°, on "
    "average (flat places do not count).",
    zh="{unit} 的取值从 {low:.2f} 到 {high:.2f}。它的等高线与左图的等高线，夹角平均为 {turn:.0f}°（平坦的地方不算）。",
)


def contours(figure: Figure) -> Callable[..., str]:
    """Side by side f(u), v, and their product over the plane; u and v are how far a point lies along two arrows.

    update(activation, gate, gate_angle, value_angle): the name of f, whether the unit is multiplied by v, and the
    directions of u and v in degrees.
    """
    narrow = is_narrow(figure)
    below = (0.12, 0.66, 0.385, 0.277), (0.6, 0.66, 0.385, 0.277), (0.2, 0.07, 0.62, 0.445)
    beside = [(x, 0.115, 0.285, 0.8) for x in (0.05, 0.379, 0.708)]
    left, middle, right = (Plane(figure.add_axes(place)) for place in (below if narrow else beside))
    for plane, control in ((left, "gate_angle"), (middle, "value_angle")):
        draggable(plane.shafts, control, tip)
    left.axes.set(yticks=[-1, 0, 1])
    left.axes.set_ylabel("x₂", labelpad=1)
    signs = [(0.553, 0.8), (0.1, 0.29)] if narrow else [(0.357, 0.515), (0.686, 0.515)]
    for place, sign in zip(signs, "×=", strict=True):
        figure.text(*place, sign, size=20, color=INK, ha="center", va="center")

    def update(activation: str, gate: bool, gate_angle: float, value_angle: float) -> str:
        points = square().requires_grad_()
        along, across = direction(gate_angle), direction(value_angle)
        u = points @ along
        v = points @ across if gate else torch.ones_like(u)
        f = ACTIVATIONS.get(activation, NO_ACTIVATION)
        unit = gated_unit(u, v, f)
        (slope,) = torch.autograd.grad(unit.sum(), points)
        written = WRITTEN[activation]
        through_zero = [] if activation == "sigmoid" else [along]
        arrow_u, arrow_v = ("u", along), ("v", across)
        left.show(f(u), f"f(u) = {written}", through_zero, [arrow_u])
        if gate:
            written = f"{written} · v"
            middle.show(v, "v", [across], [arrow_v])
            both = [("u, v", along)] if (gate_angle - value_angle) % 360 == 0 else [arrow_u, arrow_v]
            right.show(unit, UNIT.format(unit=written), [*through_zero, across], both)
        else:
            middle.show(v, str(NO_VALUE), [], [(UNUSED, across)])  # its slider is there, so the arrow turns
            right.show(unit, UNIT.format(unit=written), through_zero, [arrow_u])
        low, high = (rounded(end.item()) for end in (unit.min(), unit.max()))
        seen = SEEN.format(unit=written, low=low, high=high, turn=turn(slope, along))
        return seen.replace(" -", " −")

    return update


def rounded(number: float) -> float:
    """To two decimals, a half away from 0 even if it is 1e-9 short of one, and never −0."""
    return round(number + copysign(1e-9, number), 2) + 0.0


def square() -> Tensor:
    """The points of a square grid around 0, (POINTS, POINTS, 2), row by row from below."""
    side = torch.linspace(-SIDE, SIDE, POINTS, dtype=torch.float64)
    return torch.stack(torch.meshgrid(side, side, indexing="xy"), -1)


def direction(angle: float) -> Tensor:
    """The arrow of length 1 at that angle, in degrees."""
    turned = torch.deg2rad(torch.tensor(angle, dtype=torch.float64))
    return torch.stack([turned.cos(), turned.sin()])


def tip(angle: float) -> tuple[float, float]:
    """Where the arrow at that angle ends."""
    return cos(radians(angle)), sin(radians(angle))


def turn(slope: Tensor, along: Tensor) -> float:
    """The mean angle between slopes, (*, 2), and a direction, either way along it, in degrees; flat places left out."""
    steep = slope[slope.norm(dim=-1) > FLAT]
    straight = (steep @ along).abs()
    aside = (steep @ torch.stack([-along[1], along[0]])).abs()
    return float(torch.rad2deg(torch.atan2(aside, straight)).mean())


class Plane:
    """One function of two numbers: a tint, its contours (dashed below 0, thick at 0), and arrows."""

    def __init__(self, axes: Axes):
        self.axes = axes
        axes.set(xlim=(-SIDE, SIDE), ylim=(-SIDE, SIDE), aspect="equal", xticks=[-1, 0, 1], yticks=[], xlabel="x₁")
        half = SIDE * POINTS / (POINTS - 1)  # the middle of the outermost pixels lies on the edge
        self.tint = axes.imshow(
            np.zeros((POINTS, POINTS)),
            cmap=TINT,
            norm=BoundaryNorm(BANDS, TINT.N),
            extent=(-half, half, -half, half),
            origin="lower",
            interpolation="bilinear",
            interpolation_stage="data",
            animated=True,
        )
        axes.set(xlim=(-SIDE, SIDE), ylim=(-SIDE, SIDE))
        self.above = LineCollection([], colors=INK, linewidths=0.9, animated=True)
        self.below = LineCollection([], colors=INK, linewidths=0.9, linestyles=[(0, (4, 3))], animated=True)
        self.zero = LineCollection([], colors=INK, linewidths=2.2, animated=True)
        for lines in (self.below, self.above, self.zero):
            axes.add_collection(lines, autolim=False)
        self.shafts = LineCollection([], linewidths=2.2, zorder=4, animated=True)
        self.shafts.set_path_effects([withStroke(linewidth=4.5, foreground=PAPER)])
        axes.add_collection(self.shafts, autolim=False)
        halo = [withStroke(linewidth=3.5, foreground=PAPER)]
        self.names = [axes.text(0, 0, "", size=13, ha="center", va="center", zorder=5, animated=True) for _ in range(2)]
        for name in self.names:
            name.set_path_effects(halo)
        self.title = axes.text(
            0.5,
            1.05,
            "",
            transform=axes.transAxes,
            size=11 if is_narrow(axes.figure) else 12,
            color=INK,
            ha="center",
            va="bottom",
            animated=True,
        )

    def show(self, values: Tensor, title: str, through_zero: list[Tensor], arrows: list[tuple[str, Tensor]]) -> None:
        """Draw the values, (POINTS, POINTS). `through_zero`: the directions that are 0 on the line across them."""
        z = values.detach().numpy()
        self.title.set_text(title)
        self.tint.set_data(z)
        generator = contour_generator(*(square()[..., i].numpy() for i in range(2)), z)
        lines = {level: generator.lines(level) for level in LEVELS}
        self.above.set_segments([line for level, found in lines.items() if level > 0 for line in found])
        self.below.set_segments([line for level, found in lines.items() if level < 0 for line in found])
        far = 2 * SIDE
        self.zero.set_segments(
            [[(-far * -y, -far * x), (far * -y, far * x)] for x, y in map(Tensor.tolist, through_zero)]
        )
        tips = [tip.tolist() for _, tip in arrows]
        colours = [COLOURS[name] for name, _ in arrows]
        self.shafts.set_segments([stroke for x, y in tips for stroke in arrow(x, y)])
        self.shafts.set_color([colour for colour in colours for _ in arrow(0, 0)])
        for i, name in enumerate(self.names):
            name.set_visible(i < len(arrows))
            if i < len(arrows):
                name.set(text=arrows[i][0], color=colours[i])
                name.set_position((AWAY * tips[i][0], AWAY * tips[i][1]))


def arrow(x: float, y: float) -> list[list[tuple[float, float]]]:
    """From 0 to a tip at distance 1, and its head."""
    back, aside = (0.84 * x, 0.84 * y), (-0.08 * y, 0.08 * x)
    left, right = ((back[0] + s * aside[0], back[1] + s * aside[1]) for s in (1, -1))
    return [[(0.0, 0.0), (x, y)], [left, (x, y), right]]


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "activation": Choice(CHOICES, "relu", label=Text(en="activation f", zh="激活函数 f")),
        "gate": Toggle(False, label=Text(en="gate: multiply by v", zh="门控：乘以 v")),
        "gate_angle": Slider(-180, 180, 15, value=0, label=Text(en="angle of u", zh="u 的角度")),
        "value_angle": Slider(-180, 180, 15, value=90, label=Text(en="angle of v", zh="v 的角度")),
    }
    return Panel(contours, size=(10, 4.2), narrow=(4.6, 6.4), **controls | own)
