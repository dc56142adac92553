"""`python -P -m blocklab_course.gradebook FOLDER`: report a class's results, students by exercises, as HTML and CSV."""

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from blocklab_course import i18n
from blocklab_course.i18n import Text

from .collect import Report, collect
from .pages import render_csv, render_html
from .sanitize import sanitize

NO_FOLDER = Text(en="expected a folder with notebooks, got {got!r}", zh="需要一个装有笔记本的文件夹，得到的是 {got!r}")
NO_NOTEBOOK = Text(en="There is no notebook in {folder}.", zh="{folder} 里没有笔记本。")
SECONDS = 300  # for one notebook; the longest lesson takes a third of that on two busy cores


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m blocklab_course.gradebook", description=__doc__)
    add = parser.add_argument
    add("folder", help="the students' notebooks: a file or a folder per student")
    add("--language", choices=i18n.LANGUAGES, default="en")
    add("--out", type=Path, default=Path("report"), metavar="NAME", help="of the two files, without suffix")
    add("--level", type=int, metavar="N", help="where the students' names are: 1 for FOLDER/eve, 2 for FOLDER/a/eve")
    add("--run", action="store_true", help="run copies of the notebooks first; by default nothing runs")
    add("--seconds", type=int, default=SECONDS, metavar="S", help="with --run, for one notebook (%(default)s)")
    options = parser.parse_args(arguments)
    i18n.set_language(options.language)
    run = None
    try:
        if not os.path.isdir(options.folder):  # nor is ""
            raise ValueError(NO_FOLDER.format(got=options.folder))
        if options.run:
            from .run_notebooks import run_notebook  # here, because reading notebooks does not need nbclient

            run = partial(run_notebook, seconds=options.seconds)
        report = collect(Path(options.folder), options.level, run)
        if not (report.cells or report.notes):
            raise ValueError(NO_NOTEBOOK.format(folder=options.folder))
        _write(report, options.out)
    except (ValueError, OSError, ImportError) as error:
        print(sanitize(error), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    for line in report.notes:
        print(sanitize(line), file=sys.stderr)
    return 1 if report.problems else 0


def _write(report: Report, out: Path) -> None:
    """Write both files, named `report` if `out` is a folder, replacing existing files and links.

    They are written to a temporary folder first, so that a full disk doesn't destroy an earlier report.
    """
    out = out / "report" if out.is_dir() else out
    out.parent.mkdir(parents=True, exist_ok=True)
    texts = {".html": render_html(report), ".csv": "\ufeff" + render_csv(report)}  # Excel needs the byte order mark
    with TemporaryDirectory(prefix=".report-", dir=out.parent) as folder:
        for ending, text in texts.items():
            Path(folder, ending).write_text(text, "utf-8", newline="")
        for ending in texts:
            path = out.with_name(out.name + ending)
            os.replace(Path(folder, ending), path)
            print(sanitize(path))


if __name__ == "__main__":
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if the shell closed it
        stream.reconfigure(errors="backslashreplace")  # the terminal may not support all characters
    sys.exit(main())
