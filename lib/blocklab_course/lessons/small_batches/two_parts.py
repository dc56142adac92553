"""Two parts of a batch and both together: what each has of count, mean and M2, and what M2 gains where they meet."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET

A, B = np.array([1.0, 3]), np.array([3.0, 5, 5, 7])  # the example of the lesson
FARTHEST = 6  # how far the second part can be moved, to either side
STACKED = 0.24  # how far above its equal a number is drawn
ROWS = {"a": 2, "b": 1, "both": 0}  # from the top down

NAMES = (Text(en="part a", zh="部分 a"), Text(en="part b", zh="部分 b"), Text(en="both", zh="合起来"))
HELD = Text(en="count {count}, mean {mean:.4g}, M2 = {m2:.4g}", zh="个数 {count}，均值 {mean:.4g}，M2 = {m2:.4g}")
GAINED = Text(en="{count} · {away:.4g}²", zh="{count} × {away:.4g}²")
SEEN = Text(
    en="M2 within the parts: {a:.4g} and {b:.4g}. Their means lie {from_a:.4g} and {from_b:.4g} from the common one, "
    "{mean:.4g}: 2 · {from_a:.4g}² + 4 · {from_b:.4g}² = {between:.4g} more. Together {both:.4g}.",
    zh="两部分各自的 M2 是 {a:.4g} 和 {b:.4g}。它们的均值与共同的均值 {mean:.4g} 相距 {from_a:.4g} 和 {from_b:.4g}，"
    "所以再加 2 × {from_a:.4g}² + 4 × {from_b:.4g}² = {between:.4g}，合计 {both:.4g}。",
)


def two_parts(figure: Figure) -> Callable[..., str]:
    """A row of numbers for each part and one for both, with a tick at each mean and the steps to the common one.

    update(shift): how far the numbers of the second part have moved.
    """
    beside = (lambda height: (-4, height + 0.55)) if is_narrow(figure) else (lambda height: (14.4, height))
    axes = add_axes(figure, wide=(0.1, 0.13, 0.63, 0.85), narrow=(0.17, 0.09, 0.8, 0.89))
    axes.set(xlim=(-4, 14), ylim=(-0.45, 2.75), xticks=range(-3, 14, 2))
    axes.set_yticks(list(ROWS.values()), list(map(str, NAMES)))
    axes.tick_params(axis="y", length=0)
    style_axes(axes, edges=("bottom",))
    axes.hlines(list(ROWS.values()), -4, 14, color=QUIET, linewidth=0.8, zorder=0)
    dots = {name: row_of(axes, colour) for name, colour in (("a", MOVED), ("b", OTHER))}
    below = {name: row_of(axes, colour) for name, colour in (("a", MOVED), ("b", OTHER))}
    means = {name: axes.plot([], [], color=INK, linewidth=2.2, animated=True, zorder=2)[0] for name in ROWS}
    steps = {name: axes.plot([], [], color=INK, linewidth=3.6, alpha=0.45, animated=True)[0] for name in ("a", "b")}
    gained = {name: axes.text(0, 0, "", size=10, color=INK, va="center", animated=True) for name in steps}
    (common,) = axes.plot([], [], "--", color=INK, linewidth=1, animated=True)
    held = {
        name: axes.text(*beside(height), "", size=10, color=INK, va="center", animated=True)
        for name, height in ROWS.items()
    }
    draggable(dots["b"], "shift", lambda shift: (B[0] + shift, ROWS["b"]))

    def update(shift: int) -> str:
        parts = {"a": A, "b": B + shift}
        parts["both"] = np.concatenate([parts["a"], parts["b"]])
        mean, m2 = ({name: of(x) for name, x in parts.items()} for of in (np.mean, squares))
        for name, height in ROWS.items():
            means[name].set_data([mean[name]] * 2, [height - 0.3, height + 0.36])
            held[name].set_text(HELD.format(count=len(parts[name]), mean=mean[name], m2=m2[name]))
        away = {f"from_{name}": abs(mean[name] - mean["both"]) for name in ("a", "b")}
        stacked = heights(parts["both"])
        for name, own in (("a", slice(0, 2)), ("b", slice(2, 6))):
            dots[name].set_data(parts[name], ROWS[name] + heights(parts[name]))
            below[name].set_data(parts[name], stacked[own])
            steps[name].set_data([mean[name], mean["both"]], [ROWS[name] - 0.22] * 2)
            gained[name].set_text(GAINED.format(count=len(parts[name]), away=away[f"from_{name}"]))
            left = mean[name] < mean["both"]
            gained[name].set(
                x=mean[name] + (-0.2 if left else 0.2), y=ROWS[name] - 0.25, ha="right" if left else "left"
            )
        common.set_data([mean["both"]] * 2, [0.3, ROWS["a"] + 0.3])
        return SEEN.format(**m2, **away, mean=mean["both"], between=m2["both"] - m2["a"] - m2["b"])

    return update


def squares(x: np.ndarray) -> float:
    """M2: the sum of the squared distances from the mean."""
    return np.square(x - x.mean()).sum()


def heights(x: np.ndarray) -> np.ndarray:
    """How far above its row each number is drawn: one that was there before pushes it up."""
    return np.array([STACKED * (x[:place] == value).sum() for place, value in enumerate(x)])


def row_of(axes: Axes, colour: str):
    (dots,) = axes.plot([], [], "o", color=colour, markersize=9, animated=True, zorder=3)
    return dots


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {"shift": Slider(-FARTHEST, FARTHEST, 1, value=0, label=Text(en="move part b", zh="移动部分 b"))}
    return Panel(two_parts, size=(10, 2.7), narrow=(4.6, 3.8), **controls | own)
