"""A made-up device, its calls one below the other, and what two honest watches and five others say of it."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.numbers import short_number
from blocklab_course.panel.palette import INK, MOVED, OTHER, POKED, QUIET, STILL

# The device, in microseconds and megabytes. Its memory moves 1 MB in 1 µs: that is its roof.
START = 10.0  # of a kernel, by Python
CACHE, FASTER = 32, 4  # a cache of so many MB, so many times as fast as memory
FIRST = 150.0  # more for the very first call, which compiles
HELD_UP = 140.0  # more for one call, which something else interrupts
OLDER = 60.0  # of work that still stands in the queue, where nobody waits for it; Python starts the kernel meanwhile
CALLS = 7  # after the first, which warms up
INTERRUPTED = 3
SIZES = tuple(2**power for power in range(8))  # MB that a call moves
LONGEST = 340.0

WATCHES = {
    Text(en="honest", zh="如实计时"): "honest",
    Text(en="no waiting", zh="不等待"): "no waiting",
    Text(en="early start", zh="提前计时"): "early start",
    Text(en="no warm-up", zh="不预热"): "no warm-up",
    Text(en="mean", zh="取均值"): "mean",
    Text(en="same inputs", zh="总用同一份输入"): "same inputs",
    Text(en="events around a graph", zh="CUDA 图加事件"): "graph",
}
"""For a panel's choice: how the calls are timed."""

GUESS = Prediction(
    {
        Text(en="it rises towards the roof", zh="上升，但到不了屋顶线"): "towards",
        Text(en="it rises through the roof", zh="上升，冲破屋顶线"): "through",
        Text(en="it stays the same", zh="不变"): "same",
    },
    right="through",
    question=Text(
        en="With “no waiting”, the size grows from 1 to 128 MB. What does the measured speed do?",
        zh="选“不等待”，数据量从 1 MB 增大到 128 MB。测得的速度会怎样变？",
    ),
    explanation=Text(
        en="It rises through the roof: choose “no waiting” and drag. However much is moved, the reading is 10 µs.",
        zh="速度会上升，并冲破屋顶线：选“不等待”，再拖动。不管传多少数据，读数总是 10 µs。",
    ),
)
"""What happens to the apparent speed as a call moves more, where nobody waits."""

TIME = Text(en="µs since the call began", zh="从调用开始算起的时间（µs）")
ROWS = Text(en="call", zh="第几次调用")
DELAY = Text(en="delay", zh="延误")
STARTING = Text(en="Python starts the kernel", zh="Python 启动核函数")
WORKING = Text(en="the GPU works", zh="GPU 工作")
TIMED = Text(en="timed (pale: not)", zh="计入的时间（浅色的不计）")
SAYS = Text(en="what the watch says", zh="秒表的读数")
SIZE = Text(en="MB moved by a call", zh="一次调用传输的数据量（MB）")
SPEED = Text(en="apparent speed / memory speed", zh="测得的速度 / 显存速度")
ROOF = Text(en="memory roof", zh="显存的屋顶线")
HONEST = Text(en="honest watch", zh="如实计时")
SEEN = Text(
    en="{size} MB a call. The watch says {said:.1f} µs; from idle to idle one call takes {true:.1f} µs. Apparent "
    "speed: {share} times that of memory.{verdict}",
    zh="每次调用传输 {size} MB。秒表的读数是 {said:.1f} µs；从空闲到空闲，一次调用要 {true:.1f} µs。"
    "测得的速度是显存速度的 {share} 倍。{verdict}",
)
SPEEDS = Text(
    en="2. {watch}: {low:.2f} times the speed of memory at 16 MB, {high:.2f} at 128 MB",
    zh="2. {watch}：16 MB 时是显存速度的 {low:.2f} 倍，128 MB 时 {high:.2f} 倍",
)
ABOVE = Text(en=" Through the roof!", zh="冲破了屋顶线！")


