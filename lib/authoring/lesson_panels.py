"""Run a lesson's cells and collect its panels, for tests, benchmarks and the site."""

import ast
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch

from authoring.cell_deps import needed_cells
from authoring.project import Project
from authoring.source import Code, read_lesson
from blocklab_course import begin
from blocklab_course.panel import Panel
from blocklab_course.session import set_language

PROJECT = Project(Path(__file__).parents[2])
SOURCES = [  # appendices may have none
    source for source in sorted(PROJECT.sources.glob("*.py")) if '"panel"' in source.read_text("utf-8")
]
LANGUAGES = ("zh", "en")  # English last: the following cells run in it


def code_cells(source: Path) -> list[tuple[str, list[str], dict[str, Any]]]:
    """The code, tags and `base` of each code cell."""
    cells = [cell for cell in read_lesson(PROJECT, source.stem).cells if isinstance(cell, Code)]
    return [(cell.source, list(cell.tags), cell.base) for cell in cells]


def random_accuracy(generator: torch.Generator, *_run, **_options) -> float:
    """A random accuracy in percent."""
    return 60 + 40 * torch.rand((), generator=generator).item()


# Replacements for long training. nbval runs the real lesson.
STAND_INS = {
    "04_small_batches": {
        "mean_accuracy": partial(random_accuracy, torch.Generator().manual_seed(0)),
    }
}


def run_panels(source: Path, stills: bool = False) -> dict[tuple[int, str], Panel]:
    """Run the cells that a lesson's panels need, and return the panels by cell index and language.

    With `stills`, also return the panels that cells show with `.still()`. Then every cell runs except slow ones that no
    other cell needs, because the random state carries over from cell to cell.
    """
    begin("en")
    cells = code_cells(source)
    shows = [
        "panel" in tags or (stills and ".still(" in code.rstrip().rpartition("\n")[2]) for code, tags, _base in cells
    ]
    while not shows[-1]:
        shows.pop()
    cells = cells[: len(shows)]
    can_go = ["slow" in tags if stills else not shown for (_code, tags, _base), shown in zip(cells, shows, strict=True)]
    spare = {number for number, can in enumerate(can_go) if can}
    left_out = spare - needed_cells([code for code, *_about in cells], spare)
    shown, space = {}, {}
    for number, (code, *_about) in enumerate(cells):
        if number in left_out:
            continue
        tree = ast.parse(code)
        last = tree.body.pop() if shows[number] else None
        exec(compile(tree, f"{source.name} cell {number}", "exec"), space)
        space |= {name: made for name, made in STAND_INS.get(source.stem, {}).items() if name in space}
        if last is not None:
            ending = compile(ast.Expression(last.value), f"{source.name} cell {number}", "eval")
            for language in LANGUAGES:
                set_language(language)
                with torch.random.fork_rng():
                    shown[number, language] = eval(ending, space)
    return shown


def default_and_extreme(panel: Panel) -> Iterator[dict[str, Any]]:
    """The default values of all controls, and the values at their ends, as arguments of `move`."""
    yield {name: control.default for name, control in panel.controls.items()}
    yield {name: control.ends()[-1] for name, control in panel.controls.items()}
