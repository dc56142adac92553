"""The lesson map: a diagram of the chat model, and beside it the path through the lessons, from the bottom up."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from blocklab_course.i18n import Text
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.manifest import Lesson
from blocklab_course.panel import LinkedPicture
from blocklab_course.panel.palette import GROUPS, INK, MOVED, PAPER, QUIET

SEEN = Text(
    en="Left, the chat model: one of its 30 layers drawn large, with two RMSNorms and rotary positions inside "
    "attention, and a last RMSNorm above it. Right, the path through the lessons, from the bottom up, with four side "
    "trips. A lesson has the color of the part that it leads to; white lessons are not about any one part.",
    zh="左边是聊天模型的结构：放大画出了 30 层里的一层，其中有两处 RMSNorm，旋转位置编码在注意力里面；层上方还有"
    "最后一处 RMSNorm。右边是课程的路线，从下往上走，另有四课选修。颜色表示这一课为哪个模块做准备；"
    "白色的课不对应单个模块。",
)
SIZE = WIDE, HIGH = 6.75, 6.4  # inches, and the units of the drawing
LAYERS = 30  # of SmolLM2
TOPICS = {
    "why_normalize": Text(en="why a norm?", zh="为什么要归一化"),
    "norm_axes": Text(en="which numbers share a mean", zh="哪些数共用一个均值"),
    "ema_momentum": Text(en="BatchNorm’s momentum", zh="批量归一化的动量"),
    "small_batches": Text(en="BatchNorm’s small batches", zh="批量归一化与小批量"),
    "layer_norm": Text(en="LayerNorm", zh="层归一化"),
    "rms_norm": Text(en="RMSNorm", zh="RMSNorm"),
    "activations_and_gates": Text(en="a gate: SwiGLU", zh="门控：SwiGLU"),
    "swiglu_width": Text(en="where 11008 comes from", zh="11008 的来历"),
    "attention": Text(en="attention", zh="注意力"),
    "positional_encoding": Text(en="positions from sines", zh="正弦位置编码"),
    "rotary_positions": Text(en="rotary positions", zh="旋转位置编码"),
    "transformer_layers": Text(en="the whole layer", zh="完整的一层"),
    "kv_cache": Text(en="the KV cache", zh="键值缓存"),
    "cuda_timing": Text(en="how fast on a GPU", zh="GPU 上有多快"),
    "your_model": Text(en="your chat model", zh="你的聊天模型"),
}
START = Text(en="you are here", zh="你在这里")
COLOURS = {"normalization": GROUPS[0], "positions": GROUPS[1], "attention": GROUPS[2], "feed-forward": GROUPS[3]}
"""The colour of each part of the layer that lessons lead to; of other lessons it is that of the paper."""
MAIN_LEGEND = Text(en="the main route", zh="主线")
SIDE_LEGEND = Text(en="a side trip", zh="选修，可以不走")
SUM_LEGEND = Text(en="adds what went around", zh="加上绕过来的数")
COLOUR_LEGEND = Text(en="color: the part it leads to", zh="颜色：为哪个模块做准备")

STREAM = 1.65  # where the data flows upwards
AROUND = 0.48  # where it goes around a part
LAYER = (0.25, 0.78, 2.85, 3.42)  # left, bottom, width and height of the frame around one layer
RESIDUALS = ((0.93, 2.57), (2.74, 3.93))  # where each skip connection leaves the stream and where it is added
LOW = 0.36  # height of a box with one line of text


class Part(NamedTuple):
    """A box of the diagram. The text stands at the top, and a click on it opens the lesson."""

    top: float
    width: float
    height: float
    text: Text
    lesson: str | None
    colour: str


PARTS = (
    Part(0.54, 1.7, LOW, Text(en="words as vectors", zh="词变成向量"), None, GROUPS[9]),
    Part(1.42, 1.7, LOW, Text(en="RMSNorm", zh="RMSNorm"), "rms_norm", COLOURS["normalization"]),
    Part(2.42, 1.7, 0.84, Text(en="attention", zh="注意力"), "attention", COLOURS["attention"]),
    Part(2.02, 1.46, 0.34, Text(en="rotary positions", zh="旋转位置编码"), "rotary_positions", COLOURS["positions"]),
    Part(3.23, 1.7, LOW, Text(en="RMSNorm", zh="RMSNorm"), "rms_norm", COLOURS["normalization"]),
    Part(3.76, 1.7, LOW, Text(en="SwiGLU", zh="SwiGLU"), "activations_and_gates", COLOURS["feed-forward"]),
    Part(4.68, 1.7, LOW, Text(en="RMSNorm", zh="RMSNorm"), "rms_norm", COLOURS["normalization"]),
    Part(5.22, 1.7, LOW, Text(en="the next word", zh="下一个词"), None, GROUPS[9]),
)
PATH, TURNOFF = 3.75, 4.3  # where the main route and the side trips go upwards
FIRST, STEP = 0.36, 0.378  # height of the start, and of a lesson above the one before
RADIUS = 0.15  # of the circle around a number
MAIN, SIDE = {"color": MOVED, "linewidth": 4}, {"color": QUIET, "linewidth": 1.8}


def lesson_map(figure: Figure) -> Callable[[], str]:
    """Draw the map; update() takes no arguments because nothing moves."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDE), ylim=(0, HIGH))
    axes.set_axis_off()
    arrow(axes, (STREAM, 0.54), (STREAM, 4.86))
    left, bottom, width, height = LAYER
    style = {"boxstyle": "round,pad=0,rounding_size=0.12", "fc": "none", "ec": QUIET}
    axes.add_patch(FancyBboxPatch((left, bottom), width, height, **style))
    axes.text(left + width - 0.06, bottom + height - 0.08, f"× {LAYERS}", ha="right", va="top", size=11, color=INK)
    for start, end in RESIDUALS:
        skip(axes, start, end)
    for part in PARTS:
        box(axes, part)
    draw_legend(axes)
    draw_path(axes)
    return lambda: str(SEEN)