REASONS = {
    0: (FIRST, Text(en="compiles", zh="编译")),
    INTERRUPTED: (HELD_UP, Text(en="interrupted", zh="受到干扰")),
}
"""What holds up a call, and for how long; behind older work it comes last."""


@dataclass(frozen=True)
class Calls:
    """Per call, the warm-up first, in µs: a delay, the start, the work, and when the watch starts and stops.

    The last is None of a call that is not timed.
    """

    delays: list[float]
    starts: list[float]
    works: list[float]
    timed: list[tuple[float, float] | None]
    said: float


def time_calls(watch: str, megabytes: float) -> Calls:
    """The calls as they go on the made-up device, and what the watch says in the end.

    Python starts a graph once, and nothing holds up the calls in it: its watch, on the GPU, starts behind that start.
    Behind older work a call waits for it, and hides its own start there.
    """
    graph = watch == "graph"
    cached = watch == "same inputs" and megabytes <= CACHE
    works = [megabytes] + [megabytes / (FASTER if cached else 1)] * CALLS
    own = {"graph": 2, "early start": 1}.get(watch, CALLS + 1)  # so many calls wait for a start of their own
    starts = [START] * own + [0.0] * (CALLS + 1 - own)
    older = OLDER if watch == "early start" else 0.0
    delays = [older + (HELD_UP if call == INTERRUPTED and not graph else 0.0) for call in range(CALLS + 1)]
    delays[0] = FIRST
    waits = [0 if watch == "no waiting" else work for work in works]
    begins = starts if graph else [0.0] * (CALLS + 1)
    stops = [sum(parts) for parts in zip(delays, starts, waits, strict=True)]
    first_only = watch == "no warm-up"
    timed = [span if (call == 0) == first_only else None for call, span in enumerate(zip(begins, stops, strict=True))]
    summary = statistics.fmean if watch == "mean" else statistics.median
    return Calls(delays, starts, works, timed, summary(span[1] - span[0] for span in timed if span is not None))


def apparent_speed(watch: str, megabytes: float) -> float:
    """MB moved by the µs that the watch says: 1 is the speed of the device's memory."""
    return megabytes / time_calls(watch, megabytes).said


def show_speeds(*watches: str) -> None:
    """Print the apparent speeds by which a second, larger matrix tells one lie from another."""
    for name, watch in WATCHES.items():
        if watch in watches:
            print(SPEEDS.format(watch=name, low=apparent_speed(watch, 16), high=apparent_speed(watch, 128)))


def lying_watch(figure: Figure) -> Callable[..., str]:
    """Left the calls, one below the other, with what is timed of each; right the speed that follows, by size.

    update(watch, megabytes): one of WATCHES' values, and how much every call moves.
    """
    calls = add_axes(figure, wide=(0.055, 0.14, 0.5, 0.72), narrow=(0.1, 0.53, 0.87, 0.34))
    delays, starts, works, lines = call_axes(calls)
    reasons = {row: reason_text(calls, row, words) for row, (_, words) in REASONS.items()}
    reading = calls.axvline(0, color=POKED, linewidth=2, linestyle="--", animated=True, label=str(SAYS))
    calls.legend(
        loc="lower center",
        bbox_to_anchor=(0.48, 1.0),
        ncols=2 if is_narrow(figure) else 3,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
    )
    speeds = add_axes(figure, wide=(0.64, 0.14, 0.345, 0.79), narrow=(0.16, 0.07, 0.81, 0.36))
    curve, dot = speed_axes(speeds)

    def update(watch: str, megabytes: float) -> str:
        seen = time_calls(watch, megabytes)
        rows = zip(seen.delays, seen.starts, seen.works, seen.timed, strict=True)
        for row, (delay, start, work, timed) in enumerate(rows):
            place(delays[row], 0, delay)
            place(starts[row], delay, start)
            place(works[row], delay + start, work)
            for bar in (delays[row], starts[row], works[row]):
                bar.set_alpha(0.3 if timed is None else 1)
            lines[row].set_data(timed or (0, 0), [row + 0.36] * 2)
            lines[row].set_visible(timed is not None)
        for row, reason in reasons.items():
            delay, (longest, _) = seen.delays[row], REASONS[row]
            reason.set(x=delay - longest / 2, visible=delay >= longest)
        reading.set_xdata([seen.said] * 2)
        share = apparent_speed(watch, megabytes)
        curve.set_ydata([apparent_speed(watch, size) for size in SIZES])
        dot.set_data([megabytes], [share])
        draggable(dot, "megabytes", lambda size: (size, apparent_speed(watch, size)))
        return SEEN.format(
            size=f"{megabytes:g}",
            said=seen.said,
            true=time_calls("honest", megabytes).said,
            share=short_number(share),
            verdict=ABOVE if share > 1 else "",
        )

    return update


