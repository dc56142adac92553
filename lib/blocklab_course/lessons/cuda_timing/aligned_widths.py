"""How many bits of a row of some hidden width go at once, and the speeds of matrix products that were measured."""

from collections.abc import Callable, Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blocklab_course.benchmarking import load_bits
from blocklab_course.benchmarking.measurement import Spread
from blocklab_course.benchmarking.products import PRODUCTS
from blocklab_course.benchmarking.recording import Recording, TimedRow
from blocklab_course.i18n import Text
from blocklab_course.lessons.cuda_timing.guess_then_bytes import DTYPES
from blocklab_course.panel import Choice, Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, POKED, QUIET

NARROWEST, WIDEST = 10848, 11008
TICKS = (*range(NARROWEST, WIDEST + 1, 32), 10922)

ROLES = {product.formula: role for role, product in PRODUCTS.items()}
"""For a panel's choice: the three matrix products of a feed-forward layer, x (tokens, d), h (tokens, hidden)."""

ROWS_SO_LONG = {
    "N": Text(en="the result has such rows", zh="结果的行这么长"),
    "K": Text(en="both inputs have such rows", zh="两个输入的行都这么长"),
    "M": Text(en="one input has such rows", zh="一个输入的行这么长"),
}

GUESS = Prediction(
    {
        Text(en="bits at once", zh="一次读写的位数"): "bits",
        Text(en="tiles and waves", zh="分块和波次"): "tiles",
        Text(en="neither", zh="都不会"): "neither",
    },
    right="bits",
    question=Text(
        en="By which of the two does the width 10922 lose on an H100?",
        zh="在 H100 上，拖慢宽度 10922 的是哪一种？",
    ),
    explanation=Text(
        en="The bits at once fit: show an H100, and 10922, whose rows are no multiple of 16 bytes apart, has 0.69 "
        "times the speed of 11008, though by tiles and waves it loses nothing.",
        zh="与一次读写的位数相符：显示“一块 H100”，10922 的行距不是 16 字节的整数倍，速度只有 11008 的 0.69 倍；"
        "而按分块和波次，它并不吃亏。",
    ),
)
"""By which of the two 10922 loses on an H100."""

SHOWN = {
    Text(en="nothing", zh="不显示"): "nothing",
    Text(en="an H100", zh="一块 H100"): "H100",
    Text(en="our recording", zh="我们的记录"): "recording",
}
"""For a panel's choice: whose speeds are shown."""

# 10¹² operations a second, float16: 4 products h @ w2 of 4096 rows, where w2 lies as (hidden, D). 10922, and the best
# five of 50 widths:
# https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md
H100 = {10848: 395.62, 10880: 395.52, 10912: 395.16, 10922: 272.73, 10944: 398.38, 11008: 395.01}

BITS = Text(en="bits at once", zh="一次读写的位数")
SPEED = Text(en="speed / 11008's", zh="速度 / 11008 的速度")
NOT_YET = Text(en="here measured speeds appear", zh="实测的速度会出现在这里")
HIDDEN = Text(en="hidden width", zh="隐藏层宽度")
SEEN = Text(
    en="Hidden width {hidden}: a row has {bytes} bytes, so {bits} bits go at once. In {product} {rows}.",
    zh="隐藏层宽度 {hidden}：一行 {bytes} 字节，一次能读写 {bits} 位。在 {product} 里，{rows}。",
)
TIMES = Text(en=" {where}: {times:.2f} times the speed of 11008.", zh="{where}：速度是 11008 的 {times:.2f} 倍。")
UNMEASURED = Text(en=" {where}: not measured.", zh="{where}：没有测。")
ON_H100 = Text(en="H100, float16, w2 stored the other way round", zh="H100，float16，w2 的存放方向相反")
RECORDED = Text(en="{device}, {dtype}, {rows} tokens, d = {d}", zh="{device}，{dtype}，{rows} 个词元，d = {d}")

Speeds = Mapping[tuple[str, int], Spread]


def cited() -> Speeds:
    """The H100's speeds over that of 11008, by role and width."""
    return {("K", width): Spread(*[speed / H100[WIDEST]] * 3) for width, speed in H100.items()}


def speeds(recording: Recording) -> Speeds:
    """The same of a recording, whose rows compare every product with that of 11008 in the same round."""
    products = products_of(recording)
    flops = {row.role: row.flops for row in products if row.width == WIDEST}
    return {
        (row.role, row.width): Spread(
            *(row.flops / flops[row.role] / ratio for ratio in (row.ratio, row.ratio_p80, row.ratio_p20))
        )
        for row in products
    }


