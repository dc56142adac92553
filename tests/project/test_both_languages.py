"""README, CONTRIBUTING and TEACHERS follow the rules for lessons: languages, glossary and typography agree."""

import re
from pathlib import Path

import pytest

from authoring.glossary import read_glossary
from authoring.lint.markdown import Prose, read_prose
from authoring.lint.typography import find_faults
from authoring.project import Project

ROOT = Path(__file__).parents[2]


def read_pages() -> dict[str, tuple[Prose, Prose]]:
    """Each page in English and in Chinese. CONTRIBUTING has both, the Chinese headings one level deeper."""
    pages = {
        name: ((ROOT / f"{name}.md").read_text("utf-8"), (ROOT / f"{name}.zh-CN.md").read_text("utf-8"))
        for name in ("README", "TEACHERS")
    }
    english, chinese = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("\n## 参与\n")
    pages["CONTRIBUTING"] = english, re.sub(r"^#(#+ )", r"\1", f"## 参与\n{chinese}", flags=re.MULTILINE)
    return {name: (read_prose(en), read_prose(zh)) for name, (en, zh) in pages.items()}


PAGES = read_pages()


@pytest.mark.parametrize("name", PAGES)
def test_languages_agree_in_structure_numbers_and_terms(name):
    english, chinese = PAGES[name]
    assert len(english.structure) > 40
    assert chinese.structure == english.structure
    assert chinese.numbers == english.numbers
    assert read_glossary(Project(ROOT)).wrong_terms(english.words, chinese.words, None) == []


@pytest.mark.parametrize("name", PAGES)
def test_typography_is_correct(name):
    faults = {
        language: [fault for line in prose.lines for fault in find_faults(line, language)]
        for language, prose in zip(("en", "zh"), PAGES[name], strict=True)
    }
    assert faults == {"en": [], "zh": []}
