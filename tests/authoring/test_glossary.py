"""The glossary pages, the rules for texts, and errors in glossary.toml."""

import pytest

from authoring import glossary_page
from authoring.glossary import read_glossary
from authoring.lint.parity import check_parity
from authoring.problem import BuildError
from authoring.project import Outline, Project
from authoring.source import BilingualText, Lesson

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
    return "\n".join(str(problem) for problem in glossary_page.check(project, OUTLINES, read_glossary(project)))


def test_each_page_shows_both_terms_and_one_meaning(project):
    glossary_page.build(project, OUTLINES)
    terms = read_glossary(project).terms
    en, zh = (glossary_page.compose(terms, OUTLINES, language).cells[1].source for language in ("en", "zh"))
    assert en.startswith("## [01 First](01_first.ipynb)")
    assert r"| mean | 均值 |  | The sum divided by the count \| here" in en
    assert "| 均值 | mean |  | 总和" in zh
    assert glossary_page.check(project, OUTLINES, read_glossary(project)) == []


def test_other_books_terms_have_a_column(project):
    write(project.root, ROW + 'others = ["平均值", "算术平均"]\n')
    terms = read_glossary(project).terms
    en, zh = (glossary_page.compose(terms, OUTLINES, language).cells[1].source for language in ("en", "zh"))
    assert "| English | Chinese | Chinese elsewhere | meaning |" in en
    assert "| 中文 | 英文 | 又译 | 意思 |\n| --- | --- | --- | --- |\n| 均值 | mean | 平均值、算术平均 | 总和" in zh


def test_unbuilt_or_edited_page_is_reported(project):
    assert "notebooks/en/glossary.ipynb" in messages(project)
    glossary_page.build(project, OUTLINES)
    page = project.notebook("zh", "glossary")
    page.write_text(page.read_text("utf-8").replace("总和", "总数"), encoding="utf-8")
    assert "notebooks/zh/glossary.ipynb: is out of date" in messages(project)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lesson = 1", "lesson = 7", "there is no lesson 07"),
        ("这里是 2。", "这里是 3。", "numbers differ"),
        ("总和除以个数", "总和,除以个数", "half-width punctuation"),
        (ROW, ROW + ROW, "is twice in the glossary"),
    ],
)
def test_errors_in_a_term_are_reported(project, old, new, message):
    write(project.root, ROW.replace(old, new))
    assert message in messages(project)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW.replace('zh = "均值"\n', "", 1), r"term 1 .*: zh"),
        (ROW + 'ask = { "mean" = "均值" }\n', r"term 1 .*: ask"),
        (ROW + 'asks = { "(" = "均值" }\n', r"term 1 has an invalid regular expression '\('"),
    ],
)
def test_malformed_glossary_is_rejected(project, text, message):
    write(project.root, text)
    with pytest.raises(BuildError, match=message):
        read_glossary(project)


# Rules for texts


RULES = """asks = { "means?" = "均值" }
unused = [{ zh = "平均数", write = "均值", unless = "[Mm]edian" }, { en = "averages", write = "'means'" }]
once = ["平均值"]
"""
EARLY = 'early = [{ zh = "均值", write = "平均" }]'


@pytest.mark.parametrize(
    ("en", "zh", "wrong"),
    [
        ("Its Means", "它", ["'Means' asks for 均值"]),
        ("its meaning", "意思", []),
        ("its", "平均数", ["平均数 is not used: 均值"]),
        ("no median", "平均数", []),
        ("the averages", "它", ["'averages' is not used: 'means'"]),
    ],
)
@pytest.mark.parametrize("text", [ROW + RULES, RULES + ROW], ids=["in a term", "outside the terms"])
def test_glossary_rules_apply_to_texts(project, text, en, zh, wrong):
    write(project.root, text)
    assert [message for message, _ in read_glossary(project).wrong_terms(en, zh, 1)] == wrong


def test_word_is_reported_before_its_lesson(project):
    write(project.root, ROW + EARLY)
    wrong = {lesson: read_glossary(project).wrong_terms("its", "均值", lesson) for lesson in (0, 1, 2, None)}
    assert wrong == {0: [("before lesson 1 it is 平均, not 均值", "均值")], 1: [], 2: [], None: []}


def test_second_mention_of_another_books_term_is_reported(project):
    write(project.root, ROW + RULES)
    twins = [BilingualText(f"top-{n}", n, "its", "均值（平均值）") for n in (1, 2)]
    [problem] = check_parity(Lesson("01_first", "01_first.py", tuple(twins)), read_glossary(project))
    assert "expected 平均值 once in the lesson, got it 2 times" in str(problem)


def test_missing_glossary_has_no_rules(project):
    project.sources.joinpath("glossary.toml").unlink()
    assert read_glossary(project).wrong_terms("variance", "均值", 1) == []
