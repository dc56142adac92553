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

    What cannot be read is a finding like any other, and does not hide what is wrong elsewhere.
    """
    chosen = project.chosen(numbers)
    outlines, broken = project.survey()
    by_stem = {outline.stem: outline for outline in outlines if outline.stem not in broken}
    problems: list[Problem | PublishError] = list(broken.values())
    glossary = Glossary()
    with kept_in(problems):
        glossary = read_glossary(project)
    for stem in chosen:
        if stem in by_stem:
            with kept_in(problems):
                lesson = read_lesson(project, stem)
                problems += check_lesson(lesson, glossary) + check_code(lesson, glossary)
                problems += check_code_length(lesson) + check_exercises(lesson) + check_form(lesson)
                problems += dead_links_of_lesson(project, lesson)
                problems += check_notebooks(project, outlines, by_stem[stem])
    if not numbers:
        problems += check_package(project, glossary)
        for language in LANGUAGES:
            with kept_in(problems):
                problems += check_readme(project, outlines, language)
        if glossary.terms:
            with kept_in(problems):
                problems += glossary_page.check(project, outlines, glossary)
        problems += [
            Problem(
                project.show(path), None, None, f"its source is gone; {'run: build' if why is None else 'move it away'}"
            )
            for path, why in orphans(project).items()
            if why is None or why.startswith("its source is gone")
        ]
    return list({str(problem): problem for problem in problems}.values())


def check_readme(project: Project, outlines: list[Outline], language: str) -> list[Problem]:
    """The README holds the table of lessons, with the address of pyproject.toml, and no link leads nowhere."""
    readme, wanted = project.readme(language), stamped(project, outlines, language)
    problems = dead_links_of_readme(project, language)
    if project.read(readme) != wanted:
        problems.append(Problem(project.show(readme), None, None, "the table of lessons is stale; run: build"))
    return problems
