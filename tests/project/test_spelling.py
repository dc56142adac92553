"""English texts are spelled as in America: gray, color, neighbor, center, behavior. Code may say `centred`."""

import re
import tomllib
from pathlib import Path

import pytest

from authoring.lint.i18n import find_texts
from authoring.lint.markdown import read_prose
from authoring.project import Project
from authoring.source import BilingualText, read_lesson

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "notebooks" / "source"
BRITISH = re.compile(
    r"\b\w*(?:grey|colour|neighbour|behaviour|favour|flavour|honour|labell|licence)\w*|\bcentre[ds]?\b|\bcentring\b",
    re.IGNORECASE,
)
PAGES = "README.md", "INSTALL.md", "TEACHERS.md", "CONTRIBUTING.md", "CHANGELOG.md"
LESSONS = sorted(SOURCES.glob("[01]*.py"))


def british_in(text: str) -> list[str]:
    """The words in British spelling, outside of code and addresses."""
    return [word for line in read_prose(text).lines for word in BRITISH.findall(line)]


@pytest.mark.parametrize("path", [*LESSONS, SOURCES / "five_notes.py"], ids=lambda path: path.stem)
def test_lesson_is_in_american_english(path):
    cells = [cell for cell in read_lesson(Project(ROOT), path.stem).cells if isinstance(cell, BilingualText)]
    assert len(cells) > 5
    assert {cell.id: words for cell in cells if (words := british_in(cell.en))} == {}


def test_package_is_in_american_english():
    texts = [(p, t) for p in sorted((ROOT / "lib").rglob("*.py")) for t in find_texts(p.read_text("utf-8")) if t.en]
    assert len(texts) > 1000
    found = {f"{path.relative_to(ROOT)}:{text.line}": british_in(text.en) for path, text in texts}
    assert {place: words for place, words in found.items() if words} == {}


def test_glossary_is_in_american_english():
    terms = tomllib.loads((SOURCES / "glossary.toml").read_text("utf-8"))["term"]
    assert {term["en"]: words for term in terms if (words := british_in(term["meaning_en"]))} == {}


@pytest.mark.parametrize("page", PAGES)
def test_page_is_in_american_english(page):
    assert british_in((ROOT / page).read_text("utf-8")) == []
