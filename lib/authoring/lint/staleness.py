"""Check that built notebooks are up to date and that both languages show the same results."""

import re
import statistics
from collections import Counter
from itertools import islice, zip_longest

from nbformat import NotebookNode

from authoring import notebook
from authoring.problem import BuildErrors, Problem, shorten
from authoring.project import Outline, Project
from authoring.source import Code, Lesson
from blocklab_course.i18n import LANGUAGES

from .outputs import check_outputs, output_texts

LONGEST, MEDIAN = 15, 7  # lines of a code cell
MANY = 50  # numbers in a message
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])(?:(?<![\w.-])-)?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_TIME = re.compile(r"\d+(?:\.\d+)? ms\b")  # a measured time, which differs from run to run


def check_code_length(lesson: Lesson) -> list[Problem]:
    """A code cell has at most 15 lines, and half of the cells have at most 7."""
    lengths = {cell: cell.source.count("\n") + 1 for cell in lesson.cells if isinstance(cell, Code)}
    problems = [
        Problem(lesson.file, cell.line, cell.id, f"expected a code cell of at most {LONGEST} lines, got {length}")
        for cell, length in lengths.items()
        if length > LONGEST
    ]
    if lengths and (median := statistics.median(lengths.values())) > MEDIAN:
        what = f"expected code cells with a median of at most {MEDIAN} lines, got {median:g}"
        problems.append(Problem(lesson.file, None, None, what))
    return problems


def check_notebooks(project: Project, outlines: list[Outline], outline: Outline) -> list[Problem]:
    """Building the lesson now would give the same notebooks; both were executed and show the same results."""
    problems, there = [], {}
    for language, built in notebook.compose(project, outlines, outline).items():
        path = project.notebook(language, outline.stem)
        file, fix = project.show(path), f"run: python -m authoring build {outline.key}"
        if not path.exists():
            problems.append(Problem(file, None, None, f"not built yet; {fix}"))
            continue
        try:
            there[language] = notebook.read(path, file)
        except BuildErrors as unreadable:
            problems += unreadable.problems
            continue
        problems += _compare(file, fix, built, there[language]) + check_outputs(there[language], file)
        if path.read_bytes() != notebook.to_text(there[language]).encode("utf-8"):
            problems.append(Problem(file, None, None, f"expected the formatting of the build; {fix}"))
    return problems + (_check_alike(project.show(path), *there.values()) if len(there) == len(LANGUAGES) else [])


def _compare(file: str, fix: str, built: NotebookNode, there: NotebookNode) -> list[Problem]:
    ids = [[cell.get("id") for cell in cells] for cells in (built.cells, there.cells)]
    if ids[0] != ids[1]:
        new, old = next((a, b) for a, b in zip_longest(*ids) if a != b)
        return [Problem(file, None, old, f"expected cell {new} of the source, got {old}; {fix}")]
    problems = []
    for new, old in zip(built.cells, there.cells, strict=True):
        if _without_outputs(new) != _without_outputs(old):
            what = f"differs from its source (edited by hand, or the source has changed); {fix}"
            problems.append(Problem(file, None, new.id, what, (("source", new.source), ("notebook", old.source))))
    if built.metadata != there.metadata or built.nbformat_minor != there.nbformat_minor:
        problems.append(Problem(file, None, None, f"expected the metadata of a fresh build; {fix}"))
    code = [cell for cell in there.cells if cell.cell_type == "code"]
    for count, cell in enumerate(code, start=1):
        if cell.execution_count != count:
            what = f"expected execution count {count}, got {cell.execution_count}; {fix}"
            return [*problems, Problem(file, None, cell.id, what)]
    return problems


def _without_outputs(cell: NotebookNode) -> dict:
    return {key: value for key, value in cell.items() if key not in ("outputs", "execution_count")}


def _check_alike(file: str, *languages: NotebookNode) -> list[Problem]:
    """Both languages show the same numbers, except measured times, and the same kinds of output for every cell."""
    en, zh = ({cell.id: cell for cell in there.cells if cell.cell_type == "code"} for there in languages)
    problems = []
    for id in [id for id in en if id in zh]:
        shown = [[text for output in cell.outputs for text in output_texts(output)] for cell in (en[id], zh[id])]
        numbers = [Counter(_NUMBER.findall(_TIME.sub("", "\n".join(text)))) for text in shown]
        if numbers[0] != numbers[1] or _kinds(en[id]) != _kinds(zh[id]):
            only = [islice((numbers[a] - numbers[b]).elements(), MANY) for a, b in ((0, 1), (1, 0))]
            only = [shorten(", ".join(found)) or "none" for found in only]
            what = f"outputs differ, numbers only in en: {only[0]}; only in zh: {only[1]}"
            sides = tuple((language, "\n".join(text)) for language, text in zip(LANGUAGES, shown, strict=True))
            problems.append(Problem(file, None, id, what, sides))
    return problems


def _kinds(cell: NotebookNode) -> list[tuple]:
    return [(output.output_type, sorted(output.get("data", ()))) for output in cell.outputs]
