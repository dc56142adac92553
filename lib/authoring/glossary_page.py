"""Build the glossary notebook of each language from `glossary.toml`."""

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from blocklab_course.i18n import LANGUAGES

from . import notebook
from .glossary import Glossary, Term, glossary_path, read_glossary
from .lint.i18n import CodeText, check_code_text
from .problem import Problem
from .project import Outline, Project

STEM = "glossary"
TITLES = {"en": "# Glossary", "zh": "# 术语表"}
INTRODUCTIONS = {
    "en": "The words of the lessons, in the order in which they appear; d2l is *Dive into Deep Learning*. "
    "[Back to the map](00_start_here.ipynb)",
    "zh": "课程里的术语，按出现的先后排列。“又译”是别的书里的说法，d2l 指《动手学深度学习》。"
    "[回到课程地图](00_start_here.ipynb)",
}
HEADS = {"en": ("English", "Chinese", "Chinese elsewhere", "meaning"), "zh": ("中文", "英文", "又译", "意思")}


def compose(terms: tuple[Term, ...], outlines: list[Outline], language: str) -> NotebookNode:
    """The page in a language, with the terms of each lesson under its title."""
    cells = [new_markdown_cell(f"{TITLES[language]}\n\n{INTRODUCTIONS[language]}", id="top")]
    for outline in outlines:
        own = [term for term in terms if f"{term.lesson:02d}" == outline.number]
        if own:
            rows = [HEADS[language], ("---",) * len(HEADS[language]), *(_row(term, language) for term in own)]
            lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
            heading = f"## [{outline.titles[language]}]({outline.stem}.ipynb)"
            cells.append(new_markdown_cell(f"{heading}\n\n{lines}", id=f"lesson-{outline.number}"))
    return notebook.make_notebook(cells, language, f"notebooks/source/{STEM}.toml")


def _row(term: Term, language: str) -> tuple[str, ...]:
    [other] = set(LANGUAGES) - {language}
    cells = term.words[language], term.words[other], "、".join(term.others), term.meanings[language]
    return tuple(cell.replace("|", r"\|") for cell in cells)


def build(project: Project, outlines: list[Outline]) -> None:
    terms = read_glossary(project).terms
    for language in LANGUAGES:
        path = project.notebook(language, STEM)
        notebook.write(compose(terms, outlines, language), path, project.show(path))


def check(project: Project, outlines: list[Outline], glossary: Glossary) -> list[Problem]:
    """Check that meanings agree in both languages, terms are unique, lessons exist and the pages are up to date."""
    terms, file = glossary.terms, project.show(glossary_path(project))
    lessons = {outline.number for outline in outlines}
    problems = []
    for language in LANGUAGES:
        words = [term.words[language] for term in terms]
        problems += [
            Problem(file, None, w, "is twice in the glossary") for w in sorted(set(words)) if words.count(w) > 1
        ]
        path = project.notebook(language, STEM)
        expected = notebook.to_text(compose(terms, outlines, language))
        if not path.exists() or project.read(path) != expected:
            problems.append(Problem(project.show(path), None, None, "is out of date; run: build"))
    for term in terms:
        if f"{term.lesson:02d}" not in lessons:
            problems.append(Problem(file, None, term.words["en"], f"there is no lesson {term.lesson:02d}"))
        text = CodeText(0, term.meanings["en"], term.meanings["zh"])
        problems += check_code_text(text, file, term.words["en"], None, glossary)
    return problems
