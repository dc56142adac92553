"""The handout of every lesson fits on one sheet of paper."""

import re
from pathlib import Path

import pytest

from authoring.project import Project
from authoring.site.handout import write_handouts

PROJECT = Project(Path(__file__).parents[2])


@pytest.mark.exhaustive
def test_every_handout_is_one_page(chromium, tmp_path):
    write_handouts(PROJECT, PROJECT.outlines(), tmp_path, chromium)
    pages = {file.name: len(re.findall(rb"/Type /Page\b", file.read_bytes())) for file in tmp_path.glob("*.pdf")}
    assert len(pages) == 2 * (len([outline for outline in PROJECT.outlines() if outline.number]) - 1)
    assert set(pages.values()) == {1}, pages
