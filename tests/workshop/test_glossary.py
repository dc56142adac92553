"""The glossary pages are built from one table, and what is wrong in it is named."""

from pathlib import Path

import pytest

from workshop import glossary_page
from workshop.problem import PublishError
from workshop.project import Outline, Project

PROJECT = Project(Path(__file__).parents[2])
OUTLINES = [Outline("01", "01_first", {"en": "01 First", "zh": "01 第一课"})]
ROW = """
[[term]]
en = "mean"
zh = "均值"
lesson = 1
meaning_en = "The sum divided by the count | here 2."
meaning_zh = "总和除以个数 | 这里是 2。"
"""


@pytest.fixture
def project(tmp_path):
    for folder in ("source", "en", "zh"):
        (tmp_path / "notebooks" / folder).mkdir(parents=True)
    write(tmp_path, ROW)
    return Project(tmp_path)


def write(root, text):
    (root / "notebooks" / "source" / "glossary.toml").write_text(text, encoding="utf-8")


def messages(project):
    return "\n".join(str(problem) for problem in glossary_page.check(project, OUTLINES))


def test_the_real_glossary_is_in_order():
    assert glossary_page.check(PROJECT, PROJECT.outlines()) == []
    assert len(glossary_page.read_terms(PROJECT)) > 40


def test_each_page_shows_both_words_and_its_own_meaning(project):
    glossary_page.build(project, OUTLINES)
    terms = glossary_page.read_terms(project)
    en, zh = (glossary_page.compose(terms, OUTLINES, language).cells[1].source for language in ("en", "zh"))
    assert en.startswith("## [01 First](01_first.ipynb)")
    assert "| mean | 均值 | The sum" in en
    assert "| 均值 | mean | 总和" in zh
    assert glossary_page.check(project, OUTLINES) == []


def test_a_bar_in_a_meaning_does_not_end_its_cell(project):
    page = glossary_page.compose(glossary_page.read_terms(project), OUTLINES, "en")
    assert r"the count \| here" in page.cells[1].source


def test_an_unbuilt_or_edited_page_is_named(project):
    assert "notebooks/en/glossary.ipynb" in messages(project)
    glossary_page.build(project, OUTLINES)
    page = project.notebook("zh", "glossary")
    page.write_text(page.read_text("utf-8").replace("总和", "总数"), encoding="utf-8")
    assert "notebooks/zh/glossary.ipynb: is not that of the table" in messages(project)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lesson = 1", "lesson = 7", "there is no lesson 07"),
        ("这里是 2。", "这里是 3。", "numbers differ"),
        ("总和除以个数", "总和,除以个数", "half-width punctuation"),
    ],
)
def test_what_is_wrong_in_a_row_is_said(project, old, new, message):
    write(project.root, ROW.replace(old, new))
    assert message in messages(project)


def test_a_word_that_stands_twice_is_named(project):
    write(project.root, ROW + ROW)
    assert "stands twice" in messages(project)


def test_a_missing_field_is_named(project):
    write(project.root, ROW.replace('zh = "均值"\n', "", 1))
    with pytest.raises(PublishError, match=r"term 1 .*: zh"):
        glossary_page.read_terms(project)
