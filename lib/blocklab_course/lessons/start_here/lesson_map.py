"""The lesson map: a diagram of the chat model, and beside every part the numbers of the lessons about it."""

from collections.abc import Callable, Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from blocklab_course.i18n import Text
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.manifest import Lesson
from blocklab_course.panel import LinkedPicture
from blocklab_course.panel.palette import GROUPS, INK, MOVED, QUIET

SEEN = Text(
    en="The chat model: one of its 30 layers drawn large, with two normalizations and positions inside attention, a "
    "last normalization above it, and the numbers of the lessons beside each part.",
    zh="聊天模型的结构：放大画出了 30 层里的一层，其中有两处归一化，位置编码在注意力里面；层上方还有最后一处归一化。"
    "各部分旁边是讲解它的课程编号。",
)
SIZE = 10, 5.4  # inches
WIDE, HIGH = 12, 8
STREAM = 2.9
RADIUS = 0.28  # of the circle around a number
LOW = 0.62  # height of a box with one line of text
LAYERS = 30  # of SmolLM2
BESIDE = (  # the parts in the column on the right, about no single part of the layer
    (Text(en="why normalize at all?", zh="为什么要归一化？"), "why_normalize", GROUPS[5]),
    (Text(en="BatchNorm: running statistics", zh="批量归一化的运行统计量"), "ema_momentum", GROUPS[5]),
    (Text(en="when BatchNorm fails", zh="批量归一化何时失效"), "small_batches", GROUPS[5]),
    (Text(en="the whole layer", zh="完整的一层"), "transformer_layers", GROUPS[4]),
    (Text(en="how fast? CUDA timing", zh="有多快？CUDA 计时"), "cuda_timing", GROUPS[6]),
    (Text(en="your chat model", zh="你的聊天模型"), "your_model", GROUPS[7]),
)
# (middle x, top, width, height, text, lesson, colour); the text stands at the top, and a click on it opens the lesson,
# whose number stands beside it with those of the other lessons about this part of the diagram
PARTS = (
    (STREAM, 0.7, 2.6, LOW, Text(en="words as vectors", zh="词变成向量"), None, GROUPS[9]),
    (STREAM, 2.0, 2.6, LOW, Text(en="normalization", zh="归一化"), "rms_norm", GROUPS[0]),
    (STREAM, 3.5, 2.6, 1.26, Text(en="attention", zh="注意力"), "attention", GROUPS[2]),
    (STREAM, 2.84, 2.2, 0.5, Text(en="rotary positions", zh="旋转位置编码"), "rotary_positions", GROUPS[1]),
    (STREAM, 4.86, 2.6, LOW, Text(en="normalization", zh="归一化"), "rms_norm", GROUPS[0]),
    (STREAM, 5.7, 2.6, LOW, Text(en="feed-forward, SwiGLU", zh="前馈网络、SwiGLU"), "activations_and_gates", GROUPS[3]),
    (STREAM, 7.06, 2.6, LOW, Text(en="normalization", zh="归一化"), "rms_norm", GROUPS[0]),
    (STREAM, 7.92, 2.6, LOW, Text(en="the next word", zh="下一个词"), None, GROUPS[9]),
    *((8.9, round(1.19 + 1.25 * place, 2), 3.7, LOW, *part) for place, part in enumerate(BESIDE)),
)
RESIDUALS = ((1.16, 3.75), (4.02, 5.95))  # where each skip connection leaves the stream and where it is added
LAYER = (0.55, 0.92, 5.9, 5.3)  # left, bottom, width and height of the frame around one layer


