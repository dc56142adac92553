"""The glossary, a page in each language, built from the one table `notebooks/source/glossary.toml`."""

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from blocklab.language import LANGUAGES

from . import notebook
from .problem import Faults, Problem
from .project import Outline, Project
from .texts import Wording, check_wording

STEM = "glossary"
TITLES = {"en": "# Glossary", "zh": "# 术语表"}
INTRODUCTIONS = {
    "en": "The words of the lessons, in the order in which they appear. [Back to the map](00_start_here.ipynb)",
    "zh": "课程里的术语，按出现的先后排列。[回到课程地图](00_start_here.ipynb)",
}
HEADS = {"en": ("English", "Chinese", "meaning"), "zh": ("中文", "英文", "意思")}
FIELDS = {"lesson", *(f"{field}{language}" for language in LANGUAGES for field in ("", "meaning_"))}


@dataclass(frozen=True)
class Term:
    """A word in both languages, what it means in one sentence, and the number of the lesson that explains it."""

    words: dict[str, str]
    meanings: dict[str, str]
    lesson: int


def table(project: Project) -> Path:
    return project.sources / f"{STEM}.toml"


def read_terms(project: Project) -> list[Term]:
    """All rows of the table. Raises Faults for what is no table, and for every row that is none of its rows."""
    file = project.show(table(project))
    try:
        content = tomllib.loads(project.read(table(project)))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        raise Faults(Problem(file, int(line[1]) if line else None, None, f"is no TOML: {error}")) from None
    rows = content.get("term")
    if content.keys() != {"term"} or not isinstance(rows, list):
        raise Faults(
            Problem(file, None, None, f"wants rows [[term]] and nothing else, got {', '.join(content) or 'none'}")
        )
    problems = [
        Problem(file, None, None, f"term {place} {what}") for place, row in enumerate(rows, 1) if (what := _wrong(row))
    ]
    if problems:
        raise Faults(*problems)
    return [
        Term({language: row[language] for language in LANGUAGES},
             {language: row[f"meaning_{language}"] for language in LANGUAGES}, row["lesson"])
        for row in rows
    ]  # fmt: skip


def _wrong(row: object) -> str | None:
    """What is wrong with the form of a row, if anything is."""
    if not isinstance(row, dict) or row.keys() != FIELDS:
        differ = ", ".join(sorted(row.keys() ^ FIELDS)) if isinstance(row, dict) else "it is no table"
        return f"has a field missing or too many: {differ}"
    for field in sorted(FIELDS - {"lesson"}):
        if not isinstance(row[field], str) or not row[field].strip() or "\n" in row[field]:
            return f"wants {field} to be a text of one line, got {row[field]!r}"
    if type(row["lesson"]) is not int:
        return f"wants lesson to be a number, got {row['lesson']!r}"
    return None


def compose(terms: list[Term], outlines: list[Outline], language: str) -> NotebookNode:
    """The page in a language: under the title of each lesson the words that it explains."""
    cells = [new_markdown_cell(f"{TITLES[language]}\n\n{INTRODUCTIONS[language]}", id="top")]
    for outline in outlines:
        own = [term for term in terms if term.lesson == int(outline.number)]
        if own:
            rows = [HEADS[language], ("---",) * 3, *(_row(term, language) for term in own)]
            lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
            heading = f"## [{outline.titles[language]}]({outline.stem}.ipynb)"
            cells.append(new_markdown_cell(f"{heading}\n\n{lines}", id=f"lesson-{outline.number}"))
    return notebook.of_cells(cells, language, f"notebooks/source/{STEM}.toml")


def _row(term: Term, language: str) -> tuple[str, str, str]:
    [other] = set(LANGUAGES) - {language}
    return term.words[language], term.words[other], term.meanings[language].replace("|", r"\|")


def build(project: Project, outlines: list[Outline]) -> None:
    terms = read_terms(project)
    for language in LANGUAGES:
        path = project.notebook(language, STEM)
        notebook.write(compose(terms, outlines, language), path, project.show(path))


def check(project: Project, outlines: list[Outline]) -> list[Problem]:
    """Both languages say the same, no word stands twice, every lesson exists, and the pages are those of the table."""
    terms, file = read_terms(project), project.show(table(project))
    lessons = {int(outline.number) for outline in outlines}
    problems = []
    for language in LANGUAGES:
        words = [term.words[language] for term in terms]
        problems += [
            Problem(file, None, w, "stands twice in the table") for w in sorted(set(words)) if words.count(w) > 1
        ]
        path = project.notebook(language, STEM)
        wanted = notebook.text(compose(terms, outlines, language))
        if not os.path.lexists(path) or project.read(path) != wanted:
            problems.append(Problem(project.show(path), None, None, "is not that of the table; run: build"))
    for term in terms:
        if term.lesson not in lessons:
            problems.append(Problem(file, None, term.words["en"], f"there is no lesson {term.lesson:02d}"))
        problems += check_wording(Wording(0, term.meanings["en"], term.meanings["zh"]), file, term.words["en"], None)
    return problems
