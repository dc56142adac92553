"""The cost and the clock of a time limit. `test_engine_hostile.py` tests what it stops."""

import threading
from pathlib import Path
from time import monotonic

from blocklab_course.checks.timeout import TimeLimit


def test_call_with_enough_time_does_not_wake_watcher(monkeypatch):
    """Waking the watcher takes longer than most calls, and a check makes dozens."""
    with TimeLimit(60) as limit:
        woken, wake = [], limit._changed.notify
        monkeypatch.setattr(limit._changed, "notify", lambda: woken.append(True) or wake())
        assert [limit.call(lambda: 7), limit.call(lambda: 8, 6)] == [7, 8]
        assert not woken
        limit.call(lambda: 9, 0.1)
        assert woken


def test_clock_stops_while_thread_waits_for_cpu():
    waits = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
    waited = int(waits.read_text("utf-8").split()[1]) / 1e9 if waits.exists() else 0  # only on Linux
    with TimeLimit(60) as limit:
        now = limit._now()
        assert monotonic() - now >= waited
