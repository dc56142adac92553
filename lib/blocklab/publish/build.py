"""Build the notebooks of the lessons from their sources."""

import time
from collections.abc import Callable
from pathlib import Path

from blocklab.language import LANGUAGES

from . import glossary_page, notebook
from .address import read_address
from .execute import execute
from .project import Outline, Project
from .table import stamp_readmes


def build(project: Project, numbers: list[str], run: bool = True, say: Callable[[str], None] = print) -> None:
    """Build the lessons with these numbers (all if none), remove orphans, and stamp all lessons and the READMEs.

    Without `run` outputs stay as they are wherever the code is the same. Nothing is written for a lesson that fails.
    """
    chosen = project.chosen(numbers)
    outlines = project.outlines()
    for outline in chosen:
        start = time.perf_counter()
        build_one(project, outlines, outline, run)
        say(f"{outline.stem}  {time.perf_counter() - start:.1f} s")
    for path in orphans(project):
        path.unlink()
        say(f"removed {project.show(path)}: its source is gone")
    if glossary_page.table(project).is_file():
        glossary_page.build(project, outlines)
    restamp(project, outlines)


def build_one(project: Project, outlines: list[Outline], outline: Outline, run: bool) -> None:
    notebooks = notebook.compose(project, outlines, outline)
    if run:
        execute(project, outline.stem, notebooks)
    for language, built in notebooks.items():
        path = project.notebook(language, outline.stem)
        if not run and path.is_file():
            notebook.keep_outputs(built, notebook.read(path))
        notebook.write(built, path)


def restamp(project: Project, outlines: list[Outline]) -> None:
    """Renew the stamped cells of built lessons, and only those: no source is read and nothing is run."""
    address = read_address(project)
    for outline in outlines:
        for language in LANGUAGES:
            path = project.notebook(language, outline.stem)
            if path.is_file():
                built = notebook.read(path)
                notebook.put_stamps(built, address, outlines, outline, language)
                notebook.write(built, path)
    stamp_readmes(project)


def orphans(project: Project) -> list[Path]:
    """Built notebooks whose source is gone."""
    built = [path for language in LANGUAGES for path in sorted(project.notebook(language, "x").parent.glob("*.ipynb"))]
    sources = {path.stem for path in project.sources.iterdir()}
    return [path for path in built if path.stem not in sources]
