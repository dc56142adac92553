"""Known mistakes of `time_function`, on a simulated device whose clock only its own work moves."""

import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from blocklab_course.checks.case import Advice, Case
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text

LAUNCH = 0.001  # seconds that a call takes to put its work into the queue


class ClockNotRead(Exception):
    """All the calls asked for have been made, and `clock()` has not been read once."""


NOT_READ = Text(en="the last call is made, and `clock()` was never read", zh="调用已经全部做完，`clock()` 却从没有读过")


class Device:
    """A device that works through its queue while Python goes on, and a clock.

    `work` are the seconds that the calls of `function` take it, one after the other, and then the last one for ever;
    `queued` is work of someone else that is not done yet. A function that times with another clock would get a number
    of its own every time; it is stopped instead, at the last of the `calls` it was asked for.
    """

    def __init__(self, work: tuple[float, ...], queued: float, calls: int):
        self.now = 1000.0
        self.idle_from = self.now + queued
        self.work = itertools.chain(work, itertools.repeat(work[-1]))
        self.calls_left = calls
        self.clock_read = False

    def function(self) -> None:
        self.calls_left -= 1
        if self.calls_left <= 0 and not self.clock_read:
            raise ClockNotRead(str(NOT_READ))
        self.now += LAUNCH
        self.idle_from = max(self.now, self.idle_from) + next(self.work)

    def synchronize(self) -> None:
        self.now = max(self.now, self.idle_from)

    def clock(self) -> float:
        self.clock_read = True
        return self.now


class Told:
    """Stands for a function where a case is shown to the reader, and says what it does."""

    def __init__(self, words: Text, seconds: str = ""):
        self.words, self.seconds = words, seconds

    @property
    def __name__(self) -> str:
        return self.words.format(seconds=self.seconds)

    def __call__(self) -> None:
        raise NotImplementedError


FUNCTION = Text(en="puts into the queue: {seconds} s", zh="排入队列的工作：依次 {seconds} 秒")
SYNCHRONIZE = Text(
    en="waits; in the queue at the start: {seconds} s", zh="等待队列清空；开始时队列里已有的工作：{seconds} 秒"
)
CLOCK = Text(en="the device's own", zh="设备自己的时钟")


@dataclass(frozen=True, eq=False)
class OnDevice(Case):
    """A case whose functions belong to a device that is new for every run."""

    work: tuple[float, ...] = (0.01,)
    queued: float = 0.0

    def copy_arguments(self) -> dict[str, object]:
        calls = self.arguments.get("warm_up", 3) + self.arguments.get("repeats", 5)
        device = Device(self.work, self.queued, calls)
        functions = {"function": device.function, "synchronize": device.synchronize, "clock": device.clock}
        return self.arguments | functions


def on_device(
    name: str, work: tuple[float, ...], queued: float = 0.0, advice: Advice | None = None, **counts: int
) -> OnDevice:
    told = {
        "function": Told(FUNCTION, ", ".join(map(str, work))),
        "synchronize": Told(SYNCHRONIZE, f"{queued:g}"),
        "clock": Told(CLOCK),
    }
    return OnDevice(name, told | counts, advice=advice, work=work, queued=queued)


# The steps: what comes before the first time is taken, how the watch is started and stopped, what is made of the times


def warm_up_by_calling(function: Callable, _synchronize: Callable, warm_up: int) -> None:
    for _ in range(warm_up):
        function()


def read_when_idle(synchronize: Callable, clock: Callable) -> float:
    synchronize()
    return clock()


def read_at_once(_synchronize: Callable, clock: Callable) -> float:
    return clock()


def recipe(
    function: Callable[[], object],
    synchronize: Callable[[], object],
    clock: Callable[[], float],
    warm_up: int = 3,
    repeats: int = 5,
    *,
    warm: Callable = warm_up_by_calling,
    rounds: Callable = lambda warm_up, repeats: repeats,
    start: Callable = read_when_idle,
    call: Callable = lambda function: function(),
    stop: Callable = read_when_idle,
    summary: Callable = lambda times, warm_up: statistics.median(times),
    unit: Callable = lambda seconds: seconds,
) -> float:
    warm(function, synchronize, warm_up)
    times = []
    for _ in range(rounds(warm_up, repeats)):
        started = start(synchronize, clock)
        call(function)
        times.append(stop(synchronize, clock) - started)
    return unit(summary(times, warm_up))


def read_then_wait(synchronize: Callable, clock: Callable) -> float:
    now = clock()
    synchronize()
    return now


def wait_then_warm_up(function: Callable, synchronize: Callable, warm_up: int) -> None:
    synchronize()
    warm_up_by_calling(function, synchronize, warm_up)


