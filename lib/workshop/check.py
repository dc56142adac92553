"""Everything that must hold before lessons are published."""

from blocklab.language import LANGUAGES

from . import glossary_page
from .build import orphans
from .exercises import check_exercises
from .form import check_form
from .fresh import check_code_length, check_notebooks
from .glossary import Glossary, read_glossary
from .links import dead_links_of_lesson, dead_links_of_readme
from .parity import check_lesson
from .problem import Problem, PublishError, kept_in
from .project import Outline, Project
from .source import read_lesson
from .table import stamped
from .texts import check_code, check_package


def check(project: Project, numbers: list[str]) -> list[Problem | PublishError]:
    """The lessons with these numbers; if none is named, all of them, the package's texts and the READMEs.

    A lesson that cannot be read is a finding like any other, and does not hide what is wrong elsewhere.
    """
    chosen, outlines = project.chosen(numbers), project.outlines()
    problems: list[Problem | PublishError] = []
    glossary = Glossary()
    with kept_in(problems):
        glossary = read_glossary(project)
    for outline in outlines:
        if outline.stem in chosen:
            with kept_in(problems):
                lesson = read_lesson(project, outline.stem)
                problems += check_lesson(lesson, glossary) + check_code(lesson, glossary)
                problems += check_code_length(lesson) + check_exercises(lesson) + check_form(lesson)
                problems += dead_links_of_lesson(project, lesson)
                problems += check_notebooks(project, outlines, outline)
    if not numbers:
        problems += check_package(project, glossary)
        for language in LANGUAGES:
            with kept_in(problems):
                problems += check_readme(project, outlines, language)
        if glossary.terms:
            with kept_in(problems):
                problems += glossary_page.check(project, outlines, glossary)
        problems += [
            Problem(project.show(path), None, None, "its source is gone; run: build") for path in orphans(project)
        ]
    return list({str(problem): problem for problem in problems}.values())


def check_readme(project: Project, outlines: list[Outline], language: str) -> list[Problem]:
    """The README holds the table of lessons, with the address of pyproject.toml, and no link leads nowhere."""
    readme, wanted = project.readme(language), stamped(project, outlines, language)
    problems = dead_links_of_readme(project, language)
    if project.read(readme) != wanted:
        problems.append(Problem(project.show(readme), None, None, "the table of lessons is stale; run: build"))
    return problems
