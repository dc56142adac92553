"""What lesson 00 promises: a solution is folded below every exercise."""

import re
from pathlib import Path

import pytest

from authoring.project import Project
from authoring.source import Code, read_lesson

PROJECT = Project(Path(__file__).parents[2])


@pytest.mark.parametrize("stem", [outline.stem for outline in PROJECT.outlines() if outline.number])
def test_every_exercise_has_its_solution_before_the_next(stem):
    cells = [cell for cell in read_lesson(PROJECT, stem).cells if isinstance(cell, Code)]
    asked, waiting = 0, set()
    for cell in cells:
        names = set(re.findall(r'^check\("(\w+)"', cell.source, re.MULTILINE))
        if "exercise" in cell.tags:
            assert not waiting
            asked, waiting = asked + 1, names
        elif "solution" in cell.tags:
            waiting -= names
    assert asked
    assert not waiting
