"""Build and run the notebooks from the lessons' sources."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from blocklab_course.i18n import LANGUAGES

from . import glossary, glossary_page, notebook
from .address import read_address
from .execute import execute
from .problem import BuildError, BuildErrors, Problem, collecting_errors
from .project import Outline, Project
from .readme import update_readme


def build(project: Project, numbers: list[str], run: bool = True, say: Callable[[str], None] = print) -> list[str]:
    """Build the lessons with these numbers (default: all), and update the links in all notebooks and READMEs.

    Without `run`, unchanged code keeps its outputs. Removes notebooks without a source. A lesson that fails is left as
    it was and the others are still built; returns the error messages.
    """
    stems, outlines = project.select(numbers), project.outlines()
    failures: list[Problem | BuildError] = []
    for outline in outlines:
        if outline.stem in stems:
            start = time.perf_counter()
            with collecting_errors(failures):
                build_one(project, outlines, outline, run)
                say(f"{outline.stem}  {time.perf_counter() - start:.1f} s")
    for path in find_orphans(project):
        path.unlink()
        say(f"removed {project.show(path)}: it has no source")
    if glossary.glossary_path(project).exists():
        with collecting_errors(failures):
            glossary_page.build(project, outlines)
    failures += update_shared_cells(project, outlines)
    return list(dict.fromkeys(map(str, failures)))


def build_one(project: Project, outlines: list[Outline], outline: Outline, run: bool) -> None:
    notebooks = notebook.compose(project, outlines, outline)
    if run:
        execute(project, outline.stem, notebooks)
    for language, built in notebooks.items():
        path = project.notebook(language, outline.stem)
        if not run and path.exists():
            notebook.keep_outputs(built, notebook.read(path, project.show(path)))
    for language, built in notebooks.items():
        path = project.notebook(language, outline.stem)
        notebook.write(built, path, project.show(path))


def update_shared_cells(project: Project, outlines: list[Outline]) -> list[Problem | BuildError]:
    """Update the generated cells of the built notebooks and the READMEs, without running anything. Returns errors."""
    failures: list[Problem | BuildError] = []
    address = read_address(project)
    for outline in outlines:
        for language in LANGUAGES:
            path = project.notebook(language, outline.stem)
            if path.exists():
                with collecting_errors(failures):
                    built = notebook.read(path, project.show(path))
                    notebook.set_shared_cells(built, address, outlines, outline, language)
                    project.write(path, notebook.to_text(built))
    for language in LANGUAGES:
        with collecting_errors(failures):
            update_readme(project, outlines, language)
    return failures


def find_orphans(project: Project) -> list[Path]:
    """Built notebooks whose source no longer exists. A copy under another name is not one of them."""
    sources, found = {path.stem for path in project.sources.iterdir()}, []
    for language in LANGUAGES:
        for path in sorted(project.notebooks(language).glob("*.ipynb")):
            if path.stem not in sources:
                with suppress(BuildErrors, AttributeError):
                    if Path(notebook.read(path).metadata.blocklab.source).stem == path.stem:
                        found.append(path)
    return found
