"""The course's lessons, notebooks and READMEs pass all checks."""

from pathlib import Path

import pytest

from authoring import build, check
from authoring.glossary import read_glossary
from authoring.lint import exercises, i18n, parity, staleness, structure
from authoring.project import Project
from authoring.source import read_lesson
from blocklab_course.i18n import LANGUAGES

PROJECT = Project(Path(__file__).parents[2])
OUTLINES = PROJECT.outlines()
GLOSSARY = read_glossary(PROJECT)

each_lesson = pytest.mark.parametrize("outline", OUTLINES, ids=lambda outline: outline.stem)


def nothing(problems):
    __tracebackhide__ = True
    if problems:
        pytest.fail("\n".join(map(str, problems)), pytrace=False)


def test_course_has_lessons():
    assert OUTLINES


@each_lesson
def test_texts_agree_in_both_languages(outline):
    lesson = read_lesson(PROJECT, outline.stem)
    nothing(parity.check_parity(lesson, GLOSSARY) + i18n.check_code_texts(lesson, GLOSSARY))


@each_lesson
def test_code_cells_are_short(outline):
    nothing(staleness.check_code_length(read_lesson(PROJECT, outline.stem)))


@each_lesson
def test_lessons_are_well_structured(outline):
    nothing(structure.check_structure(read_lesson(PROJECT, outline.stem)))


@each_lesson
def test_exercises_and_solutions_bear_their_tags(outline):
    nothing(exercises.check_exercises(read_lesson(PROJECT, outline.stem)))


@each_lesson
def test_notebooks_are_up_to_date_and_show_the_same(outline):
    nothing(staleness.check_notebooks(PROJECT, OUTLINES, outline))


def test_every_notebook_has_a_source():
    assert build.find_orphans(PROJECT) == []


def test_texts_of_the_package_agree():
    nothing(i18n.check_package_texts(PROJECT, GLOSSARY))


def test_readmes_are_up_to_date():
    for language in LANGUAGES:
        nothing(check.check_readme(PROJECT, OUTLINES, language))
