"""The commands: build, check, address, copies, handouts, site, single."""

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
            raise BuildError(f"{root} is no repository of lessons: it wants pyproject.toml and notebooks/source/")
        return options.command(Project(root), options)
    except (BuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: stopped; what was not finished is as it was before", file=sys.stderr)
        return 130


LESSONS = "numbers of lessons, such as 02, and names of appendices; all if none"

# Each command imports what it needs: learners copy lessons without the tools that build them.


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
        print("no links to Colab: it opens notebooks from github.com alone")
    return _report(update_shared_cells(project, project.outlines()))


def _copies(project: Project, options: argparse.Namespace) -> int:
    from .copies import copy_lessons

    with use_language(options.language):
        copy_lessons(project, fresh=options.fresh)
    return 0


def _handouts(project: Project, options: argparse.Namespace) -> int:
    from .chromium import chromium, reason_without_chromium
    from .handout import write_handouts

    if reason := reason_without_chromium():
        raise BuildError(reason)
    with chromium() as browser:
        chosen = project.chosen(options.lessons)
        outlines = [outline for outline in project.outlines() if outline.stem in chosen]
        write_handouts(project, outlines, project.root / "handouts", browser)
    return 0


def _site(project: Project, options: argparse.Namespace) -> int:
    from .site.write import FRONT, write_site

    folder = (options.out or project.root / "site").resolve()
    pages = write_site(project, folder, [] if options.still else project.chosen(options.lessons))
    print(f"{len(pages)} pages: {folder / FRONT}")
    if options.open:
        webbrowser.open((folder / FRONT).as_uri())
    return 0


def _single(project: Project, options: argparse.Namespace) -> int:
    from .bundle import write_bundles

    return _report(write_bundles(project, options.notebooks, options.out or project.root / "single"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m authoring", description=__doc__)
    parser.add_argument("--root", type=Path, help="the repository; found from the current folder if not given")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", help="build and run the lessons' notebooks from notebooks/source")
    build.add_argument("lessons", nargs="*", metavar="NN", help=LESSONS)
    build.add_argument("--no-execute", action="store_true", help="keep the outputs of code that did not change")
    build.set_defaults(command=_build)

    check = commands.add_parser("check", help="hold the two languages, and the built notebooks, to the sources")
    check.add_argument("lessons", nargs="*", metavar="NN", help=LESSONS)
    check.set_defaults(command=_check)

    address = commands.add_parser("address", help="write the repository's address to pyproject.toml, and stamp it")
    address.add_argument("url", metavar="URL", help="such as https://github.com/ada/lessons")
    address.set_defaults(command=_address)

    copies = commands.add_parser("copies", help="copy the lessons to my/, where a learner works")
    copies.add_argument("--fresh", action="store_true", help="copy anew, with your answers; the old copies are kept")
    copies.add_argument("--language", choices=LANGUAGES, default="en", help="of what is said (default: %(default)s)")
    copies.set_defaults(command=_copies)

    handouts = commands.add_parser("handouts", help="write a page of each lesson to handouts/, as HTML and as PDF")
    handouts.add_argument("lessons", nargs="*", metavar="NN", help=LESSONS)
    handouts.set_defaults(command=_handouts)

    site = commands.add_parser("site", help="write the lessons as pages in which the panels live without a kernel")
    site.add_argument("lessons", nargs="*", metavar="NN", help=f"whose panels live: {LESSONS}")
    site.add_argument("--out", type=Path, metavar="DIR", help="where to, site/ if not given; a site there is replaced")
    site.add_argument("--open", action="store_true", help="open it in the browser")
    site.add_argument("--still", action="store_true", help="no panel lives: done in seconds, to look at the texts")
    site.set_defaults(command=_site)

    single = commands.add_parser("single", help="write lessons as files that need no other, to single/")
    single.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK", help="built lessons; all if none")
    single.add_argument("--out", type=Path, metavar="DIR", help="the folder to write to, in place of single/")
    single.set_defaults(command=_single)
    return parser


if __name__ == "__main__":
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None where a shell closed it
        stream.reconfigure(errors="backslashreplace")  # a terminal may lack letters that texts and names have
    sys.exit(main())
