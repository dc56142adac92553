"""The start page lists the lessons that are there, by their titles."""

import re
from pathlib import Path

import pytest

from workshop import notebook
from workshop.project import Project

PROJECT = Project(Path(__file__).parents[3])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_lesson_has_its_row_with_its_title(language):
    page = "\n".join(cell.source for cell in notebook.read(PROJECT.notebook(language, "00_start_here")).cells)
    rows = re.findall(r"^\| \[(\d\d)\]\((\w+)\.ipynb\) \| (.*?) \|$", page, re.MULTILINE)
    lessons = [outline for outline in PROJECT.outlines()[1:] if outline.number]
    assert rows == [(lesson.number, lesson.stem, lesson.subject(language)) for lesson in lessons]