def place(bar: Rectangle, start: float, length: float) -> None:
    bar.set(x=start, width=length, visible=length > 0)


def reason_text(axes: Axes, row: int, words: Text):
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    return axes.text(0, row - 0.02, str(words), size=9, color=INK, ha="center", va="center", bbox=box, animated=True)


def call_axes(axes: Axes):
    """For every call its delay, its start and its work as bars without a length yet, and a line for what is timed."""
    axes.set(xlim=(0, LONGEST), ylim=(CALLS + 0.6, -0.6), xlabel=str(TIME), ylabel=str(ROWS), yticks=range(CALLS + 1))
    axes.tick_params(axis="y", length=0)
    style_axes(axes, edges=("bottom",))
    looks = (
        (DELAY, {"facecolor": "white", "edgecolor": QUIET, "hatch": "////"}),
        (STARTING, {"facecolor": MOVED}),
        (WORKING, {"facecolor": OTHER}),
    )
    kinds = []
    for label, look in looks:
        bars = [Rectangle((0, row - 0.3), 0, 0.56, animated=True, **look) for row in range(CALLS + 1)]
        kinds.append([axes.add_patch(bar) for bar in bars])
        bars[0].set_label(str(label))
    lines = [
        axes.plot([], [], color=INK, linewidth=2.4, solid_capstyle="butt", animated=True)[0] for _ in range(CALLS + 1)
    ]
    lines[0].set_label(str(TIMED))
    return *kinds, lines


def speed_axes(axes: Axes):
    """The roof, the honest curve, and the curve and the dot of the chosen watch, on logarithmic axes."""
    low, high = 0.004, 30
    axes.set(xscale="log", yscale="log", xlim=(0.8, 160), ylim=(low, high), xlabel=str(SIZE), ylabel=str(SPEED))
    axes.set_xticks(SIZES, [f"{size:g}" for size in SIZES])
    axes.set_yticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    axes.minorticks_off()
    style_axes(axes)
    axes.axhspan(1, high, color=STILL, zorder=0)
    axes.axhline(1, color=INK, linewidth=1.6)
    axes.text(0.9, 1.12, str(ROOF), size=10, color=INK, va="bottom")
    honest = [apparent_speed("honest", size) for size in SIZES]
    (curve,) = axes.plot(SIZES, honest, color=POKED, linewidth=2.2, animated=True)
    axes.plot(SIZES, honest, "--", color=INK, linewidth=1.2, animated=True, label=str(HONEST))  # over that curve
    axes.legend(loc="lower right", frameon=False, labelcolor=INK)
    (dot,) = axes.plot([], [], "o", color=POKED, markersize=9, animated=True)
    return curve, dot


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "watch": Choice(WATCHES, "honest", label=Text(en="watch", zh="计时方式")),
        "megabytes": Slider(SIZES[0], SIZES[-1], 2, value=CACHE, label="MB", log=True),
    }
    return Panel(lying_watch, size=(10, 4.2), narrow=(4.6, 7), **controls | own)
