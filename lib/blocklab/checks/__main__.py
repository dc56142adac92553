"""`python -m blocklab.checks report FOLDER`: a table of the class, students by exercises, as HTML and CSV."""

import argparse
import sys
import tempfile
from pathlib import Path

from blocklab import language

from .report import EMPTY, as_csv, as_html, read


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m blocklab.checks")
    report = parser.add_subparsers(required=True).add_parser("report", help="which mistakes a class makes")
    report.add_argument("folder", type=Path, help="the students' notebooks: one each, or a folder each")
    report.add_argument("--out", type=Path, default=Path("report"), help="name of the two files, without ending")
    report.add_argument("--language", choices=language.LANGUAGES, default="en")
    report.add_argument("--run", action="store_true", help="run copies of the notebooks first; without it nothing runs")
    options = parser.parse_args(arguments)
    language.choose(options.language)
    try:
        return _report(options)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2


def _report(options: argparse.Namespace) -> int:
    if options.run:
        from .run_notebooks import run_copies  # needs nbclient, which reading does not

        with tempfile.TemporaryDirectory() as scratch:
            report = read(run_copies(options.folder, Path(scratch)))
    else:
        report = read(options.folder)
    if not report.cells:
        raise ValueError(EMPTY.format(folder=options.folder))
    for ending, text in ((".html", as_html(report)), (".csv", "\ufeff" + as_csv(report))):  # Excel wants the mark
        path = options.out.with_name(options.out.name + ending)
        path.write_text(text, encoding="utf-8")
        print(path)
    for name, why in report.faults.items():
        print(f"{name}: {why}", file=sys.stderr)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