def wait_after_every_warm_up(function: Callable, synchronize: Callable, warm_up: int) -> None:
    for _ in range(warm_up):
        function()
        synchronize()


def one_watch(function: Callable, synchronize: Callable, clock: Callable, warm_up: int = 3, repeats: int = 5) -> float:
    warm_up_by_calling(function, synchronize, warm_up)
    started = read_when_idle(synchronize, clock)
    for _ in range(repeats):
        function()
    return (read_when_idle(synchronize, clock) - started) / repeats


def started_once(
    function: Callable, synchronize: Callable, clock: Callable, warm_up: int = 3, repeats: int = 5
) -> float:
    warm_up_by_calling(function, synchronize, warm_up)
    started = read_when_idle(synchronize, clock)
    times = []
    for _ in range(repeats):
        function()
        times.append(read_when_idle(synchronize, clock) - started)
    return statistics.median(times)


def warm_up_among_the_repeats(
    function: Callable, synchronize: Callable, clock: Callable, warm_up: int = 3, repeats: int = 5
) -> float:
    return recipe(
        function,
        synchronize,
        clock,
        warm_up,
        repeats,
        warm=lambda function, synchronize, warm_up: None,
        summary=lambda times, warm_up: statistics.median(times[warm_up:]),
    )


def warm_up_every_round(
    function: Callable, synchronize: Callable, clock: Callable, warm_up: int = 3, repeats: int = 5
) -> float:
    return statistics.median(recipe(function, synchronize, clock, warm_up, repeats=1) for _ in range(repeats))


def two_calls(function: Callable) -> None:
    function()
    function()


EXERCISE = Text(en="Exercise: repair a benchmark that lies", zh="练习：改对一个会骗人的基准测试")

WATCH_MISTAKES = (
    wrong("stopped-too-early", stop=read_at_once).hint(
        en="You read the clock right after the call. The call only queues the work: you measured how long the launch "
        "takes. Wait for the device by `synchronize()`, with the brackets, then read.",
        zh="调用一返回，你就读了时钟。而调用只是把工作排进队列：你测的是启动所用的时间。"
        "应当先用 `synchronize()` 等设备做完（括号不能少），再读时钟。",
        hint_line="synchronize(); times.append(clock() - start)",
    ),
    wrong("started-too-early", start=read_at_once).hint(
        en="You start the watch while the device still works on something older, the warm-up or another's work, and "
        "count that too. Wait before you start.",
        zh="你开始计时的时候，设备还在做先前的工作，例如预热或别人排入的工作，这些时间也算了进去。"
        "应当先等设备空闲，再开始计时。",
        shown_on="one repeat",
        hint_line="synchronize(); start = clock()",
    ),
    wrong("started-before-waiting", start=read_then_wait).hint(
        en="You wait for the device after you have read the start, so the waiting is counted. Wait first, then read.",
        zh="你先读了开始时刻，再等设备，等待的时间也算了进去。应当先等待，再读时钟。",
        shown_on="one repeat",
        hint_line="synchronize(); start = clock()",
    ),
    wrong("warm-up-not-awaited", warm=wait_then_warm_up, start=read_at_once).hint(
        en="You wait before the warm-up but not after it, so the first time holds the whole warm-up. It queues work "
        "too.",
        zh="你在预热之前等了设备，预热之后却没有等，于是第一个时间包含了整个预热。预热也会排入工作。",
        shown_on="one repeat",
        hint_line="synchronize(); start = clock()",
    ),
    wrong("only-warm-up-awaited", warm=wait_after_every_warm_up, start=read_at_once).hint(
        en="You do not wait right before the first timed call. Without warm-up, work that was queued before is "
        "counted: wait before the watch starts, in any case.",
        zh="第一次计时之前，你没有等设备。没有预热时，先前排入的工作就会算进去：不管怎样，开始计时之前都要等。",
        hint_line="synchronize(); start = clock()",
    ),
    wrong("started-only-once", started_once).hint(
        en="You read the start only once, before the loop, so every time holds all the ones before it. Start anew for "
        "each call.",
        zh="你只在循环之前读了一次开始时刻，于是每个时间都包含了前面的所有调用。每次调用都要重新开始计时。",
        hint_line="synchronize(); start = clock()",
    ),
    wrong("one-watch-for-all", one_watch).hint(
        en="You time the whole loop and divide. Right for throughput, where launches hide behind the work; here the "
        "time of one call is asked, from idle device to idle device. Time each call.",
        zh="你给整个循环计时，再除以次数。要测吞吐量，这样是对的，启动时间正好藏在前面的工作里；"
        "这里要的却是一次调用的时间：从设备空闲到设备又空闲。请给每次调用单独计时。",
        hint_line="synchronize(); times.append(clock() - start)",
        section=EXERCISE,
    ),
    wrong(
        "another-clock",
        lambda function, synchronize, clock, warm_up=3, repeats=5: recipe(
            function, synchronize, time.perf_counter, warm_up, repeats
        ),
    ).hint(
        en="You never read `clock`; perhaps you use `time.perf_counter` directly. This device is simulated, and only "
        "the clock handed in knows its time.",
        zh="你从没有读过 `clock`，也许是直接用了 `time.perf_counter`。"
        "这里的设备是模拟的，只有传进来的时钟知道它的时间。",
        hint_line="start = clock()",
        section=EXERCISE,
    ),
)

