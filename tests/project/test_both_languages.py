"""README, CONTRIBUTING and the page for teachers are held to what lessons are held to: parts, numbers, terms, dots."""

import re
from pathlib import Path

import pytest

from authoring.glossary import read_glossary
from authoring.lint.markdown import Prose, read_prose
from authoring.lint.typography import find_faults
from authoring.project import Project

ROOT = Path(__file__).parents[2]
ALONE = {"README": ("README.md", "README.zh-CN.md"), "TEACHERS": ("TEACHERS.md", "TEACHERS.zh-CN.md")}


def both() -> dict[str, tuple[Prose, Prose]]:
    """Each page in English and in Chinese. In CONTRIBUTING the Chinese is a part, so its headings lie one deeper."""
    pages = {name: [(ROOT / file).read_text("utf-8") for file in files] for name, files in ALONE.items()}
    english, chinese = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("\n## 参与\n")
    pages["CONTRIBUTING"] = [english, re.sub(r"^#(#+ )", r"\1", f"## 参与\n{chinese}", flags=re.MULTILINE)]
    return {name: (read_prose(en), read_prose(zh)) for name, (en, zh) in pages.items()}


PAGES = both()


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_have_the_same_parts_and_numbers(name):
    english, chinese = PAGES[name]
    assert len(english.structure) > 50
    assert chinese.structure == english.structure
    assert chinese.numbers == english.numbers


@pytest.mark.parametrize("name", PAGES)
def test_the_words_are_those_of_the_glossary(name):
    english, chinese = PAGES[name]
    assert read_glossary(Project(ROOT)).wrong_terms(english.words, chinese.words, None) == []


@pytest.mark.parametrize("name", PAGES)
def test_typography_is_that_of_the_lessons(name):
    found = {
        language: [fault for line in prose.lines for fault in find_faults(line, language)]
        for language, prose in zip(("en", "zh"), PAGES[name], strict=True)
    }
    assert found == {"en": [], "zh": []}
