import re

import pytest

from blocklab_course.lessons.cuda_timing.lying_watch import (
    CALLS,
    GUESS,
    INTERRUPTED,
    LONGEST,
    REASONS,
    SIZES,
    WATCHES,
    apparent_speed,
    lying_watch,
    show_speeds,
    time_calls,
)

# What each watch says at 32 MB, in µs, by hand: start 10, work 32, the first call 150 more, one of seven 140 more;
# from the cache the work takes 8; older work takes 60, and Python starts the call meanwhile; in a graph there is the
# work alone.
AT_32 = {
    "honest": 42,
    "no waiting": 10,
    "early start": 92,
    "no warm-up": 192,
    "mean": 62,
    "same inputs": 18,
    "graph": 32,
}


@pytest.mark.parametrize("watch", WATCHES.values())
def test_every_watch_says_what_was_worked_out_by_hand(figure, watch):
    assert time_calls(watch, 32).said == pytest.approx(AT_32[watch])
    assert apparent_speed(watch, 32) == pytest.approx(32 / AT_32[watch])
    line = lying_watch(figure)(watch=watch, megabytes=32.0)
    said, true = map(
        float, re.findall(r"watch says ([\d.]+) µs; from idle to idle one call takes ([\d.]+) µs", line)[0]
    )
    assert (said, true) == (pytest.approx(AT_32[watch]), 42)
    assert ("Through the roof!" in line) == (AT_32[watch] < 32)


def test_without_waiting_the_size_does_not_matter_and_the_roof_breaks():
    assert {time_calls("no waiting", size).said for size in SIZES} == {10}
    assert [apparent_speed("no waiting", size) > 1 for size in SIZES] == [size > 10 for size in SIZES]


def test_the_cache_lies_until_it_is_full():
    assert [size for size in SIZES if apparent_speed("same inputs", size) > 1] == [16, 32]
    assert time_calls("same inputs", 64) == time_calls("honest", 64)


def test_a_graph_has_the_speed_of_memory_at_every_size():
    assert {apparent_speed("graph", size) for size in SIZES} == {1}
    seen = time_calls("graph", 32)
    assert (seen.starts, seen.timed) == ([10, 10] + [0] * 6, [None, (10, 42)] + [(0, 32)] * 6)
    assert sum(seen.delays) == seen.delays[0] > 0


def test_an_early_start_counts_older_work_and_nothing_of_the_start():
    seen = time_calls("early start", 1)
    assert [delay + start for delay, start in zip(seen.delays[1:], seen.starts[1:], strict=True)] == [
        60,
        60,
        200,
        *[60] * 4,
    ]
    assert seen.said == 61


def test_the_right_guess_is_what_the_speed_does():
    found = [apparent_speed("no waiting", size) for size in SIZES]
    assert found == sorted(set(found))
    assert (found[-1] > 1) == (GUESS.right == "through")
    assert f"{time_calls('no waiting', 128).said:g} µs" in str(GUESS.explanation)


@pytest.mark.parametrize("watch", ["honest", "early start", "no warm-up", "mean"])
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
        parts = [part for part in (seen.delays[row], seen.starts[row], seen.works[row]) if part]
        assert [width for _, width in bars] == pytest.approx(parts)
        assert sum(bars[-1]) == pytest.approx(sum(parts))
        assert sum(parts) <= LONGEST
    timed = [tuple(line.get_xdata()) for line in calls.lines[:-1] if line.get_visible()]
    assert timed == [span for span in seen.timed if span is not None]
    assert calls.lines[-1].get_xdata()[0] == pytest.approx(seen.said)
    assert speeds.lines[-1].get_ydata()[0] == pytest.approx(megabytes / seen.said)
    low, high = speeds.get_ylim()
    curve, honest = speeds.lines[-3:-1]
    assert honest.get_label() == "honest watch"
    assert low < min(curve.get_ydata())
    assert max(curve.get_ydata()) < high


@pytest.mark.parametrize(("watch", "held_up"), [("honest", True), ("early start", True), ("graph", False)])
def test_a_delay_says_why(figure, watch, held_up):
    lying_watch(figure)(watch=watch, megabytes=32.0)
    calls = figure.axes[0]
    compiles, interrupted = (
        next(t for t in calls.texts if str(words) == t.get_text()) for _, words in REASONS.values()
    )
    assert compiles.get_visible()
    assert interrupted.get_visible() == held_up
    delay = time_calls(watch, 32).delays[INTERRUPTED]
    assert not held_up or 0 < interrupted.get_position()[0] < delay


def test_a_larger_matrix_tells_one_lie_from_another(capsys):
    show_speeds("no waiting", "same inputs")
    assert capsys.readouterr().out.splitlines() == [
        "2. no waiting: 1.60 times the speed of memory at 16 MB, 12.80 at 128 MB",
        "2. same inputs: 1.14 times the speed of memory at 16 MB, 0.93 at 128 MB",
    ]
