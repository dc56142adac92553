"""The appendix on the source notes: each claim is above the cell that tests it, with a folded verdict below."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from authoring.project import Project
from authoring.source import BilingualText, Code, read_lesson
from blocklab_course.i18n import LANGUAGES

CELLS = read_lesson(Project(Path(__file__).parents[2]), "five_notes").cells
CLAIMS = [f"E{number:02}" for number in range(1, 56)]
NOTES = {"E01–E15": (1, 15), "E16–E29": (16, 29), "E30–E36": (30, 36), "E37–E54": (37, 54), "E55": (55, 55)}
VERDICTS = {"en": ("True.", "Half true.", "False."), "zh": ("对", "半对", "错")}
FOLDED = {
    "en": re.compile(
        r"<details><summary>(E\d\d): true or false\?</summary>\n\n\*\*(.+?)\*\* (.+?)\n\n</details>", re.S
    ),
    "zh": re.compile(r"<details><summary>(E\d\d)：对还是错？</summary>\n\n\*\*(.+?)\*\*。(.+?)\n\n</details>", re.S),
}
NAMED = {"en": re.compile(r"^\*\*(E\d\d)\.\*\* “.+”$", re.M), "zh": re.compile(r"^\*\*(E\d\d)\*\*：“.+”$", re.M)}
SHOWN = [
    (above, cell, below)
    for (above, cell), (_, below) in pairwise(pairwise(CELLS))
    if isinstance(cell, Code) and cell.claims
]
both_languages = pytest.mark.parametrize("language", LANGUAGES)


def verdicts(language: str) -> dict[str, str]:
    """The verdict of each claim, as it is written."""
    texts = [getattr(below, language) for _, _, below in SHOWN]
    return {claim: verdict for text in texts for claim, verdict, _ in FOLDED[language].findall(text)}


def test_each_claim_has_one_cell():
    assert sorted(claim for _, cell, _ in SHOWN for claim in cell.claims) == CLAIMS


def test_cells_with_claims_are_tagged_as_answers():
    assert [cell.id for _, cell, _ in SHOWN if "answer" not in cell.tags] == []


@both_languages
def test_each_claim_is_once_and_directly_above_its_cell(language):
    for above, cell, _ in SHOWN:
        assert NAMED[language].findall(getattr(above, language)) == list(cell.claims), cell.id
    texts = "\n".join(getattr(cell, language) for cell in CELLS if isinstance(cell, BilingualText))
    assert sorted(NAMED[language].findall(texts)) == CLAIMS


@both_languages
def test_verdict_is_folded_below_and_links_to_a_lesson(language):
    for _, cell, below in SHOWN:
        text = getattr(below, language)
        found = FOLDED[language].findall(text)
        assert [claim for claim, _, _ in found] == list(cell.claims), cell.id
        assert FOLDED[language].sub("", text).strip() == "", cell.id
        for claim, verdict, why in found:
            assert verdict in VERDICTS[language], claim
            assert re.search(r"\]\((\d\d_\w+|glossary)\.ipynb\)", why), claim


def test_verdicts_agree_in_both_languages():
    en, zh = verdicts("en"), verdicts("zh")
    assert {claim: VERDICTS["en"].index(en[claim]) for claim in CLAIMS} == {
        claim: VERDICTS["zh"].index(zh[claim]) for claim in CLAIMS
    }


@both_languages
def test_final_table_counts_the_verdicts(language):
    found, last = verdicts(language), getattr(CELLS[-1], language)
    rows = {
        name: [int(n) for n in counts]
        for name, *counts in re.findall(r"^\| (.+) \| (\d+) \| (\d+) \| (\d+) \|$", last, re.M)
    }
    for name, (first, end) in NOTES.items():
        counted = Counter(found[f"E{number:02}"] for number in range(first, end + 1))
        assert rows[name] == [counted[verdict] for verdict in VERDICTS[language]], name
    counted = Counter(found.values())
    assert rows[{"en": "all", "zh": "合计"}[language]] == [counted[verdict] for verdict in VERDICTS[language]]
