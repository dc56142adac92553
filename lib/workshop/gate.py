"""Run parts of a gate, targets of the Makefile, and say in the end what they cost: `python -m workshop.gate A B=2 C=0`.

In this order, and side by side as long as they want no more processors than there are: A keeps one of them busy, B two,
C hardly any. With twice as many processes as processors the same tests took a sixth more. What a part says is kept in
artifacts/gate and shown in whole when it is red.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEPT = Path("artifacts") / "gate"
PROCESSORS = max(2, os.cpu_count() or 2)
GRACE = 10  # seconds for a part that is stopped to end what it has started
SLOWEST = 10
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
# What a part is started without: it would wait for the job slots of the make that has started this.
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
TOLD = re.compile(r"SKIPPED |.* in \d+\.\d+s( \(.*\))?$")  # lines of a green part that are worth showing
TEST = re.compile(r"(\d+\.\d+)s (?:call|setup|teardown) +(.+)")


class Part:
    """A target of the Makefile that runs in a process group of its own."""

    def __init__(self, name: str, busy: int):
        self.name, self.busy, self.kept = name, busy, KEPT / f"{name}.txt"
        self.began, self.wall, self.processor = time.monotonic(), 0.0, 0.0
        environment = {key: value for key, value in os.environ.items() if key not in OF_MAKE}
        with self.kept.open("wb") as output:
            self.process = subprocess.Popen(
                ["make", "--no-print-directory", name],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    def ended(self) -> bool:
        if self.process.returncode is None:
            process, status, used = os.wait4(self.process.pid, os.WNOHANG)
            self.wall = time.monotonic() - self.began
            if process:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.processor = used.ru_utime + used.ru_stime
        return self.process.returncode is not None

    @property
    def green(self) -> bool:
        return self.process.returncode == 0

    @property
    def output(self) -> str:
        return self.kept.read_text("utf-8", "replace")

    def signal(self, number: int) -> None:
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return


def wanted(argument: str) -> tuple[str, int]:
    """A part's name, and how many processors it keeps busy."""
    name, _, busy = argument.partition("=")
    return name, int(busy or 1)


def has_room(busy: int, running: list[Part]) -> bool:
    """Whether what is running leaves a part so many processors; alone it has all that there are."""
    return not busy or not running or busy + sum(part.busy for part in running) <= PROCESSORS


def run(parts: list[tuple[str, int]], asked: list[int]) -> list[Part]:
    """Run all parts, whatever becomes of those before, and tell of each when it has ended.

    Raises SystemExit when a signal has come, which `asked` then holds: not in the handler, or a part that is just
    being started would be nobody's.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    say(f"What each part says is kept in {KEPT}.")
    to_come, running, ended = list(parts), [], []
    with ended_with_this(running):
        while to_come or running:
            if asked:
                raise SystemExit(128 + asked[0])
            while to_come and has_room(to_come[0][1], running):
                running.append(Part(*to_come.pop(0)))
                say(f"{running[-1].name}: running")
            for part in [part for part in running if part.ended()]:
                running.remove(part)
                ended.append(part)
                tell(part)
            time.sleep(0.05)
    return ended


@contextmanager
def ended_with_this(running: list[Part]) -> Iterator[None]:
    """Whatever ends this process but a kill ends what is running, and all that it has started."""
    try:
        yield
    finally:
        for part in running:
            part.signal(signal.SIGTERM)
        until = time.monotonic() + GRACE
        while [part for part in running if not part.ended()] and time.monotonic() < until:
            time.sleep(0.05)
        for part in running:
            part.signal(signal.SIGKILL)


def tell(part: Part) -> None:
    if part.green:
        lines = [line.strip("= ") for line in part.output.splitlines() if TOLD.match(line.strip("= "))]
        say(f"{part.name}: green after {part.wall:.0f} s", *(f"    {line}" for line in lines))
    else:
        say("", f"──── {part.name}: RED after {part.wall:.0f} s ────", part.output, f"──── {part.name}: RED ────", "")


def report(parts: list[Part]) -> None:
    """The parts by what they cost, the slowest tests of all of them, and which parts are red."""
    width = max(len(part.name) for part in parts)
    say("", f"{'':{width}}   seconds   of processors")
    for part in sorted(parts, key=lambda part: -part.wall):
        say(f"{part.name:{width}}{part.wall:10.0f}{part.processor:16.0f}" + ("" if part.green else "   RED"))
    tests = [(float(seconds), test, part.name) for part in parts for seconds, test in TEST.findall(part.output)]
    if tests:
        say("", f"The slowest {min(SLOWEST, len(tests))} tests:")
        say(*(f"{seconds:8.1f} s   {name}: {test}" for seconds, test, name in sorted(tests, reverse=True)[:SLOWEST]))
    red = [part.name for part in parts if not part.green]
    say("", f"RED: {', '.join(red)}" if red else "All green.")


def say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


def main() -> int:
    sys.stdout.reconfigure(errors="replace")
    asked = []
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup, or in the background
            signal.signal(number, lambda number, _frame: asked.append(number))
    parts = run([wanted(argument) for argument in sys.argv[1:]], asked)
    report(parts)
    return 0 if all(part.green for part in parts) else 1


if __name__ == "__main__":
    sys.exit(main())
