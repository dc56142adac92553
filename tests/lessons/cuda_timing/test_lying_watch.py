import re

import pytest

from blocklab.lessons.cuda_timing.lying_watch import (
    CALLS,
    LONGEST,
    SIZES,
    WATCHES,
    apparent_speed,
    lying_watch,
    time_calls,
)

# What each watch says at 32 MB, in µs, by hand: start 10, work 32, the first call 150 more, one of seven 140 more;
# from the cache the work takes 8.
AT_32 = {"honest": 42, "no waiting": 10, "no warm-up": 192, "mean": 62, "same inputs": 18}


@pytest.mark.parametrize("watch", WATCHES.values())
def test_every_watch_says_what_was_worked_out_by_hand(figure, watch):
    assert time_calls(watch, 32).said == pytest.approx(AT_32[watch])
    assert apparent_speed(watch, 32) == pytest.approx(32 / AT_32[watch])
    line = lying_watch(figure)(watch=watch, megabytes=32.0)
    said, true = map(float, re.findall(r"watch says ([\d.]+) µs, an honest one ([\d.]+) µs", line)[0])
    assert (said, true) == (pytest.approx(AT_32[watch]), 42)
    assert ("Through the roof!" in line) == (AT_32[watch] < 32)


def test_without_waiting_the_size_does_not_matter_and_the_roof_breaks():
    assert {time_calls("no waiting", size).said for size in SIZES} == {10}
    assert [apparent_speed("no waiting", size) > 1 for size in SIZES] == [size > 10 for size in SIZES]


def test_the_cache_lies_until_it_is_full():
    assert [size for size in SIZES if apparent_speed("same inputs", size) > 1] == [16, 32]
    assert time_calls("same inputs", 64) == time_calls("honest", 64)


@pytest.mark.parametrize("watch", ["honest", "no warm-up", "mean"])
def test_the_others_stay_below_the_roof(watch):
    assert all(apparent_speed(watch, size) <= apparent_speed("honest", size) < 1 for size in SIZES)


@pytest.mark.parametrize("watch", WATCHES.values())
@pytest.mark.parametrize("megabytes", [1.0, 128.0])
def test_bars_and_lines_are_the_calls(figure, watch, megabytes):
    lying_watch(figure)(watch=watch, megabytes=megabytes)
    calls, speeds = figure.axes
    seen = time_calls(watch, megabytes)
    visible = [bar for bar in calls.patches if bar.get_visible()]
    for row in range(CALLS + 1):
        bars = sorted((b.get_x(), b.get_width()) for b in visible if round(b.get_y() + 0.3) == row)
        parts = [part for part in (seen.delays[row], 10, seen.works[row]) if part]
        assert [width for _, width in bars] == pytest.approx(parts)
        assert sum(bars[-1]) == pytest.approx(sum(parts))
        assert sum(parts) <= LONGEST
    timed = [line.get_xdata()[1] for line in calls.lines[:-1] if line.get_visible()]
    assert timed == [stop for stop in seen.timed if stop is not None]
    assert calls.lines[-1].get_xdata()[0] == pytest.approx(seen.said)
    assert speeds.lines[-1].get_ydata()[0] == pytest.approx(megabytes / seen.said)
    low, high = speeds.get_ylim()
    assert low < min(speeds.lines[-2].get_ydata())
    assert max(speeds.lines[-2].get_ydata()) < high
