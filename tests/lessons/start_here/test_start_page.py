"""The start page lists the lessons that are there, by their titles, and says how long they take."""

import re
from pathlib import Path

import pytest

from authoring import notebook
from authoring.project import Project
from authoring.source import BilingualText, read_lesson
from blocklab_course.lessons.catalog import LESSONS, manifest_of

PROJECT = Project(Path(__file__).parents[3])
ROW = re.compile(r"^\| \[(\d\d)\]\((\w+)\.ipynb\) \| (.*?) \| .+ \|$", re.MULTILINE)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_lesson_has_its_row_with_its_title_and_side_trips_are_folded(language):
    page = "\n".join(cell.source for cell in notebook.read(PROJECT.notebook(language, "00_start_here")).cells)
    folded = "\n".join(re.findall("<details>.*?</details>", page, re.DOTALL))
    shown = ROW.findall(re.sub("<details>.*?</details>", "", page, flags=re.DOTALL))
    lessons = [outline for outline in PROJECT.outlines()[1:] if outline.number]
    rows = [(lesson.number, lesson.stem, lesson.short_title(language)) for lesson in lessons]
    aside = [row for row in rows if manifest_of(row[1]).side_trip]
    assert shown == [row for row in rows if row not in aside]
    assert ROW.findall(folded) == aside


ENGLISH = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
CHINESE = ("两", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
NUMBERS = dict(enumerate(zip(ENGLISH, CHINESE, strict=True), 2))


def test_the_hours_are_the_sum_of_what_the_lessons_ask_for():
    page = read_lesson(PROJECT, "00_start_here")
    told = next(cell for cell in page.cells if isinstance(cell, BilingualText) and "take about" in cell.en)
    route = [lesson.minutes for lesson in LESSONS[1:] if not lesson.side_trip]
    aside = [lesson.minutes for lesson in LESSONS[1:] if lesson.side_trip]
    count, hours, more = (NUMBERS[round(n)] for n in (len(route), sum(route) / 60, sum(aside) / 60))
    assert f"These {count[0]} lessons take about {hours[0]} hours, " in told.en
    assert f"The {NUMBERS[len(aside)][0]} side trips take about {more[0]} more" in told.en
    assert f"这{count[1]}课一共大约需要{hours[1]}个小时，" in told.zh
    assert f"四门选修课大约再要{more[1]}个小时" in told.zh
