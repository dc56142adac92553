"""The command: python -m blocklab_course.benchmarking record [--out FILE] [--quick] [--cpu] [--minutes 8]"""

import argparse
import os
import platform
import sys
from pathlib import Path
from typing import NoReturn

from blocklab_course.benchmarking.suite import CannotRecord, default_path, make_plan, record

# glibc's malloc keeps its pages: otherwise finding memory anew for every result is what gets timed.
MALLOC = "glibc.malloc.mmap_threshold=4294967295:glibc.malloc.trim_threshold=8589934592"


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(arguments)
    try:
        wanted = make_plan(options.cpu, options.quick, options.minutes)
        path = options.out or default_path(wanted.device)
        record(wanted, path, " ".join(["python -m blocklab_course.benchmarking", *_without_path(options)]))
    except (CannotRecord, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _without_path(options: argparse.Namespace) -> list[str]:
    """The command as it enters the recording: without the place of a file on one machine."""
    said = ["record", *(f"--{name}" for name in ("quick", "cpu") if getattr(options, name))]
    return [*said, "--minutes", f"{options.minutes:g}"]


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the options."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}; see --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m blocklab_course.benchmarking", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("record", help="time everything of lesson 14 on this machine, into one CSV file")
    command.add_argument(
        "--out", type=Path, help="the file, which must not exist yet; named after the device if not given"
    )
    command.add_argument("--quick", action="store_true", help="fewer widths and rounds: about two minutes")
    command.add_argument("--cpu", action="store_true", help="what runs on the CPU instead; about nine minutes")
    command.add_argument("--minutes", type=float, default=8, help="begin nothing new after so long; 8 if not given")
    return parser


if __name__ == "__main__":
    if "--cpu" in sys.argv and os.environ.get("GLIBC_TUNABLES") != MALLOC and platform.libc_ver()[0] == "glibc":
        # malloc reads its settings when a process starts.
        again = [sys.executable, "-m", "blocklab_course.benchmarking", *sys.argv[1:]]
        os.execve(sys.executable, again, os.environ | {"GLIBC_TUNABLES": MALLOC})
    sys.exit(main())
