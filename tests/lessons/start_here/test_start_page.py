"""The start page lists the lessons that are there, by their titles."""

import re
from pathlib import Path

import pytest

from workshop import notebook
from workshop.project import Project
from workshop.source import Twins, read_lesson

PROJECT = Project(Path(__file__).parents[3])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_lesson_has_its_row_with_its_title(language):
    page = "\n".join(cell.source for cell in notebook.read(PROJECT.notebook(language, "00_start_here")).cells)
    rows = re.findall(r"^\| \[(\d\d)\]\((\w+)\.ipynb\) \| (.*?) \| .+ \|$", page, re.MULTILINE)
    lessons = [outline for outline in PROJECT.outlines()[1:] if outline.number]
    assert rows == [(lesson.number, lesson.stem, lesson.subject(language)) for lesson in lessons]


def test_the_hours_are_the_sum_of_what_the_lessons_ask_for():
    page = read_lesson(PROJECT, "00_start_here")
    told = next(cell.en for cell in page.cells if isinstance(cell, Twins) and "**short way**" in cell.en)
    short = {int(number) for number in re.search(r"functions: ([\d, ]+)\.", told)[1].split(", ")}
    asked = {
        int(outline.number): int(re.search(r"about (\d+) minutes", read_lesson(PROJECT, outline.stem).cells[0].en)[1])
        for outline in PROJECT.outlines()[1:]
        if outline.number
    }
    assert "about six and a half hours, the short way about four and a half" in told
    assert sum(asked.values()) / 60 == pytest.approx(6.5, abs=0.25)
    assert sum(asked[number] for number in short) / 60 == pytest.approx(4.5, abs=0.25)
