"""Build the notebooks of the lessons from their sources."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from blocklab.language import LANGUAGES

from . import glossary, glossary_page, notebook
from .address import read_address
from .execute import execute
from .problem import Faults, Problem, PublishError, kept_in
from .project import Outline, Project
from .table import stamp_readme


def build(project: Project, numbers: list[str], run: bool = True, say: Callable[[str], None] = print) -> list[str]:
    """Build the lessons with these numbers (all if none), remove orphans, and stamp all lessons and the READMEs.

    Without `run` outputs stay as they are wherever the code is the same. Nothing is written for a lesson that fails,
    and the others go on: the result says what went wrong, a text for each.
    """
    chosen = project.chosen(numbers)
    if clashes := project.clashes():  # it is not known which lesson is the next
        raise Faults(*clashes.values())
    outlines, broken = project.survey()
    by_stem = {outline.stem: outline for outline in outlines if outline.stem not in broken}
    failures: list[Problem | PublishError] = list(broken.values())
    for outline in [by_stem[stem] for stem in chosen if stem in by_stem]:
        start = time.perf_counter()
        with kept_in(failures):
            build_one(project, outlines, outline, run)
            say(f"{outline.stem}  {time.perf_counter() - start:.1f} s")
    for path, why in orphans(project).items():
        if why is None:
            path.unlink()
            say(f"removed {project.show(path)}: its source is gone")
        else:
            say(f"left alone {project.show(path)}: {why}")
    if os.path.lexists(glossary.table(project)):
        with kept_in(failures):
            glossary_page.build(project, outlines)
    failures += restamp(project, outlines)
    return list(dict.fromkeys(map(str, failures)))


def build_one(project: Project, outlines: list[Outline], outline: Outline, run: bool) -> None:
    notebooks = notebook.compose(project, outlines, outline)
    if run:
        execute(project, outline.stem, notebooks)
    for language, built in notebooks.items():
        path = project.notebook(language, outline.stem)
        if not run and os.path.lexists(path):
            notebook.keep_outputs(built, notebook.read(path, project.show(path)))
    for language, built in notebooks.items():
        path = project.notebook(language, outline.stem)
        notebook.write(built, path, project.show(path))


def restamp(project: Project, outlines: list[Outline]) -> list[Problem | PublishError]:
    """Renew the stamped cells of built lessons, and only those: no source is read and nothing is run.

    A notebook that cannot be read is left as it is; the result says which.
    """
    failures: list[Problem | PublishError] = []
    address = read_address(project)
    for outline in outlines:
        for language in LANGUAGES:
            path = project.notebook(language, outline.stem)
            if os.path.lexists(path):
                with kept_in(failures):
                    built = notebook.read(path, project.show(path))
                    notebook.put_stamps(built, address, outlines, outline, language)
                    project.write(path, notebook.text(built))
    for language in LANGUAGES:
        with kept_in(failures):
            stamp_readme(project, outlines, language)
    return failures


def orphans(project: Project) -> dict[Path, str | None]:
    """Notebooks beside the built ones that have no source: None for one that a build wrote, else why it is kept."""
    sources = {path.stem for path in project.sources.iterdir()}
    return {
        path: _not_ours(project, language, path)
        for language in LANGUAGES
        for path in sorted(project.notebooks(language).glob("*.ipynb"))
        if path.stem not in sources
    }


def _not_ours(project: Project, language: str, path: Path) -> str | None:
    """Why a notebook may be a reader's own. It is the build's if it names this very file, and nobody saved it since.

    Whoever works in a notebook leaves marks: JupyterLab writes the kernel's version into it, runs have gaps, and git
    knows the rest.
    """
    try:
        there = notebook.read(path, project.show(path))
    except Faults:
        return "it is none of the built notebooks"
    sources = [project.show(project.sources / f"{path.stem}{suffix}") for suffix in (".py", ".toml")]
    said = there.metadata.get("blocklab")
    source = said.get("source") if isinstance(said, dict) else None
    wanted = notebook.of_cells([], language, source).metadata
    if path.is_symlink() or source not in sources or said != wanted["blocklab"]:
        return "it is none of the built notebooks"
    counts = [cell.execution_count for cell in there.cells if cell.cell_type == "code"]
    whole = path.read_bytes() == notebook.text(there).encode("utf-8")
    if there.metadata != wanted or counts != [*range(1, len(counts) + 1)] or not whole:
        return "its source is gone, but somebody has worked in it"
    return _not_in_git(path)


def _not_in_git(path: Path) -> str | None:
    """Why git could not bring the file back as it is; None if it could."""
    try:
        command = ["git", "status", "--porcelain", "--ignored", "--", path.name]
        done = subprocess.run(command, cwd=path.parent, capture_output=True, check=False)
    except OSError:
        done = None
    if done is None or done.returncode:
        return "its source is gone, but without git it cannot be told whether somebody has worked in it"
    return "its source is gone, but somebody has worked in it" if done.stdout else None
