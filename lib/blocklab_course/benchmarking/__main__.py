"""The command line: python -m blocklab_course.benchmarking record [--out FILE] [--quick] [--cpu] [--minutes 8]"""

import argparse
import os
import platform
import sys
from pathlib import Path

from blocklab_course.benchmarking.suite import CannotRecord, default_path, make_plan, record

# Make glibc's malloc keep its pages: otherwise most of the time goes into getting fresh memory for every result.
MALLOC = "glibc.malloc.mmap_threshold=4294967295:glibc.malloc.trim_threshold=8589934592"


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        plan = make_plan(options.cpu, options.quick, options.minutes)
        record(plan, options.out or default_path(plan.device), _command(options))
    except (CannotRecord, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _command(options: argparse.Namespace) -> str:
    """The command to store in the recording. The output path means nothing on another machine."""
    flags = [f"--{name}" for name in ("quick", "cpu") if getattr(options, name)]
    return " ".join(["python -m blocklab_course.benchmarking record", *flags, f"--minutes {options.minutes:g}"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m blocklab_course.benchmarking", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("record", help="time everything in lesson 14 on this machine, into one CSV file")
    command.add_argument("--out", type=Path, help="a new file; by default named after the device")
    command.add_argument("--quick", action="store_true", help="fewer widths and rounds: about two minutes")
    command.add_argument("--cpu", action="store_true", help="time what runs on the CPU instead: about nine minutes")
    command.add_argument(
        "--minutes", type=float, default=8, help="start no measurement after this time (default: %(default)s)"
    )
    return parser


if __name__ == "__main__":
    if "--cpu" in sys.argv and os.environ.get("GLIBC_TUNABLES") != MALLOC and platform.libc_ver()[0] == "glibc":
        # malloc reads its settings only when a process starts.
        command = [sys.executable, "-m", "blocklab_course.benchmarking", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | {"GLIBC_TUNABLES": MALLOC})
    sys.exit(main())