def stations() -> Iterator[tuple[float, float, Lesson]]:
    """Where the number of each lesson stands: those of side trips to the right of the path."""
    for place, lesson in enumerate(LESSONS[1:], 1):
        yield TURNOFF if lesson.side_trip else PATH, FIRST + STEP * place, lesson


def links() -> list[tuple[tuple[float, float, float, float], str, str]]:
    """What can be clicked: left, top, width and height as fractions of the figure, the lesson's file, its number.

    These are the number of every lesson with its topic, and the line of text of every part that opens a lesson.
    """
    by_name = {lesson.package: lesson for lesson in LESSONS}
    found = [(x - RADIUS, y - STEP / 2, WIDE - x, STEP, lesson) for x, y, lesson in stations()]
    found += [
        (STREAM - part.width / 2, part.top - LOW, part.width, LOW, by_name[part.lesson])
        for part in PARTS
        if part.lesson
    ]
    return [
        (
            (x / WIDE, 1 - (y + height) / HIGH, width / WIDE, height / HIGH),
            f"{lesson.name}.ipynb",
            f"{lesson.number:02}",
        )
        for x, y, width, height, lesson in found
    ]


def draw_path(axes: Axes) -> None:
    """The main route as a line from bottom to top, each side trip as a thin line that comes back to it, the lessons
    on them, and beside each its topic."""
    places = list(stations())
    axes.plot([PATH, PATH], [FIRST, places[-1][1]], **MAIN, zorder=2)
    axes.plot(PATH, FIRST, "o", ms=12, mfc=MOVED, mec=INK, mew=0.9, zorder=4)
    axes.text(PATH + 0.26, FIRST, str(START), ha="left", va="center_baseline", size=11.5, style="italic", color=INK)
    for side, run in groupby(places, key=lambda place: place[0]):
        if side == TURNOFF:
            heights = [y for _, y, _ in run]
            low, high = heights[0], heights[-1]
            ends = [low - STEP / 2, low, high, high + STEP / 2]
            axes.plot([PATH, TURNOFF, TURNOFF, PATH], ends, **SIDE, zorder=1)
    for x, y, lesson in places:
        colour = COLOURS.get(lesson.diagram, PAPER)
        axes.plot(x, y, "o", ms=22, mfc=colour, mec=INK, mew=0.9, zorder=4)
        axes.text(x, y, f"{lesson.number:02}", ha="center", va="center_baseline", size=10.5, color=INK, zorder=5)
        topic = str(TOPICS[lesson.package])
        axes.text(x + 0.26, y, topic, ha="left", va="center_baseline", size=11.5, color=INK)


def draw_legend(axes: Axes) -> None:
    """At the top left: what the lines, the colours and ⊕ mean."""
    places = [HIGH - 0.24 - 0.23 * row for row in range(4)]
    for y, text in zip(places, (MAIN_LEGEND, SIDE_LEGEND, COLOUR_LEGEND, SUM_LEGEND), strict=True):
        axes.text(0.8, y, str(text), ha="left", va="center_baseline", size=10.5, color=INK)
    main, side, colour, added = places
    axes.plot([0.25, 0.65], [main, main], **MAIN)
    axes.plot([0.25, 0.65], [side, side], **SIDE)
    for x, part in ((0.35, "normalization"), (0.55, "attention")):
        axes.plot(x, colour, "o", ms=9, mfc=COLOURS[part], mec=INK, mew=0.7)
    draw_sum(axes, 0.45, added)


def box(axes: Axes, part: Part) -> None:
    """A rounded box with its text."""
    corner = STREAM - part.width / 2, part.top - part.height
    style = {"boxstyle": "round,pad=0,rounding_size=0.1", "fc": part.colour, "ec": INK, "lw": 0.9}
    axes.add_patch(FancyBboxPatch(corner, part.width, part.height, **style)).set_zorder(3)
    middle = part.top - min(part.height, LOW) / 2
    axes.text(STREAM, middle, str(part.text), ha="center", va="center", size=11.5, color=INK, zorder=4)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str = INK) -> None:
    """A line along which the data flows: through the layer, or around a part."""
    style = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 12}
    axes.add_patch(FancyArrowPatch(start, end, color=color, lw=1.4, zorder=2, **style))


def skip(axes: Axes, start: float, end: float) -> None:
    """A residual connection: out of the stream, past a normalization and a part, and added to the stream again."""
    axes.plot([STREAM, AROUND, AROUND], [start, start, end], color=QUIET, lw=1.4, zorder=1)
    arrow(axes, (AROUND, end), (STREAM - 0.08, end), color=QUIET)
    draw_sum(axes, STREAM, end)


def draw_sum(axes: Axes, x: float, y: float) -> None:
    """A plus sign in a circle."""
    axes.plot(x, y, "o", ms=12, mfc=PAPER, mec=INK, mew=0.9, zorder=4)
    axes.text(x, y, "+", ha="center", va="center_baseline", size=11, color=INK, zorder=5)


def linked() -> LinkedPicture:
    """The map whose lessons and parts can be clicked."""
    return LinkedPicture(lesson_map, size=SIZE, links=links())
