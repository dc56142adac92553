"""Everything that must hold before lessons are published."""

from blocklab.language import LANGUAGES

from . import glossary_page
from .build import orphans
from .fresh import check_code_length, check_notebooks, check_outputs
from .parity import check_lesson
from .problem import Problem, PublishError
from .project import Project
from .source import read_lesson
from .table import BEGIN, END, stamped
from .texts import check_code, check_package


def check(project: Project, numbers: list[str]) -> list[Problem | PublishError]:
    """The lessons with these numbers; if none is named, all of them, the package's texts and the READMEs."""
    outlines, problems = project.outlines(), []
    for outline in project.chosen(numbers):
        try:
            lesson = read_lesson(project, outline.stem)
        except PublishError as error:  # a lesson that cannot be read does not hide what is wrong in the others
            problems.append(error)
            continue
        problems += check_lesson(lesson) + check_code(lesson) + check_code_length(lesson)
        problems += check_notebooks(project, outlines, outline) + check_outputs(project, outline.stem)
    if not numbers:
        problems += check_package(project) + check_readmes(project)
        if glossary_page.table(project).is_file():
            problems += glossary_page.check(project, outlines)
        problems += [
            Problem(project.show(path), None, None, "its source is gone; run: build") for path in orphans(project)
        ]
    return problems


def check_readmes(project: Project) -> list[Problem]:
    """Both READMEs hold the table of lessons, with the address of pyproject.toml."""
    problems = []
    for language in LANGUAGES:
        readme, wanted = project.readme(language), stamped(project, language)
        if wanted is None:
            problems.append(Problem(project.show(readme), None, None, f"wants a table between {BEGIN} and {END}"))
        elif readme.read_text(encoding="utf-8") != wanted:
            problems.append(Problem(project.show(readme), None, None, "the table of lessons is stale; run: build"))
    return problems
