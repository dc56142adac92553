"""The real lessons: both languages agree, the built notebooks are fresh, badges and READMEs hold the one address."""

from pathlib import Path

import pytest

from blocklab.language import LANGUAGES
from workshop import build, check, exercises, form, fresh, parity, texts
from workshop.glossary import read_glossary
from workshop.project import Project
from workshop.source import read_lesson

PROJECT = Project(Path(__file__).parents[2])
OUTLINES = PROJECT.outlines()
GLOSSARY = read_glossary(PROJECT)

each_lesson = pytest.mark.parametrize("outline", OUTLINES, ids=lambda outline: outline.stem)


def nothing(problems):
    __tracebackhide__ = True
    if problems:
        pytest.fail("\n".join(map(str, problems)), pytrace=False)


def test_there_are_lessons():
    assert OUTLINES


@each_lesson
def test_both_languages_say_the_same(outline):
    lesson = read_lesson(PROJECT, outline.stem)
    nothing(parity.check_lesson(lesson, GLOSSARY) + texts.check_code(lesson, GLOSSARY))


@each_lesson
def test_code_cells_are_short(outline):
    nothing(fresh.check_code_length(read_lesson(PROJECT, outline.stem)))


@each_lesson
def test_lessons_have_their_form(outline):
    nothing(form.check_form(read_lesson(PROJECT, outline.stem)))


@each_lesson
def test_exercises_and_solutions_bear_their_tags(outline):
    nothing(exercises.check_exercises(read_lesson(PROJECT, outline.stem)))


@each_lesson
def test_the_notebooks_are_fresh_and_show_the_same(outline):
    nothing(fresh.check_notebooks(PROJECT, OUTLINES, outline))


def test_no_notebook_has_lost_its_source():
    assert build.orphans(PROJECT) == []


def test_texts_of_the_package_agree():
    nothing(texts.check_package(PROJECT, GLOSSARY))


def test_the_readmes_list_the_lessons():
    for language in LANGUAGES:
        nothing(check.check_readme(PROJECT, OUTLINES, language))
