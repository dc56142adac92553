"""The map of lessons: a pre-norm Transformer layer, and on every part the number of the lesson that builds it."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from blocklab.language import Text
from blocklab.pictures.palette import GROUPS, INK, MOVED, QUIET

SEEN = Text(
    en="A Transformer layer, and the lesson for each part. Filled circles: ready. Open circles: to come.",
    zh="一个 Transformer 层，以及讲解各部分的课程。实心圆：已经写好；空心圆：尚未写好。",
)
# (middle x, middle y, width, text, lessons, colour)
PARTS = (
    (2.0, 0.6, 2.6, Text(en="word embedding", zh="词嵌入"), (), GROUPS[9]),
    (2.0, 1.75, 2.6, Text(en="+ positional encoding", zh="+ 位置编码"), (7,), GROUPS[1]),
    (2.0, 3.1, 2.6, Text(en="normalization", zh="归一化"), (2, 5, 6), GROUPS[0]),
    (2.0, 4.25, 2.6, Text(en="attention", zh="注意力"), (10,), GROUPS[2]),
    (2.0, 5.7, 2.6, Text(en="normalization", zh="归一化"), (2, 5, 6), GROUPS[0]),
    (2.0, 6.85, 2.6, Text(en="feed-forward, SwiGLU", zh="前馈网络、SwiGLU"), (8, 9), GROUPS[3]),
    (7.6, 0.9, 3.6, Text(en="why normalize at all?", zh="为什么要归一化？"), (1,), GROUPS[5]),
    (7.6, 2.3, 3.6, Text(en="running statistics, momentum", zh="移动统计量与动量"), (3,), GROUPS[5]),
    (7.6, 3.7, 3.6, Text(en="when BatchNorm fails", zh="批量归一化何时失效"), (4,), GROUPS[5]),
    (7.6, 5.1, 3.6, Text(en="the whole layer: encoder, decoder", zh="完整的层：编码器与解码器"), (11,), GROUPS[4]),
    (7.6, 6.5, 3.6, Text(en="how fast? CUDA timing", zh="有多快？CUDA 计时"), (12,), GROUPS[6]),
)
RESIDUALS = ((2.5, 4.95), (5.1, 7.55))  # where each skip leaves the stream and where it is added


def lesson_map(ready: tuple[int, ...]) -> Callable[[Figure], Callable[[], str]]:
    """The picture for the lessons that are written so far; update() takes nothing, for nothing moves."""

    def picture(figure: Figure) -> Callable[[], str]:
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-0.9, 11.1), ylim=(0, 8))
        axes.set_axis_off()
        arrow(axes, (2.0, 0.9), (2.0, 7.95))
        for start, end in RESIDUALS:
            skip(axes, start, end)
        for x, y, width, text, lessons, colour in PARTS:
            box(axes, x, y, width, str(text), colour)
            for i, lesson in enumerate(lessons):
                badge(axes, x + width / 2 + 0.35 + 0.62 * i, y, lesson, lesson in ready)
        return lambda: str(SEEN)

    return picture


def box(axes: Axes, x: float, y: float, width: float, text: str, colour: str) -> None:
    """A rounded box with its text in the middle."""
    shape = FancyBboxPatch(
        (x - width / 2, y - 0.36), width, 0.72, boxstyle="round,pad=0.04,rounding_size=0.16", fc=colour, ec=INK, lw=0.9
    )
    axes.add_patch(shape).set_zorder(3)
    axes.text(x, y, text, ha="center", va="center", size=11, color=INK, zorder=4)


def badge(axes: Axes, x: float, y: float, lesson: int, ready: bool) -> None:
    """The number of a lesson in a circle, filled when the lesson is written."""
    axes.plot(x, y, "o", ms=20, mfc=MOVED if ready else "white", mec=INK, mew=0.9, zorder=4)
    axes.text(x, y, f"{lesson:02}", ha="center", va="center_baseline", size=10, color=INK, zorder=5)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """The stream that runs through the layer."""
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=INK, lw=1.4, zorder=2))


def skip(axes: Axes, start: float, end: float) -> None:
    """A residual connection: out of the stream, past the two parts, and added to it again."""
    axes.plot([2.0, 0.2, 0.2, 1.8], [start, start, end, end], color=QUIET, lw=1.4, zorder=1)
    axes.plot(2.0, end, "o", ms=14, mfc="white", mec=INK, mew=0.9, zorder=4)
    axes.text(2.0, end, "+", ha="center", va="center_baseline", size=12, color=INK, zorder=5)
