"""Attention in three kernels and in one: how long their bytes take, beside how long their arithmetic takes."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from blocklab_course.benchmarking.attention_bytes import ATTENTION_STEPS, AttentionCost, attention_cost, matrix_bytes
from blocklab_course.i18n import Text
from blocklab_course.lessons.cuda_timing.guess_then_bytes import DTYPES
from blocklab_course.panel import Choice, Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.numbers import short_number
from blocklab_course.panel.palette import INK, MOVED, OTHER, POKED, QUIET

# The H100 (SXM) of NVIDIA's data sheet: bytes a second, and operations a second by the type of the numbers, bfloat16 on
# the Tensor Cores without sparsity, float32 without them. https://www.nvidia.com/en-us/data-center/h100/
BANDWIDTH = 3350e9
SPEED = {"bfloat16": 989e12, "float32": 67e12}

ROWS = {
    "plain": (1.4, Text(en="three kernels", zh="三个核函数")),
    "fused": (0.0, Text(en="one kernel", zh="一个核函数")),
}
PER_SECOND = {"ms": 1e3, "µs": 1e6}
HALF = 0.34  # of a bar's height
ROOM = 1.16  # the axes are longer than what reaches farthest
NAMED = 0.025  # of the axes: a shorter block has no room for its letter

GUESS = Prediction(
    {
        Text(en="5 times, as before", zh="5 倍，不变"): 5,
        Text(en="9 times", zh="9 倍"): 9,
        Text(en="33 times", zh="33 倍"): 33,
        Text(en="257 times", zh="257 倍"): 257,
    },
    right=33,
    question=Text(
        en="For 512 tokens, three kernels move 5 times the bytes of one. And for 4096 tokens?",
        zh="512 个词元时，三个核函数传的字节是一个核函数的 5 倍。4096 个词元呢？",
    ),
    explanation=Text(
        en="33 times: take 4096 tokens. Scores have a row and a column for each token, so they grow by 64 where q, "
        "k, v "
        "and o grow by 8.",
        zh="33 倍：把词元数拖到 4096。每个词元在得分里占一行，也占一列，所以 q、k、v、o 增到 8 倍时，得分增到 64 倍。",
    ),
)
"""How many times as many bytes three kernels move as one, for 4096 tokens and 128 features a head."""

TIME = Text(
    en="time on an H100 by its data sheet, in {}: nothing is measured",
    zh="按规格表，在 H100 上要用的时间（{}）：不是实测",
)
READ = Text(en="read", zh="读")
WRITTEN = Text(en="written", zh="写")
SCORES = Text(en="scores S, weights P", zh="得分 S、权重 P")
OTHERS = Text(en="q, k, v, o", zh="q、k、v、o")
ARITHMETIC = Text(en="matrix products take this long", zh="矩阵乘法要用的时间")
SEEN = Text(
    en="{length} tokens, {heads} heads of {head_dim}, {dtype}: three kernels move {plain}, {times:g} times the "
    "{fused} of "
    "one kernel. Operations for each byte: {few:.0f} and {many:.0f}. What limits three kernels: {slow}; one: {fast}.",
    zh="{length} 个词元，{heads} 个头，每头 {head_dim} 个特征，{dtype}：三个核函数传 {plain}，一个核函数传 {fused}，"
    "前者是后者的 "
    "{times:g} 倍。每传一字节做的运算：{few:.0f} 次和 {many:.0f} 次。三个核函数受限于{slow}，一个核函数受限于{fast}。",
)
LIMITS = {True: Text(en="bytes, {}", zh="字节（{}）"), False: Text(en="arithmetic, {}", zh="运算（{}）")}


def told_bytes(count: float) -> str:
    unit, name = (1e9, "GB") if count >= 1e9 else (1e6, "MB")
    return f"{short_number(count / unit)} {name}"


def limit(cost: AttentionCost, dtype: str, unit: str) -> str:
    """Which of bytes and arithmetic takes longer on the H100, and how long, in a unit of PER_SECOND."""
    by_bytes, by_arithmetic = cost.bounds(BANDWIDTH, SPEED[dtype])
    longer = max(by_bytes, by_arithmetic) * PER_SECOND[unit]
    return LIMITS[by_bytes > by_arithmetic].format(f"{short_number(longer)} {unit}")


def attention_by_bytes(figure: Figure) -> Callable[..., str]:
    """A bar for each way, as long as its bytes take, one block for every read and write; upright the arithmetic.

    update(length, head_dim, heads, dtype): the sizes, and a name of DTYPES.
    """
    axes = add_axes(figure, wide=(0.115, 0.16, 0.87, 0.68), narrow=(0.24, 0.13, 0.73, 0.6))
    axes.set(ylim=(-0.6, 2.2))
    axes.set_yticks([y for y, _ in ROWS.values()], [str(name) for _, name in ROWS.values()])
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter("{x:.4g}")
    style_axes(axes, edges=("bottom",), grid="x")
    line = axes.axvline(0, color=POKED, linewidth=2, linestyle="--", zorder=3, animated=True, label=str(ARITHMETIC))
    looks = (
        (READ, {"facecolor": QUIET}),
        (WRITTEN, {"facecolor": "white", "edgecolor": QUIET, "hatch": "////"}),
        (SCORES, {"facecolor": MOVED}),
        (OTHERS, {"facecolor": OTHER}),
    )
    handles = [line, *(Patch(label=str(label), **look) for label, look in looks)]
    columns = {"ncols": 2, "columnspacing": 1.0, "handlelength": 1.3} if is_narrow(figure) else {"ncols": 5}
    axes.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1.005, 0.99), frameon=False, labelcolor=INK, **columns
    )
    bars = {way: Bar(axes, way, y) for way, (y, _) in ROWS.items()}

    def update(length: int, head_dim: int, heads: int, dtype: str) -> str:
        sizes = length, head_dim, heads, DTYPES[dtype]
        costs = {way: attention_cost(*sizes, way) for way in ROWS}
        by_bytes, by_arithmetic = costs["plain"].bounds(BANDWIDTH, SPEED[dtype])
        unit = "ms" if max(by_bytes, by_arithmetic) >= 1e-3 else "µs"
        per_second = PER_SECOND[unit]
        axes.set_xlim(0, longest := ROOM * per_second * max(by_bytes, by_arithmetic))
        axes.set_xlabel(TIME.format(unit), loc="right" if is_narrow(figure) else "center")
        line.set_xdata([per_second * by_arithmetic] * 2)
        small, large = (per_second * size / BANDWIDTH for size in matrix_bytes(*sizes))
        for way, bar in bars.items():
            bar.show(small, large, longest, told_bytes(costs[way].moved))
        return SEEN.format(
            length=length,
            heads=heads,
            head_dim=head_dim,
            dtype=dtype,
            plain=told_bytes(costs["plain"].moved),
            fused=told_bytes(costs["fused"].moved),
            times=costs["plain"].moved / costs["fused"].moved,
            few=costs["plain"].intensity,
            many=costs["fused"].intensity,
            slow=limit(costs["plain"], dtype, unit),
            fast=limit(costs["fused"], dtype, unit),
        )

    return update


class Bar:
    """The reads and writes of one way, end to end, and a dark line where a kernel begins."""

    def __init__(self, axes: Axes, way: str, y: float):
        self.steps, self.y = ATTENTION_STEPS[way], y
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        text = {"size": 10, "color": INK, "animated": True, "zorder": 4}  # over the line of the arithmetic
        self.blocks = []
        for step in self.steps:
            for letters, written in ((step.reads, False), (step.writes, True)):
                for letter in letters:
                    colour = MOVED if letter in "SP" else OTHER
                    look = {"facecolor": "white" if written else colour, "edgecolor": colour if written else "white"}
                    look |= {"hatch": "////"} if written else {}
                    block = axes.add_patch(Rectangle((0, y - HALF), 0, 2 * HALF, animated=True, **look))
                    named = axes.text(0, y, letter, ha="center", va="center", bbox=box, **text)
                    self.blocks.append((letter, block, named))
        (self.starts,) = axes.plot([], [], color=INK, linewidth=1.8, solid_capstyle="butt", animated=True)
        above = {"ha": "center", "va": "bottom", "bbox": box}
        self.signs = [axes.text(0, y + HALF + 0.09, step.sign, **above, **text) for step in self.steps]
        self.total = axes.text(0, y, "", va="center", **text)

    def show(self, small: float, large: float, longest: float, total: str) -> None:
        """Lay out blocks as wide as `small` and `large` on axes as long as `longest`."""
        at, starts, blocks = 0.0, [0.0], iter(self.blocks)
        for step, sign in zip(self.steps, self.signs, strict=True):
            for letter, block, named in [next(blocks) for _ in step.reads + step.writes]:
                width = large if letter in "SP" else small
                block.set(x=at, width=width)
                named.set(x=at + width / 2, visible=width > NAMED * longest)
                at += width
            sign.set_x((starts[-1] + at) / 2)
            starts.append(at)
        xs = np.repeat(np.array(starts), 3)
        ys = np.tile([self.y - HALF - 0.06, self.y + HALF + 0.06, np.nan], len(starts))
        self.starts.set_data(xs, ys)
        self.total.set(x=at + 0.012 * longest, text=total)


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "length": Slider(256, 16384, 2, value=512, label=Text(en="tokens", zh="词元数"), log=True),
        "head_dim": Slider(32, 256, 2, value=128, label=Text(en="features a head", zh="每头特征数"), log=True),
        "heads": Slider(8, 64, 2, value=32, label=Text(en="heads", zh="头数"), log=True),
        "dtype": Choice({name: name for name in DTYPES}, "bfloat16", label=Text(en="numbers", zh="数据类型")),
    }
    return Panel(attention_by_bytes, size=(10, 3.2), narrow=(4.6, 3.8), **controls | own)
