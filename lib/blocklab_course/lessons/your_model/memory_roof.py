"""How many tokens a second memory allows where one text is written and each token reads all numbers once."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.numbers import short_number
from blocklab_course.panel.palette import INK, MOVED, OTHER, STILL

SLOWEST, FASTEST = 10.0, 10_000.0  # GB/s
STEP = 10**0.05
SIZES = {  # billions of numbers, by the names that the models bear
    "135M": 0.134515008,
    "1B": 1.0,
    "8B": 8.0,
    "30B": 30.0,
    "70B": 70.0,
}
READING = 180 / 60 * 203 / 144  # words a second, and tokens to a word as SmolLM2 cuts the Zen of Python
MACHINES = (  # GB/s as published, or from published width and clock of the memory
    (77, Text(en="phone", zh="手机")),
    (90, Text(en="laptop", zh="笔记本电脑")),
    (273, Text(en="M4 Pro", zh="M4 Pro")),
    (1008, Text(en="RTX 4090", zh="RTX 4090")),
    (4800, Text(en="H200", zh="H200")),
)
SIDES = {77: "right", 90: "left"}  # of the names of two neighbours
LOW, HIGH, ABOVE_NAMES = 0.012, 500_000, 0.05  # tokens a second: both ends, and where the names of machines are over
NO_ROOM = 3000.0  # GB/s: from there on the reading stands left of the dot

BANDWIDTH = Text(en="bytes read from memory a second, in GB/s", zh="每秒从内存读的字节数（GB/s）")
SPEED = Text(en="tokens a second, at most", zh="每秒最多几个词元")
AS_YOU_READ = Text(en="reading 180 English words a minute", zh="每分钟读 180 个英文词")
MODEL = Text(en="{model}, {bits} bits", zh="{model}，{bits} 位")
SEEN = Text(
    en="{model} numbers of {bits} bits are {read} GB. At {bandwidth} GB/s no more than {speed} tokens a "
    "second can come, each of them after {wait}.",
    zh="{model} 个参数，每个 {bits} 位，共 {read} GB。以 {bandwidth} GB/s 读，"
    "每秒最多 {speed} 个词元，每个至少要等{wait}。",
)
MILLISECONDS = Text(en="{time} ms", zh=" {time} ms")
SECONDS = Text(en="{time} s", zh=" {time} s")


def bytes_per_token(size: str, bits: int) -> float:
    """All numbers once. Keys and values come on top: for a short text, little."""
    return SIZES[size] * 1e9 * bits / 8


def tokens_per_second(bandwidth: float, size: str, bits: int) -> float:
    """bandwidth in GB/s."""
    return bandwidth * 1e9 / bytes_per_token(size, bits)


def memory_roof(figure: Figure) -> Callable[..., str]:
    """The roof as a line over the bandwidth, a dot where the reader's memory stands, and known machines below it.

    update(bandwidth, model, bits): GB/s, one of SIZES, bits of a number.
    """
    axes = add_axes(figure, wide=(0.085, 0.15, 0.88, 0.8), narrow=(0.2, 0.1, 0.74, 0.87))
    prepare(axes)
    ends = np.array([SLOWEST, FASTEST])
    (line,) = axes.plot(ends, ends, color=OTHER, linewidth=2.2, animated=True)
    name = axes.text(0, 0, "", color=OTHER, size=10.5, ha="right", va="bottom", animated=True)
    (drop,) = axes.plot([], [], color=MOVED, linewidth=1.2, linestyle=":", animated=True)
    (dot,) = axes.plot([], [], "o", color=MOVED, markersize=10, animated=True)
    value = axes.text(0, 0, "", color=INK, size=11, ha="left", va="top", animated=True)

    def update(bandwidth: float, model: str, bits: int) -> str:
        speed = tokens_per_second(bandwidth, model, bits)
        line.set_ydata([tokens_per_second(end, model, bits) for end in ends])
        at = 10**3.4
        name.set(x=at, y=1.35 * tokens_per_second(at, model, bits), text=MODEL.format(model=model, bits=bits))
        dot.set_data([bandwidth], [speed])
        drop.set_data([bandwidth, bandwidth], [ABOVE_NAMES, speed])
        crowded = bandwidth > NO_ROOM
        value.set(text=short_number(speed), ha="right" if crowded else "left", va="bottom" if crowded else "top")
        value.set_position((bandwidth / 1.1, 1.25 * speed) if crowded else (1.07 * bandwidth, speed / 1.25))
        draggable(dot, "bandwidth", lambda other: (other, tokens_per_second(other, model, bits)))
        unit, time = (MILLISECONDS, 1e3 / speed) if speed > 1 else (SECONDS, 1 / speed)
        wait = unit.format(time=short_number(time))
        read = bytes_per_token(model, bits) / 1e9
        numbers = {"read": read, "bandwidth": bandwidth, "speed": speed}
        return SEEN.format(model=model, bits=bits, wait=wait, **{key: short_number(n) for key, n in numbers.items()})

    return update


def prepare(axes: Axes) -> None:
    """Logarithmic axes, the machines as marks on the lower one, and the speed of a reader."""
    axes.set(xscale="log", yscale="log", xlim=(SLOWEST / 1.1, 1.1 * FASTEST), ylim=(LOW, HIGH))
    axes.set(xlabel=str(BANDWIDTH), ylabel=str(SPEED))
    axes.set_xticks(ticks := (10, 100, 1000, 10_000), [str(tick) for tick in ticks])
    axes.set_yticks(ticks := (0.1, 1, 10, 100, 1000, 10_000, 100_000), [short_number(tick) for tick in ticks])
    axes.minorticks_off()
    style_axes(axes, grid="both")
    axes.axhspan(LOW, READING, color=STILL, alpha=0.6, zorder=0)
    axes.text(FASTEST, READING / 1.25, str(AS_YOU_READ), size=9.5, color=INK, ha="right", va="top")
    for bandwidth, machine in MACHINES:
        axes.plot([bandwidth] * 2, [LOW, 1.5 * LOW], color=INK, linewidth=1)
        side = SIDES.get(bandwidth, "center")
        turn = 90 if is_narrow(axes.figure) else 0
        words = f"{machine} {bandwidth}"
        axes.text(bandwidth, 1.6 * LOW, words, size=9, color=INK, ha=side, va="bottom", rotation=turn)


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "bandwidth": Slider(SLOWEST, FASTEST, STEP, value=100.0, label="GB/s", log=True),
        "model": Choice({name: name for name in SIZES}, "135M", label=Text(en="model", zh="模型")),
        "bits": Choice({str(bits): bits for bits in (16, 8, 4)}, 16, label=Text(en="bits", zh="位数")),
    }
    return Panel(memory_roof, size=(10, 4.4), narrow=(4.6, 5.6), **controls | own)