def lesson_map(figure: Figure) -> Callable[[], str]:
    """Draw the map; update() takes no arguments because nothing moves."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDE), ylim=(0, HIGH))
    axes.set_axis_off()
    arrow(axes, (STREAM, 0.7), (STREAM, 7.3))
    left, bottom, width, height = LAYER
    frame = FancyBboxPatch((left, bottom), width, height, boxstyle="round,pad=0,rounding_size=0.2", fc="none", ec=QUIET)
    axes.add_patch(frame)
    axes.text(left + width - 0.12, bottom + height - 0.12, f"× {LAYERS}", ha="right", va="top", size=13, color=INK)
    for start, end in RESIDUALS:
        skip(axes, start, end)
    for x, top, width, height, text, _, colour in PARTS:
        box(axes, x, top, width, height, str(text), colour)
    for x, y, lesson in badges():
        badge(axes, x, y, lesson.number)
    return lambda: str(SEEN)


def line_of(top: float, height: float) -> float:
    """The height of a part's text and badges: in the middle of a low box, at the top of a high one."""
    return top - min(height, LOW) / 2


def about(room: str | None) -> list[Lesson]:
    """The lesson of this name and, in their order, the others that explain the same part of the layer."""
    part = next((lesson.diagram for lesson in LESSONS if lesson.package == room), "")
    return [lesson for lesson in LESSONS if lesson.package == room or (part and lesson.diagram == part)]


def badges() -> Iterator[tuple[float, float, Lesson]]:
    """Where the numbers of the lessons stand, to the right of their part."""
    for x, top, width, height, _, room, _ in PARTS:
        for i, lesson in enumerate(about(room)):
            yield max(x + width / 2, STREAM + 1.3) + 0.35 + 0.62 * i, line_of(top, height), lesson


def links() -> list[tuple[tuple[float, float, float, float], str, str]]:
    """What can be clicked: left, top, width and height as fractions of the figure, the lesson's file, its number.

    These are the numbers, and the line of text of every part that opens a lesson.
    """
    by_room = {lesson.package: lesson for lesson in LESSONS}
    found = [(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS, lesson) for x, y, lesson in badges()]
    found += [
        (x - wide / 2, top - min(high, LOW), wide, min(high, LOW), by_room[room])
        for x, top, wide, high, _, room, _ in PARTS
        if room
    ]
    return [
        (
            (x / WIDE, 1 - (y + height) / HIGH, width / WIDE, height / HIGH),
            f"{lesson.name}.ipynb",
            f"{lesson.number:02}",
        )
        for x, y, width, height, lesson in found
    ]


def box(axes: Axes, x: float, top: float, width: float, height: float, text: str, colour: str) -> None:
    """A rounded box with its text."""
    shape = FancyBboxPatch(
        (x - width / 2, top - height),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.16",
        fc=colour,
        ec=INK,
        lw=0.9,
    )
    axes.add_patch(shape).set_zorder(3)
    axes.text(x, line_of(top, height), text, ha="center", va="center", size=11, color=INK, zorder=4)


def badge(axes: Axes, x: float, y: float, number: int) -> None:
    """The number of a lesson in a circle."""
    axes.plot(x, y, "o", ms=20, mfc=MOVED, mec=INK, mew=0.9, zorder=4)
    axes.text(x, y, f"{number:02}", ha="center", va="center_baseline", size=10, color=INK, zorder=5)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str = INK) -> None:
    """A line along which the data flows: through the layer, or around a part."""
    style = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 14}
    axes.add_patch(FancyArrowPatch(start, end, color=color, lw=1.4, zorder=2, **style))


def skip(axes: Axes, start: float, end: float) -> None:
    """A residual connection: out of the stream, past a normalization and a part, and added to the stream again."""
    axes.plot([STREAM, 1.1, 1.1], [start, start, end], color=QUIET, lw=1.4, zorder=1)
    arrow(axes, (1.1, end), (STREAM - 0.12, end), color=QUIET)
    axes.plot(STREAM, end, "o", ms=14, mfc="white", mec=INK, mew=0.9, zorder=4)
    axes.text(STREAM, end, "+", ha="center", va="center_baseline", size=12, color=INK, zorder=5)


def linked() -> LinkedPicture:
    """The map whose numbers and parts can be clicked."""
    return LinkedPicture(lesson_map, size=SIZE, links=links())
