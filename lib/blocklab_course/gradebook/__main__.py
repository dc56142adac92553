"""`python -P -m blocklab_course.gradebook FOLDER`: report a class's results, students by exercises, as HTML and CSV."""

import argparse
import contextlib
import importlib.util
import os
import sys
import uuid
from pathlib import Path

from blocklab_course import i18n
from blocklab_course.i18n import Text

from .collect import Report, RunNotebook, collect
from .pages import render_csv, render_html
from .sanitize import sanitize
from .signals import Stopped, stop_on_signal

NO_NOTEBOOK = Text(en="There is no notebook in {folder}.", zh="{folder} 里没有笔记本。")
RUN_NEEDS = Text(en="--run needs {package}: pip install {package}", zh="--run 需要 {package}：pip install {package}")

EMPTY_FOLDER = Text(en="expected the name of a folder, got an empty one", zh="文件夹的名字不能是空的")
STOPPED = Text(en="stopped ({signal}); nothing was written", zh="已停止（{signal}），没有写出报告")
BAD_LEVEL = Text(en="expected a whole number from 1 to 999, got {got}", zh="需要 1 到 999 的整数，得到的是 {got}")
BAD_SECONDS = Text(
    en="expected seconds from 1 to {longest}, got {got}", zh="秒数要在 1 到 {longest} 之间，得到的是 {got}"
)

PROG = "python -m blocklab_course.gradebook"
DEFAULT_NAME = "report"
SECONDS = 300  # for one notebook; the longest lesson takes a third of that on two busy cores
MAX_SECONDS = 86_400  # a day


class _Parser(argparse.ArgumentParser):
    """Reports errors in one line, without the usage."""

    def error(self, message: str):
        self.exit(2, f"{self.prog}: {sanitize(message)}\n")


def main(arguments: list[str] | None = None) -> int:
    language = _Parser(prog=PROG, add_help=False)
    language.add_argument("--language", choices=i18n.LANGUAGES, default="en")
    i18n.set_language(
        language.parse_known_args(arguments)[0].language
    )  # first, because errors in other options are reported in it
    parser = _Parser(prog=PROG, parents=[language], description="Report which mistakes a class makes.")
    parser.add_argument("folder", type=_folder, help="the students' notebooks: a file or a folder per student")
    parser.add_argument("--out", type=Path, default=Path(DEFAULT_NAME), help="name of the two files, without suffix")
    parser.add_argument(
        "--level",
        type=_level,
        metavar="N",
        help="the level of folders that names the students: 1 for FOLDER/eve, 2 for FOLDER/a/eve",
    )
    parser.add_argument("--run", action="store_true", help="run copies of the notebooks first; by default nothing runs")
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=SECONDS,
        metavar="S",
        help="with --run, the time limit for one notebook (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    try:
        with stop_on_signal():
            return _report(options)
    except Stopped as stopped:
        print(STOPPED.format(signal=stopped), file=sys.stderr)
        return stopped.status
    except (ValueError, OSError) as error:
        print(sanitize(error), file=sys.stderr)
        return 2


def _folder(text: str) -> Path:
    if not text:  # Path("") would be the current folder
        raise argparse.ArgumentTypeError(str(EMPTY_FOLDER))
    return Path(text)


def _level(text: str) -> int:
    if not text.isdecimal() or not 1 <= len(text) <= 3 or int(text) < 1:
        raise argparse.ArgumentTypeError(BAD_LEVEL.format(got=repr(text)))
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= MAX_SECONDS:  # false for NaN
        raise argparse.ArgumentTypeError(BAD_SECONDS.format(longest=MAX_SECONDS, got=repr(text)))
    return seconds


def _report(options: argparse.Namespace) -> int:
    with _runner(options) as run:
        report = collect(options.folder, options.level, run)
    if not (report.cells or report.problems):
        raise ValueError(NO_NOTEBOOK.format(folder=options.folder))
    _write(report, options.out)
    for line in [*report.remarks, *report.problem_lines]:
        print(sanitize(line), file=sys.stderr)
    return 1 if report.problems else 0


def _runner(options: argparse.Namespace) -> contextlib.AbstractContextManager[RunNotebook | None]:
    if not options.run or not options.folder.is_dir():
        return contextlib.nullcontext()
    for package in ("nbclient", "psutil"):  # JupyterLab needs both; reading notebooks needs neither
        if importlib.util.find_spec(package) is None:
            raise ValueError(RUN_NEEDS.format(package=package))
    from .run_notebooks import notebook_runner

    return notebook_runner(options.folder, options.seconds)


def _write(report: Report, out: Path) -> None:
    """Write both files, under the default name if `out` is a folder, replacing existing files and links.

    They are written under temporary names first, so that a full disk doesn't destroy an earlier report.
    """
    out = out / DEFAULT_NAME if out.is_dir() else out
    out.parent.mkdir(parents=True, exist_ok=True)
    new: dict[Path, Path] = {}
    try:
        csv = "\ufeff" + render_csv(report)  # Excel needs the byte order mark
        for ending, text in ((".html", render_html(report)), (".csv", csv)):
            path = out.with_name(out.name + ending)
            new[path] = out.with_name(f".{uuid.uuid4().hex}")
            _write_new(new[path], text, path)
        for path, written in new.items():
            os.replace(written, path)
            print(sanitize(path))
    finally:
        for written in new.values():
            written.unlink(missing_ok=True)


def _write_new(path: Path, text: str, named: Path) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:  # the error of a full disk has no file name
        raise OSError(error.errno, error.strerror, str(named)) from None


if __name__ == "__main__":
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if the shell closed it
        stream.reconfigure(errors="backslashreplace")  # the terminal may not support all characters
    sys.exit(main())
