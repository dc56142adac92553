"""The glossary, a page in each language, built from the one table `notebooks/source/glossary.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from blocklab.language import LANGUAGES

from . import notebook
from .problem import Problem, PublishError
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
    """All rows of the table. Raises PublishError for one with another set of fields."""
    terms = []
    for place, row in enumerate(tomllib.loads(table(project).read_text("utf-8"))["term"], start=1):
        if row.keys() != FIELDS:
            differ = ", ".join(sorted(row.keys() ^ FIELDS))
            raise PublishError(
                f"{project.show(table(project))}: term {place} has a field missing or too many: {differ}"
            )
        words = {language: row[language] for language in LANGUAGES}
        meanings = {language: row[f"meaning_{language}"] for language in LANGUAGES}
        terms.append(Term(words, meanings, row["lesson"]))
    return terms


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
        notebook.write(compose(terms, outlines, language), project.notebook(language, STEM))


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
        wanted = nbformat.writes(compose(terms, outlines, language))
        if not path.is_file() or nbformat.writes(notebook.read(path)) != wanted:
            problems.append(Problem(project.show(path), None, None, "is not that of the table; run: build"))
    for term in terms:
        if term.lesson not in lessons:
            problems.append(Problem(file, None, term.words["en"], f"there is no lesson {term.lesson:02d}"))
        problems += check_wording(Wording(0, term.meanings["en"], term.meanings["zh"]), file, term.words["en"], None)
    return problems
