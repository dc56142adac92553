"""What every implementation took, as a multiple of the shortest time possible, beside what its bytes foretell."""

from collections.abc import Callable

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from blocklab import fused
from blocklab_course.benchmarking import bytes_per_number
from blocklab_course.benchmarking.measured_bytes import WIDTH, Key, Measured, measure_here
from blocklab_course.i18n import Text
from blocklab_course.lessons.cuda_timing.guess_then_bytes import DIRECTIONS, name_of
from blocklab_course.panel import Choice, Panel, Prediction
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.numbers import short_number
from blocklab_course.panel.palette import INK, OTHER, POKED, QUIET

OPS = {"LayerNorm": "layer_norm", "RMSNorm": "rms_norm", "SwiGLU": "swiglu"}
"""For a panel's choice: what is computed."""

GUESS = Prediction(
    OPS,
    right="layer_norm",
    question=Text(
        en="Step by step, forward, width 4096: which of the three takes several times as long as its bytes say?",
        zh="一步一步做，前向，宽度 4096：哪一个的实际用时，是按字节算出的好几倍？",
    ),
    explanation=Text(
        en="It is LayerNorm: choose it, and its bar ends at 28, while the dashed frame ends at 5.",
        zh="是 LayerNorm：选中它，横条到 28 为止，虚线框到 5 就结束了。",
    ),
)
"""Which of them takes several times as long as its bytes foretell, step by step, forward, at width 4096."""

ARMS = {
    "eager": Text(en="step by step", zh="一步一步"),
    "torch": "torch",
    "plain": Text(en="blocklab, unfused", zh="blocklab，未融合"),
    "compiled": "torch.compile",
    "fused": Text(en="blocklab, fused", zh="blocklab，融合"),
    "liger": "Liger",
}
"""The implementations, from top to bottom."""

FRAME = {"facecolor": "none", "edgecolor": INK, "linestyle": "--"}  # around what is predicted

ROOF = Text(en="memory roof", zh="屋顶线")
TIME = Text(en="time / time at the roof", zh="所用时间 / 达到屋顶线时的时间")
FORETOLD = Text(en="by bytes", zh="按字节算")
TOOK = Text(en="measured", zh="实测")
MIDDLE = Text(en="20% to 80% of the rounds", zh="各轮的 20% 到 80%")
YOURS = Text(en="your GPU", zh="你的 GPU")
ABSENT = Text(en="not in the recording", zh="记录中没有")
SEEN = Text(
    en="{op}, {direction}, {width} wide, {dtype}. Step by step: by bytes {foretold} times the time at the roof, "
    "{took}. Nearest to the roof: {best}. Recorded on {device} ({threads} CPU thread), torch {torch}, {date}.",
    zh="{op}，{direction}，宽 {width}，{dtype}。一步一步做，所用时间与达到屋顶线时相比："
    "按字节算 {foretold} 倍，{took}。离屋顶线最近的：{best}。"
    "记录：{device}（{threads} 个 CPU 线程），torch {torch}，{date}。",
)
TIMES = Text(en="measured {times} times", zh="实测 {times} 倍")
NAMED = Text(en="{arm}, {times} times", zh="{arm}，{times} 倍")


def on_your_gpu() -> Measured | None:
    """The same measured on this machine, where it has a GPU that the fused functions run on."""
    return measure_here() if fused.available() else None


def widths(measured: Measured) -> dict[str, int]:
    """The widths of a recording, for a panel's choice."""
    return {str(width): width for width in sorted({key.width for key in measured.bytes})}


def dtypes(measured: Measured) -> dict[str, str]:
    """Its types of numbers, for a panel's choice."""
    return {dtype: dtype for dtype in sorted({key.dtype for key in measured.bytes}, reverse=True)}


