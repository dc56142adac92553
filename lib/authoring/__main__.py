"""Build, check and publish the lessons: `python -m authoring COMMAND`."""

import argparse
import sys
import webbrowser
from pathlib import Path

from blocklab_course.i18n import LANGUAGES, use_language

from .problem import BuildError
from .project import Project, find_root, is_root


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        root = (options.root or find_root(Path.cwd())).resolve()
        if not is_root(root):
            raise BuildError(f"expected {root} to hold pyproject.toml and notebooks/source/")
        return options.command(Project(root), options)
    except (BuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted; unfinished files are unchanged", file=sys.stderr)
        return 130


LESSONS = "lesson numbers such as 02, or names of appendices (default: all)"

# Each command imports what it needs: learners run `copies` without the packages that build notebooks.


def _build(project: Project, options: argparse.Namespace) -> int:
    from .build import build

    return _report(build(project, options.lessons, run=not options.no_execute))


def _report(failures: list) -> int:
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _check(project: Project, options: argparse.Namespace) -> int:
    from .check import check

    problems = check(project, options.lessons)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


def _address(project: Project, options: argparse.Namespace) -> int:
    from .address import write_address
    from .build import update_shared_cells

    address = write_address(project, options.url)
    print(f"address: {address.url}")
    if not address.colab:
        print("no Colab links: Colab only opens notebooks from github.com")
    return _report(update_shared_cells(project, project.outlines()))


def _copies(project: Project, options: argparse.Namespace) -> int:
    from .learner_copies import copy_lessons

    with use_language(options.language):
        copy_lessons(project, fresh=options.fresh)
    return 0


def _handouts(project: Project, options: argparse.Namespace) -> int:
    from .chromium import chromium, reason_without_chromium
    from .site.handout import write_handouts

    if reason := reason_without_chromium():
        raise BuildError(reason)
    with chromium() as browser:
        stems = project.select(options.lessons)
        outlines = [outline for outline in project.outlines() if outline.stem in stems]
        write_handouts(project, outlines, project.root / "handouts", browser)
    return 0


def _site(project: Project, options: argparse.Namespace) -> int:
    from .site.write import FRONT, write_site

    folder = (options.out or project.root / "site").resolve()
    pages = write_site(project, folder, [] if options.still else project.select(options.lessons))
    print(f"{len(pages)} pages: {folder / FRONT}")
    if options.open:
        webbrowser.open((folder / FRONT).as_uri())
    return 0


def _single(project: Project, options: argparse.Namespace) -> int:
    from .bundle import write_bundles

    return _report(write_bundles(project, options.notebooks, options.out or project.root / "single"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m authoring", description=__doc__)
    parser.add_argument("--root", type=Path, help="the repository (default: the one around the current folder)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", help="build the notebooks from notebooks/source and run them")
    build.add_argument("lessons", nargs="*", metavar="NN", help=LESSONS)
    build.add_argument("--no-execute", action="store_true", help="run nothing; keep the outputs of unchanged code")
    build.set_defaults(command=_build)

    check = commands.add_parser("check", help="check that both languages agree and the built notebooks are up to date")
    check.add_argument("lessons", nargs="*", metavar="NN", help=LESSONS)
    check.set_defaults(command=_check)

    address = commands.add_parser(
        "address", help="set the repository's URL in pyproject.toml, the notebooks and the READMEs"
    )
    address.add_argument("url", metavar="URL", help="for example https://github.com/ada/lessons")
    address.set_defaults(command=_address)

    copies = commands.add_parser("copies", help="copy the lessons to my/, where a learner works")
    copies.add_argument(
        "--fresh", action="store_true", help="copy all lessons again with your answers; keeps the old copies"
    )
    copies.add_argument(
        "--language", choices=LANGUAGES, default="en", help="language of the messages (default: %(default)s)"
    )
    copies.set_defaults(command=_copies)

    handouts = commands.add_parser(
        "handouts", help="write a one-page handout of each lesson to handouts/, as HTML and PDF"
    )
    handouts.add_argument("lessons", nargs="*", metavar="NN", help=LESSONS)
    handouts.set_defaults(command=_handouts)

    site = commands.add_parser("site", help="write the lessons as web pages whose panels work without a kernel")
    site.add_argument("lessons", nargs="*", metavar="NN", help=f"lessons with interactive panels: {LESSONS}")
    site.add_argument(
        "--out", type=Path, metavar="DIR", help="output folder (default: site/); replaces a site that is there"
    )
    site.add_argument("--open", action="store_true", help="open it in the browser")
    site.add_argument("--still", action="store_true", help="no interactive panels: takes seconds, to look at the texts")
    site.set_defaults(command=_site)

    single = commands.add_parser("single", help="write lessons as self-contained notebooks to single/")
    single.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK", help="built lessons (default: all)")
    single.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: single/)")
    single.set_defaults(command=_single)
    return parser


if __name__ == "__main__":
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if the shell closed it
        stream.reconfigure(errors="backslashreplace")  # a terminal may not support all characters
    sys.exit(main())