def products_of(recording: Recording) -> list[TimedRow]:
    return [row for row in recording.rows if row.role]


def aligned_widths(recording: Recording) -> Callable:
    """A picture of the widths around 10922: above the bits that go at once, below the measured speeds."""
    measured = {"nothing": {}, "H100": cited(), "recording": speeds(recording)}
    widths = range(NARROWEST, WIDEST + 1)

    def picture(figure: Figure) -> Callable[..., str]:
        """update(hidden, dtype, role, shown): the panel's choices."""
        first = products_of(recording)[0]
        d = first.flops // (2 * first.rows * first.width)
        about = {"device": recording.provenance["device"], "dtype": first.dtype, "rows": first.rows, "d": d}
        where = {"H100": ON_H100, "recording": RECORDED.format(**about)}
        left, wide = (0.2, 0.77) if is_narrow(figure) else (0.12, 0.865)
        bits, speed = (figure.add_axes((left, bottom, wide, 0.35)) for bottom in (0.61, 0.16))
        for axes, label in ((bits, BITS), (speed, SPEED)):
            dress(axes, label)
        bits.set(yscale="log", ylim=(8, 180))
        bits.set_yticks(ticks := (16, 32, 64, 128), [str(tick) for tick in ticks])
        speed.set(ylim=(0.6, 1.2), yticks=(0.7, 0.85, 1), xlabel=str(HIDDEN))
        bits.tick_params(labelbottom=False)
        bits.minorticks_off()
        stems = bits.vlines(widths, 8, 8, linewidth=2.2, animated=True)
        [dots] = speed.plot([], [], "D", color=MOVED, markersize=7, animated=True)
        ends = speed.vlines([], 0, 0, color=INK, linewidth=1.2, animated=True)
        middle = {"transform": speed.transAxes, "ha": "center", "va": "center", "color": QUIET, "animated": True}
        not_yet = speed.text(0.25, 0.5, str(NOT_YET), **middle)
        line = speed.axvline(0, color=POKED, linewidth=1.6, linestyle="--", zorder=1, animated=True)
        draggable(line, "hidden", lambda hidden: (hidden, 0.8))

        def update(hidden: int, dtype: str, role: str, shown: str) -> str:
            stems.set_segments([[(width, 8), (width, load_bits(width, DTYPES[dtype]))] for width in widths])
            stems.set_color([POKED if width == hidden else OTHER for width in widths])
            found = {width: spread for (of, width), spread in measured[shown].items() if of == role}
            dots.set_data(list(found), [spread.median for spread in found.values()])
            ends.set_segments([[(width, spread.p20), (width, spread.p80)] for width, spread in found.items()])
            not_yet.set_visible(shown == "nothing")
            line.set_xdata([hidden] * 2)
            seen = SEEN.format(
                hidden=hidden,
                bytes=hidden * DTYPES[dtype].itemsize,
                bits=load_bits(hidden, DTYPES[dtype]),
                product=PRODUCTS[role].formula,
                rows=ROWS_SO_LONG[role],
            )
            if hidden in found:
                seen += TIMES.format(where=where[shown], times=found[hidden].median)
            elif shown in where:
                seen += UNMEASURED.format(where=where[shown])
            return seen

        return update

    return picture


def dress(axes: Axes, label: Text) -> None:
    axes.set(
        xlim=(NARROWEST - 4, WIDEST + 4),
        xticks=(NARROWEST, 10922, WIDEST) if is_narrow(axes.figure) else TICKS,
        ylabel=str(label),
    )
    style_axes(axes, grid="y")
    axes.yaxis.label.set(color=INK, size=10)
    axes.yaxis.set_label_coords(-0.17 if is_narrow(axes.figure) else -0.083, 0.5)


def panel(recording: Recording, **own: Control) -> Panel:
    """The picture of a recording with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "role": Choice(ROLES, "K", label=Text(en="product", zh="乘法")),
        "shown": Choice(SHOWN, "nothing", label=Text(en="measured", zh="实测")),
        "hidden": Slider(NARROWEST, WIDEST, 1, value=10922, label=HIDDEN),
        "dtype": Choice({name: name for name in DTYPES}, "bfloat16", label=Text(en="numbers", zh="数据类型")),
    }
    return Panel(aligned_widths(recording), size=(10, 3.6), narrow=(4.6, 4.4), **controls | own)