def against_the_roof(measured: Measured, yours: Measured | None = None) -> Callable:
    """A picture of a recording, one bar per implementation, and of a second device as marks."""

    def picture(figure: Figure) -> Callable[..., str]:
        """update(op, direction, dtype, width): values of the panel's choices."""
        keys = {*measured.bytes, *(yours.bytes if yours else ())}
        arms = [arm for arm in ARMS if any(key.implementation == arm for key in keys)]
        axes = add_axes(figure, wide=(0.155, 0.15, 0.83, 0.73), narrow=(0.32, 0.3, 0.65, 0.62))
        prepare(axes, arms, yours)
        places = range(len(arms))
        foretold = axes.barh(places, 0, 0.5, left=1, animated=True, **FRAME)
        took = axes.barh(places, 0, 0.34, left=1, animated=True, color=OTHER)
        ends = [axes.plot([], [], color=INK, linewidth=1.2, animated=True)[0] for _ in arms]
        marks = [axes.plot([], [], "o", color=POKED, markersize=8, animated=True)[0] for _ in arms]
        texts = [axes.text(1, y, "", va="center", size=10, color=INK, animated=True) for y in places]

        def update(op: str, direction: str, dtype: str, width: int) -> str:
            fewest = bytes_per_number(op, getattr(torch, dtype), direction)
            found = {}
            for y, arm in enumerate(arms):
                key = Key(op, arm, direction, dtype, width)
                foretold[y].set_width(times_by_bytes(op, arm, direction) - 1)
                spread = measured.bytes.get(key)
                mine = yours and yours.bytes.get(key)
                took[y].set_width(0 if spread is None else spread.median / fewest - 1)
                ends[y].set_visible(spread is not None)
                marks[y].set_visible(mine is not None)
                texts[y].set(x=1.04, text="" if mine else str(ABSENT), color=QUIET)
                if spread is not None:
                    found[arm] = spread.median / fewest
                    ends[y].set_data([spread.p20 / fewest, spread.p80 / fewest], [y, y])
                    texts[y].set(x=1.04 * max(spread.p80 / fewest, 1), text=short_number(found[arm]), color=INK)
                if mine is not None:
                    marks[y].set_data([mine.median / fewest], [y])
            best = min(found, key=found.get, default=None)
            return SEEN.format(
                op=name_of(op, OPS),
                direction=name_of(direction, DIRECTIONS),
                width=width,
                dtype=dtype,
                foretold=short_number(times_by_bytes(op, "eager", direction)),
                took=TIMES.format(times=short_number(found["eager"])) if "eager" in found else ABSENT,
                best=ABSENT if best is None else NAMED.format(arm=ARMS[best], times=short_number(found[best])),
                **{key: measured.provenance[key] for key in ("device", "threads", "torch")},
                date=measured.provenance["date"].partition("T")[0],
            )

        return update

    return picture


def times_by_bytes(op: str, arm: str, direction: str) -> float:
    """How many times the fewest bytes an implementation has to move: once, but for the one that goes step by step."""
    way = "eager" if arm == "eager" else "fused"
    return bytes_per_number(op, torch.float32, direction, way) / bytes_per_number(op, torch.float32, direction)


def prepare(axes: Axes, arms: list[str], yours: Measured | None) -> None:
    """The roof at 1, and a logarithmic axis: bars start at the roof, and twice the time is always as far."""
    axes.set(xscale="log", xlim=(0.8, 100), ylim=(len(arms) - 0.45, -0.55), xlabel=str(TIME))
    axes.set_xticks(ticks := (1, 2, 4, 8, 16, 32, 64), [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(arms)), [str(ARMS[arm]) for arm in arms])
    axes.tick_params(axis="y", length=0)
    style_axes(axes, edges=("bottom",), grid="x")
    axes.axvline(1, color=INK, linewidth=1.8)
    axes.text(1, 1.02, str(ROOF), transform=axes.get_xaxis_transform(), ha="center", va="bottom", size=10, color=INK)
    handles = [
        Patch(label=str(FORETOLD), **FRAME),
        Patch(color=OTHER, label=str(TOOK)),
        Line2D([], [], color=INK, linewidth=1.2, label=str(MIDDLE)),
    ]
    if yours is not None:
        [mark] = axes.plot([], [], "o", color=POKED, markersize=8, label=str(YOURS))
        handles.append(mark)
    above = {"loc": "lower right", "bbox_to_anchor": (1, 0.99), "ncols": 4}
    below = {"loc": "upper right", "bbox_to_anchor": (1, -0.17)}
    axes.legend(handles=handles, **(below if is_narrow(axes.figure) else above), frameon=False, labelcolor=INK)


def panel(measured: Measured, yours: Measured | None = None, **own: Control) -> Panel:
    """The picture of a recording, and of a second device, with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "op": Choice(OPS, "rms_norm", label=Text(en="function", zh="函数")),
        "direction": Choice(DIRECTIONS, "forward", label=Text(en="pass", zh="方向")),
        "dtype": Choice(dtypes(measured), "float32", label=Text(en="numbers", zh="数据类型")),
        "width": Choice(widths(measured), WIDTH, label=Text(en="width", zh="宽度")),
    }
    return Panel(against_the_roof(measured, yours), size=(10, 3.6), narrow=(4.6, 4.6), **controls | own)