ROUNDS_MISTAKES = (
    wrong("no-warm-up", warm=lambda function, synchronize, warm_up: None).hint(
        en="There is no warm-up, so slow first calls are among the times. Call the function `warm_up` times before.",
        zh="没有预热，开头几次慢的调用也算进了时间。计时之前，应当先把函数调用 `warm_up` 次。",
        hint_line="for _ in range(warm_up): function()",
    ),
    wrong(
        "warm-up-of-three", warm=lambda function, synchronize, warm_up: warm_up_by_calling(function, synchronize, 3)
    ).hint(
        en="You always warm up with 3 calls. `warm_up` says how many.",
        zh="你总是预热 3 次。次数由 `warm_up` 决定。",
        shown_on="long warm-up",
        hint_line="for _ in range(warm_up): function()",
    ),
    wrong("warm-up-of-one", warm=lambda function, synchronize, warm_up: function()).hint(
        en="You warm up with a single call. `warm_up` says how many: the second and third may still be slow.",
        zh="你只预热了一次。次数由 `warm_up` 决定：第二、第三次可能还是慢的。",
        hint_line="for _ in range(warm_up): function()",
    ),
    wrong(
        "warm-up-timed",
        warm=lambda function, synchronize, warm_up: None,
        rounds=lambda warm_up, repeats: warm_up + repeats,
    ).hint(
        en="The times of the warm-up calls are among those you evaluate. Warm-up calls are made and forgotten.",
        zh="预热调用的时间也算进了结果。预热的调用不计时，只要做完就行。",
        hint_line="for _ in range(warm_up): function()",
    ),
    wrong("warm-up-among-the-repeats", warm_up_among_the_repeats).hint(
        en="Your warm-up calls are the first of the `repeats`, so fewer are left to time. Make them extra, before the "
        "timed ones.",
        zh="你把 `repeats` 次里的前几次当作预热，留下来计时的就少了。预热要另外做，做完再开始计时。",
        hint_line="for _ in range(warm_up): function()",
    ),
    wrong("warm-up-every-round", warm_up_every_round).hint(
        en="You warm up again before every timed call. Once is enough, before the loop that times.",
        zh="每次计时之前，你都重新预热了一遍。预热一遍就够了，放在计时的循环之前。",
        hint_line="for _ in range(warm_up): function()",
    ),
    wrong("repeats-of-five", rounds=lambda warm_up, repeats: 5).hint(
        en="You always time 5 calls. `repeats` says how many.",
        zh="你总是给 5 次调用计时。次数由 `repeats` 决定。",
        shown_on="long warm-up",
        hint_line="for _ in range(repeats):",
        section=EXERCISE,
    ),
    wrong("only-one-time", rounds=lambda warm_up, repeats: 1).hint(
        en="You time a single call. Time `repeats` calls: one alone may be the odd one out.",
        zh="你只给一次调用计时。应当计时 `repeats` 次：单独一次可能碰巧不正常。",
        hint_line="for _ in range(repeats):",
        section=EXERCISE,
    ),
    wrong("two-calls-a-round", call=two_calls).hint(
        en="Between start and stop the function is called twice. Wanted is the time of one call.",
        zh="开始与结束之间，你把函数调用了两次。要的是一次调用的时间。",
        hint_line="start = clock(); function(); synchronize()",
        section=EXERCISE,
    ),
)

