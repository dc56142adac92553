"""What a learner's copy of a lesson holds."""

import shutil
from pathlib import Path

import nbformat
import pytest

from blocklab.language import LANGUAGES
from blocklab.publish.copies import VIEW, copy_lessons, without_widgets
from blocklab.publish.project import Project

BUILT = Path(__file__).parents[1] / "notebooks"


@pytest.mark.parametrize("language", LANGUAGES)
def test_copies_are_the_lessons_but_for_their_widgets(language, tmp_path):
    shutil.copytree(BUILT / language, tmp_path / "notebooks" / language)
    copy_lessons(Project(tmp_path))
    for lesson in sorted((BUILT / language).glob("*.ipynb")):
        copy, notebook = (
            nbformat.read(folder / lesson.name, 4) for folder in (tmp_path / "my" / language, lesson.parent)
        )
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                output.get("data", {}).pop(VIEW, None)
        assert copy == notebook


def test_a_notebook_without_widgets_is_copied_byte_for_byte():
    glossary = (BUILT / "zh" / "glossary.ipynb").read_bytes()
    assert without_widgets(glossary) == glossary


@pytest.mark.parametrize(
    "lesson", [b"", b"<<<<", b"\xff", b"[1]", b'{"cells": null}', b'{"cells": [1]}', b"[" * 100_000]
)
def test_what_is_no_notebook_is_copied_as_it_is(lesson):
    assert without_widgets(lesson) == lesson
