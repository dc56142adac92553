"""The course's own lessons, notebooks, glossary and READMEs pass every check."""

from pathlib import Path

import pytest

from authoring.check import check
from authoring.glossary import read_glossary
from authoring.project import Project

PROJECT = Project(Path(__file__).parents[2])


def test_course_has_no_problems():
    assert len(PROJECT.outlines()) > 10
    assert len(read_glossary(PROJECT).terms) > 40
    if problems := check(PROJECT, []):
        pytest.fail("\n".join(map(str, problems)), pytrace=False)
