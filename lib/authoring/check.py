"""Check lessons, glossary, package texts and READMEs before they are published."""

from blocklab_course.i18n import LANGUAGES

from . import glossary_page
from .build import find_orphans
from .glossary import Glossary, read_glossary
from .lint.exercises import check_exercises
from .lint.i18n import check_code_texts, check_package_texts
from .lint.links import check_lesson_links, check_readme_links
from .lint.parity import check_parity
from .lint.staleness import check_code_length, check_notebooks
from .lint.structure import check_structure
from .problem import BuildError, Problem, collecting_errors
from .project import Outline, Project
from .readme import render_readme
from .source import read_lesson


def check(project: Project, numbers: list[str]) -> list[Problem | BuildError]:
    """Check the lessons with these numbers; without numbers all lessons, the package's texts and the READMEs.

    A lesson that cannot be read is one more problem in the list; the other lessons are still checked.
    """
    stems, outlines = project.select(numbers), project.outlines()
    problems: list[Problem | BuildError] = []
    glossary = Glossary()
    with collecting_errors(problems):
        glossary = read_glossary(project)
    for outline in outlines:
        if outline.stem in stems:
            with collecting_errors(problems):
                lesson = read_lesson(project, outline.stem)
                problems += check_parity(lesson, glossary) + check_code_texts(lesson, glossary)
                problems += check_code_length(lesson) + check_exercises(lesson) + check_structure(lesson)
                problems += check_lesson_links(project, lesson)
                problems += check_notebooks(project, outlines, outline)
    if not numbers:
        problems += check_package_texts(project, glossary)
        for language in LANGUAGES:
            with collecting_errors(problems):
                problems += check_readme(project, outlines, language)
        if glossary.terms:
            with collecting_errors(problems):
                problems += glossary_page.check(project, outlines, glossary)
        problems += [
            Problem(project.show(path), None, None, "has no source; run: build") for path in find_orphans(project)
        ]
    return list({str(problem): problem for problem in problems}.values())


def check_readme(project: Project, outlines: list[Outline], language: str) -> list[Problem]:
    """Check that the README is up to date and has no dead links."""
    readme, expected = project.readme(language), render_readme(project, outlines, language)
    problems = check_readme_links(project, language)
    if project.read(readme) != expected:
        what = "links, counts or the table of lessons are out of date; run: build"
        problems.append(Problem(project.show(readme), None, None, what))
    return problems
