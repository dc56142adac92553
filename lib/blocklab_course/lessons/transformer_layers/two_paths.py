"""A sub-layer as a drawing: x goes straight on, f stands on a path beside it, and norms on one or the other."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.text import Text as Letters

from blocklab_course.panel.palette import INK, MOVED, PAPER, QUIET, letters_on

STRAIGHT, SIDE, BELOW = 2, 1, 0  # heights: of the path of x, of that through f, and of that through f₂
LEAVES, BEFORE, FORK, SUBLAYER, AFTER, ADDED, BEHIND, END = 0.7, 1.6, 2.3, 3.1, 4.6, 5.6, 6.8, 8.0
NORMS = {
    "post": [(BEHIND, STRAIGHT)],
    "pre": [(BEFORE, SIDE)],
    "output": [(AFTER, SIDE)],
    "sandwich": [(BEFORE, SIDE), (AFTER, SIDE)],
    "parallel": [(BEFORE, SIDE)],
}
"""Where the norms stand, by place."""


def paths_and_parts(axes: Axes) -> Callable[[str], None]:
    """Draw what all places have in common; the function that comes back puts the norms where a place has them."""
    axes.set(xlim=(-0.2, END + 0.2), ylim=(BELOW - 0.5, STRAIGHT + 0.5))
    axes.set_axis_off()
    arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (END - 0.25, STRAIGHT), (0.25, STRAIGHT), arrowprops=arrow)
    for x, name in (0, "x"), (END, "y"):
        axes.text(x, STRAIGHT, name, size=12, color=INK, ha="center", va="center")
    axes.plot([LEAVES, LEAVES, ADDED, ADDED], [STRAIGHT, SIDE, SIDE, STRAIGHT], color=QUIET, lw=1.4)
    boxed(axes, ADDED, STRAIGHT, "+")
    f = boxed(axes, SUBLAYER, SIDE, "f")
    f2, second_sum = boxed(axes, SUBLAYER, BELOW, "f₂"), boxed(axes, BEHIND, STRAIGHT, "+")
    (fork,) = axes.plot([FORK, FORK, BEHIND, BEHIND], [SIDE, BELOW, BELOW, STRAIGHT], color=QUIET, lw=1.4)
    norms = [boxed(axes, 0, 0, "N", MOVED) for _ in range(2)]
    for artist in (f, f2, second_sum, fork, *norms):
        artist.set_animated(True)

    def show(place: str) -> None:
        parallel = place == "parallel"
        f.set_text("f₁" if parallel else "f")
        for artist in (f2, second_sum, fork):
            artist.set_visible(parallel)
        for number, norm in enumerate(norms):
            norm.set_visible(number < len(NORMS[place]))
        for norm, at in zip(norms, NORMS[place], strict=False):
            norm.set_position(at)

    return show


def boxed(axes: Axes, x: float, y: float, text: str, face: str = PAPER) -> Letters:
    """A part in its box, a sum in its circle."""
    shape = "circle,pad=0.15" if text == "+" else "round,pad=0.35"
    box = {"boxstyle": shape, "fc": face, "ec": INK, "lw": 0.9}
    return axes.text(x, y, text, size=10, color=letters_on(face), bbox=box, ha="center", va="center", zorder=4)
