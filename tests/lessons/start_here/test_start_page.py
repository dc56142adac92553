"""The start page lists the lessons that are there, by their titles."""

import re
from pathlib import Path

import pytest

from authoring import notebook
from authoring.project import Project
from authoring.source import BilingualText, read_lesson

PROJECT = Project(Path(__file__).parents[3])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_lesson_has_its_row_with_its_title(language):
    page = "\n".join(cell.source for cell in notebook.read(PROJECT.notebook(language, "00_start_here")).cells)
    rows = re.findall(r"^\| \[(\d\d)\]\((\w+)\.ipynb\) \| (.*?) \| .+ \|$", page, re.MULTILINE)
    lessons = [outline for outline in PROJECT.outlines()[1:] if outline.number]
    assert rows == [(lesson.number, lesson.stem, lesson.short_title(language)) for lesson in lessons]


NUMBERS = {
    number: (english, f"{chinese}个")
    for number, english, chinese in zip(
        range(8, 13),
        ("eight", "nine", "ten", "eleven", "twelve"),
        ("八", "九", "十", "十一", "十二"),
        strict=True,
    )
}


def hours(minutes: int) -> tuple[str, str]:
    """To the nearest half hour, as the page says it in English and in Chinese."""
    whole, half = divmod(round(minutes / 30), 2)
    english, chinese = NUMBERS[whole]
    return english + " and a half" * half, chinese + "半" * half


def test_the_hours_are_the_sum_of_what_the_lessons_ask_for():
    page = read_lesson(PROJECT, "00_start_here")
    told = next(cell for cell in page.cells if isinstance(cell, BilingualText) and "**short way**" in cell.en)
    short = {int(number) for number in re.search(r"functions: ([\d, ]+)\.", told.en)[1].split(", ")}
    asked = {
        int(outline.number): int(re.search(r"about (\d+) minutes", read_lesson(PROJECT, outline.stem).cells[0].en)[1])
        for outline in PROJECT.outlines()[1:]
        if outline.number
    }
    every, fewer = hours(sum(asked.values())), hours(sum(asked[number] for number in short))
    assert len(asked) == 15
    assert f"All fifteen lessons take about {every[0]} hours, the short way about {fewer[0]}, " in told.en
    assert f"十五课全部学完大约要{every[1]}小时，走捷径大约{fewer[1]}小时，" in told.zh
