"""The map of lessons: the chat model, a tower of layers, and on every part the number of the lesson that builds it."""

from collections.abc import Callable, Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from blocklab.language import Text
from blocklab.lessons.order import LESSONS
from blocklab.panel import LinkedPicture
from blocklab.panel.palette import GROUPS, INK, MOVED, QUIET

SEEN = Text(
    en="The chat model, one of its 30 layers drawn large, and the numbers of the lessons on each part.",
    zh="聊天模型的结构，画出了 30 层里的一层，以及讲解各部分的课程的编号。",
)
WIDE, HIGH = 12, 8
STREAM = 2.9
RADIUS = 0.28  # of the circle around a number
LAYERS = 30  # of SmolLM2
# (middle x, middle y, width, text, lessons, colour)
PARTS = (
    (STREAM, 0.46, 2.6, Text(en="words as vectors", zh="词变成向量"), (), GROUPS[9]),
    (STREAM, 1.72, 2.6, Text(en="normalization", zh="归一化"), (2, 5, 6), GROUPS[0]),
    (STREAM, 2.68, 2.6, Text(en="positions", zh="位置"), (7,), GROUPS[1]),
    (STREAM, 3.64, 2.6, Text(en="attention", zh="注意力"), (10,), GROUPS[2]),
    (STREAM, 4.98, 2.6, Text(en="normalization", zh="归一化"), (2, 5, 6), GROUPS[0]),
    (STREAM, 5.94, 2.6, Text(en="feed-forward, SwiGLU", zh="前馈网络、SwiGLU"), (8, 9), GROUPS[3]),
    (STREAM, 7.52, 2.6, Text(en="the next word", zh="下一个词"), (), GROUPS[9]),
    (8.7, 1.0, 4.0, Text(en="why normalize at all?", zh="为什么要归一化？"), (1,), GROUPS[5]),
    (8.7, 2.3, 4.0, Text(en="BatchNorm: running statistics", zh="批量归一化的移动统计量"), (3,), GROUPS[5]),
    (8.7, 3.6, 4.0, Text(en="when BatchNorm fails", zh="批量归一化何时失效"), (4,), GROUPS[5]),
    (8.7, 5.1, 4.0, Text(en="the whole layer", zh="完整的一层"), (11,), GROUPS[4]),
    (8.7, 6.6, 4.0, Text(en="how fast? CUDA timing", zh="有多快？CUDA 计时"), (12,), GROUPS[6]),
)
RESIDUALS = ((1.14, 4.24), (4.4, 6.54))  # where each skip leaves the stream and where it is added
LAYER = (0.55, 0.98, 5.9, 5.84)  # left, bottom, width and height of what is there 30 times


def lesson_map(figure: Figure) -> Callable[[], str]:
    """The map; update() takes nothing, for nothing moves."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDE), ylim=(0, HIGH))
    axes.set_axis_off()
    arrow(axes, (STREAM, 0.9), (STREAM, 7.12))
    left, bottom, width, height = LAYER
    frame = FancyBboxPatch((left, bottom), width, height, boxstyle="round,pad=0,rounding_size=0.2", fc="none", ec=QUIET)
    axes.add_patch(frame)
    axes.text(left + width - 0.12, bottom + height - 0.12, f"× {LAYERS}", ha="right", va="top", size=13, color=INK)
    for start, end in RESIDUALS:
        skip(axes, start, end)
    for x, y, width, text, _, colour in PARTS:
        box(axes, x, y, width, str(text), colour)
    for x, y, lesson in badges():
        badge(axes, x, y, lesson)
    return lambda: str(SEEN)


def badges() -> Iterator[tuple[float, float, int]]:
    """Where the lessons' numbers stand, to the right of their part, and the lesson."""
    for x, y, width, _, lessons, _ in PARTS:
        for i, lesson in enumerate(lessons):
            yield x + width / 2 + 0.35 + 0.62 * i, y, lesson


def links() -> list[tuple[tuple[float, float, float, float], str, str]]:
    """What can be clicked: left, top, width and height as shares of the picture, the lesson's file, its number.

    Every number, and the part itself where one lesson alone belongs to it.
    """
    found = [(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS, lesson) for x, y, lesson in badges()]
    found += [(x - w / 2, y - 0.4, w, 0.8, lessons[0]) for x, y, w, _, lessons, _ in PARTS if len(lessons) == 1]
    return [
        (
            (x / WIDE, 1 - (y + height) / HIGH, width / WIDE, height / HIGH),
            f"{LESSONS[lesson].name}.ipynb",
            f"{lesson:02}",
        )
        for x, y, width, height, lesson in found
    ]


def box(axes: Axes, x: float, y: float, width: float, text: str, colour: str) -> None:
    """A rounded box with its text in the middle."""
    shape = FancyBboxPatch(
        (x - width / 2, y - 0.36), width, 0.72, boxstyle="round,pad=0.04,rounding_size=0.16", fc=colour, ec=INK, lw=0.9
    )
    axes.add_patch(shape).set_zorder(3)
    axes.text(x, y, text, ha="center", va="center", size=11, color=INK, zorder=4)


def badge(axes: Axes, x: float, y: float, lesson: int) -> None:
    """The number of a lesson in a circle."""
    axes.plot(x, y, "o", ms=20, mfc=MOVED, mec=INK, mew=0.9, zorder=4)
    axes.text(x, y, f"{lesson:02}", ha="center", va="center_baseline", size=10, color=INK, zorder=5)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """The stream that runs through the layer."""
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=INK, lw=1.4, zorder=2))


def skip(axes: Axes, start: float, end: float) -> None:
    """A residual connection: out of the stream, past the two parts, and added to it again."""
    axes.plot([STREAM, 1.1, 1.1, STREAM - 0.13], [start, start, end, end], color=QUIET, lw=1.4, zorder=1)
    axes.plot(STREAM, end, "o", ms=14, mfc="white", mec=INK, mew=0.9, zorder=4)
    axes.text(STREAM, end, "+", ha="center", va="center_baseline", size=12, color=INK, zorder=5)


def linked() -> LinkedPicture:
    """The map whose numbers and parts can be clicked."""
    return LinkedPicture(lesson_map, size=(10, 5.4), links=links())
