"""The watch over what a learner wrote: what it costs, and its clock. What it ends is in the hostile tests."""

import threading
from pathlib import Path
from time import monotonic

from blocklab_course.checks.timeout import TimeLimit


def test_a_call_that_has_time_wakes_nobody(monkeypatch):
    """To wake the watcher takes longer than most calls, and a check makes dozens."""
    with TimeLimit(60) as watch:
        woken, wake = [], watch._changed.notify
        monkeypatch.setattr(watch._changed, "notify", lambda: woken.append(True) or wake())
        assert [watch.call(lambda: 7), watch.call(lambda: 8, 6)] == [7, 8]
        assert not woken
        watch.call(lambda: 9, 0.1)
        assert woken


def test_time_in_which_the_thread_waits_for_its_turn_does_not_count():
    waits = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
    waited = int(waits.read_text("utf-8").split()[1]) / 1e9 if waits.exists() else 0  # on Linux alone it is told
    with TimeLimit(60) as watch:
        now = watch._now()
        assert monotonic() - now >= waited