SUMMARY_MISTAKES = (
    wrong("mean-for-median", summary=lambda times, warm_up: statistics.mean(times)).hint(
        en="You take the mean of the times, and one outlier drags it up. The median stays where most calls are.",
        zh="你取的是各次时间的均值，一个离群值就会把它拉高。中位数不受影响，仍在多数调用所在的地方。",
        hint_line="return median(times)",
    ),
    wrong("minimum-for-median", summary=lambda times, warm_up: min(times)).hint(
        en="You take the shortest time. `timeit` recommends that; here the median is wanted, the usual case.",
        zh="你取的是最短的时间。`timeit` 推荐这样做；而这里要的是中位数，即通常的情形。",
        hint_line="return median(times)",
    ),
    wrong("maximum-for-median", summary=lambda times, warm_up: max(times)).hint(
        en="You take the longest time, which is the outlier. The median is wanted.",
        zh="你取的是最长的时间，而那正是离群值。应当取中位数。",
        hint_line="return median(times)",
    ),
    wrong("total-for-median", summary=lambda times, warm_up: sum(times)).hint(
        en="You return the time of all calls together. Wanted is the median of the single ones.",
        zh="你返回的是所有调用的总时间。要的是单次时间的中位数。",
        hint_line="return median(times)",
        section=EXERCISE,
    ),
    wrong("divided-by-all-calls", summary=lambda times, warm_up: sum(times) / (warm_up + len(times))).hint(
        en="You divide the sum of the times by all calls, warm-up included, though those are not in the sum. And it is "
        "the median that is wanted.",
        zh="你把时间之和除以了包括预热在内的全部调用次数，而预热的时间并不在和里。况且要的是中位数。",
        hint_line="return median(times)",
        section=EXERCISE,
    ),
    wrong("median-divided", summary=lambda times, warm_up: statistics.median(times) / len(times)).hint(
        en="You divide the median by the number of times. It is the time of one call already.",
        zh="你把中位数又除以了次数。它已经是一次调用的时间了。",
        hint_line="return median(times)",
        section=EXERCISE,
    ),
    wrong("middle-without-sorting", summary=lambda times, warm_up: times[len(times) // 2]).hint(
        en="You take the time in the middle of the list as it was measured. For a median the list is sorted first.",
        zh="你没有排序，直接取了列表正中间的那个时间。求中位数要先排序。",
        hint_line="return median(times)",
    ),
    wrong("last-time", summary=lambda times, warm_up: times[-1]).hint(
        en="You return the last time only; perhaps the list is made anew in the loop. Keep all and take the median.",
        zh="你只返回了最后一次的时间，也许是在循环里重新创建了列表。应当全部保留，再取中位数。",
        hint_line="times.append(clock() - start)",
        section=EXERCISE,
    ),
    wrong("milliseconds", unit=lambda seconds: 1000 * seconds).hint(
        en="You return milliseconds. Return seconds: whoever shows the number chooses the unit.",
        zh="你返回的是毫秒。请返回秒：用什么单位，由显示的人决定。",
        hint_line="times.append(clock() - start)",
        section=EXERCISE,
    ),
    wrong("start-minus-stop", unit=lambda seconds: -seconds).hint(
        en="Your time is negative: you subtract the stop from the start. It is the other way round.",
        zh="你的时间是负数：你用开始时刻减去了结束时刻，正好反了。",
        hint_line="times.append(clock() - start)",
        section=EXERCISE,
    ),
)

TIME_FUNCTION = Exercise(
    name="time_function",
    recipe=recipe,
    cases=(
        on_device("usual", (0.9, 0.3, 0.02, 0.0101, 0.0123456, 0.050, 0.0131, 0.0112)),
        on_device("one repeat", (0.9, 0.010), warm_up=1, repeats=1),
        on_device("busy device", (0.010, 0.014, 0.012), queued=5.0, warm_up=0, repeats=1),
        on_device("three times", (0.9, 0.0137, 0.0654321, 0.0271, 0.5, 0.0102), warm_up=1, repeats=3),
        on_device(
            "long warm-up", (0.9, 0.5, 0.3, 0.2, 0.1, 0.06, 0.02, 0.09, 0.03, 0.08, 0.05, 0.04), warm_up=5, repeats=7
        ),
        on_device(
            "even-repeats",
            (0.9, 0.01, 0.02, 0.04, 0.08),
            warm_up=1,
            repeats=4,
            advice=Advice(
                Text(
                    en="With an even number of times two stand in the middle. The median is halfway between them, as "
                    "`statistics.median` has it.",
                    zh="时间的个数是偶数时，中间有两个。中位数在这两个的正中间，`statistics.median` 就是这样算的。",
                ),
                weak_functions=tuple(
                    partial(recipe, summary=lambda times, warm_up, middle=middle: middle(times))
                    for middle in (statistics.median_low, statistics.median_high)
                ),
            ),
        ),
    ),
    mistakes=(*WATCH_MISTAKES, *ROUNDS_MISTAKES, *SUMMARY_MISTAKES),
    section=Text(en="The lying watch", zh="会骗人的秒表"),
    panel=Text(
        en="under *The lying watch*, go through the watches: see which calls count, where the line under them begins "
        "and where it ends.",
        zh="在“会骗人的秒表”一节里，逐个选择计时方式，看看哪些调用算数，条形下面的线从哪里开始、到哪里结束。",
    ),
    hint_line="function(); synchronize(); stopped = clock()",
)
