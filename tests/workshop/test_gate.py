"""The runner of the gate's parts, with a Makefile of its own: it names what is red, and nothing goes on after it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.skipif(os.name == "nt" or not shutil.which("make"), reason="wants make")

ROOT = Path(__file__).parents[2]
HANGS = 60  # seconds, after which a test fails rather than waits
MAKEFILE = """
green:
	@echo "1.50s call     tests/test_a.py::test_of_green"
	@echo "SKIPPED [1] tests/test_a.py:1: wants a CUDA device"
	@echo "===== 2 passed, 1 skipped in 3.00s ====="
red:
	@echo "E   assert 1 == 2"; echo "22.00s call     tests/test_b.py::test_of_red"; exit 1
one:
	@touch one.there; until [ -e two.there ]; do sleep 0.05; done
two:
	@touch two.there; until [ -e one.there ]; do sleep 0.05; done
after:
	@[ -e one.there ] && [ -e two.there ]
flags:
	@echo "flags $(MAKEFLAGS) $(MAKELEVEL)" > flags.txt
endless:
	@{python} -c "import subprocess; subprocess.run(['sleep', '1000.5'])" & wait
stubborn:
	@trap '' INT TERM HUP; touch stubborn.there; while :; do sleep 1000.5; done
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Makefile").write_text(MAKEFILE.replace("{python}", sys.executable), "utf-8")
    return tmp_path


def start(folder, *parts, ignored=(), **environment):
    def set_signals():  # whatever the tests themselves were started with
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    return subprocess.Popen(
        [sys.executable, "-m", "workshop.gate", *parts],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "lib")} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
        preexec_fn=set_signals,
    )


def gate(folder, *parts, **environment):
    process = start(folder, *parts, **environment)
    return process.communicate(timeout=HANGS)[0].splitlines(), process.returncode


def test_all_green(folder):
    lines, code = gate(folder, "green")
    assert (lines[-1], code) == ("All green.", 0)
    assert "    SKIPPED [1] tests/test_a.py:1: wants a CUDA device" in lines
    assert "    2 passed, 1 skipped in 3.00s" in lines


def test_a_red_part_is_shown_in_whole_and_named_and_the_others_run(folder):
    lines, code = gate(folder, "red", "green")
    assert (lines[-1], code) == ("RED: red", 1)
    assert "E   assert 1 == 2" in lines
    assert any(line.startswith("green: green after") for line in lines)
    slowest = lines[lines.index("The slowest 2 tests:") + 1 :]
    assert slowest[:2] == [
        "    22.0 s   red: tests/test_b.py::test_of_red",
        "     1.5 s   green: tests/test_a.py::test_of_green",
    ]


def test_a_part_that_is_no_target_is_red(folder):
    lines, code = gate(folder, "nothing")
    assert (lines[-1], code) == ("RED: nothing", 1)


def test_two_parts_run_side_by_side(folder):
    assert gate(folder, "one", "two")[1] == 0


def test_the_next_part_begins_when_one_of_two_has_ended(folder):
    assert gate(folder, "one", "green", "two")[1] == 0


def test_a_part_that_wants_more_processors_than_are_idle_waits(folder):
    assert gate(folder, "one", "two", "after=1000")[1] == 0
    assert gate(folder, "after=1000", "green", "one", "two")[1] == 0


def test_a_part_that_wants_none_does_not_wait(folder):
    assert gate(folder, "one=1000", "two=0")[1] == 0


def test_a_part_knows_nothing_of_the_make_that_has_started_the_gate(folder):
    assert gate(folder, "flags", MAKEFLAGS="j2 --jobserver-auth=3,4", MAKELEVEL="1")[1] == 0
    assert (folder / "flags.txt").read_text("utf-8").split()[-1] == "0"
    assert "jobserver" not in (folder / "flags.txt").read_text("utf-8")


def of(folder):
    """The processes at work in the folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def wait_until(true):
    until = time.monotonic() + HANGS
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_that_runs(folder, number):
    process = start(folder, "endless", "one", "green=1000")
    wait_until((folder / "one.there").exists)
    process.send_signal(number)
    said = process.communicate(timeout=HANGS)[0]
    assert process.returncode == 128 + number
    assert "green: running" not in said
    wait_until(lambda: not of(folder))


def test_what_does_not_listen_is_killed(folder):
    process = start(folder, "stubborn")
    wait_until((folder / "stubborn.there").exists)
    process.terminate()
    process.communicate(timeout=HANGS)
    wait_until(lambda: not of(folder))


def test_under_nohup_the_terminals_signals_end_nothing(folder):
    process = start(folder, "one", "two", ignored=(signal.SIGINT, signal.SIGHUP))
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGHUP)
    assert process.communicate(timeout=HANGS)[0].endswith("All green.\n")
