"""Sources, parity, wording, the repository's address, and the command line."""

import re
from pathlib import Path

import pytest
from demo_lessons import MEANS, edit, make_project

from authoring.__main__ import main
from authoring.address import Address, read_address
from authoring.glossary import read_glossary
from authoring.lint.i18n import check_code_texts, check_package_texts
from authoring.lint.markdown import read_prose
from authoring.lint.parity import check_pair, check_parity
from authoring.lint.staleness import check_code_length
from authoring.lint.typography import find_faults
from authoring.navigation import navigation_line, next_lesson_text
from authoring.problem import BuildError
from authoring.project import Project, find_root
from authoring.readme import lesson_table
from authoring.source import BilingualText, Code, read_lesson

WORDS = read_glossary(Project(Path(__file__).parents[2]))


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path)


@pytest.fixture
def means(project):
    return project.source("01_means")


def messages(project, stem="01_means"):
    lesson = read_lesson(project, stem)
    return [str(problem) for problem in check_parity(lesson, WORDS) + check_code_texts(lesson, WORDS)]


# The source


def test_ids_are_the_section_and_a_running_number(project):
    lesson = read_lesson(project, "01_means")
    ids = ["top-1", "top-2", "what-a-token-is-1", "what-a-token-is-2", "what-a-token-is-3"]
    assert [cell.id for cell in lesson.cells] == ids
    assert [cell.line for cell in lesson.cells] == [1, 15, 19, 35, 38]


def test_ids_stay_as_they_were_when_a_cell_is_removed(project, means):
    removed = '# %% tags=["answer"]\nanswer\n\n'
    text = '# %% [markdown] lang="en"{}\nr"""\nEnd.\n"""\n\n# %% [markdown] lang="zh"\nr"""\n完。\n"""\n'
    before = means.read_text(encoding="utf-8") + "\n"
    ids = []
    for end in (removed + text.format(""), text.format(" gone=1")):
        means.write_text(before + end, encoding="utf-8")
        ids.append([cell.id for cell in read_lesson(project, "01_means").cells])
    with_cell, without = ids
    assert [id for id in with_cell if id not in without] == ["what-a-token-is-4"]
    assert without[-1] == with_cell[-1] == "what-a-token-is-5"


def test_equal_headings_give_unique_ids(project, means):
    text = means.read_text(encoding="utf-8")
    means.write_text(text + "\n" + text[text.index('# %% [markdown] lang="en"', 10) :], encoding="utf-8")
    ids = [cell.id for cell in read_lesson(project, "01_means").cells]
    assert len(set(ids)) == len(ids) == 8


def test_heading_inside_a_code_block_starts_no_section(project, means):
    edit(means, "- one **token**", "```\n## not a heading\n```\n- one **token**")
    edit(means, "## What a token is\n", "")
    assert {cell.id.rsplit("-", 1)[0] for cell in read_lesson(project, "01_means").cells} == {"top"}


ZH_TITLE = MEANS[MEANS.index('# %% [markdown] lang="zh"') : MEANS.index("# %%\nx")]
EN_TITLE = MEANS[: MEANS.index(ZH_TITLE)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (ZH_TITLE, "", r"01_means.py:1 cell top-1: expected a Chinese cell directly after .*\n    en: # 01 Two means"),
        (EN_TITLE, "", r"01_means.py:1 cell after top-0: expected an English cell .*\n    zh: # 01 两个均值"),
        (EN_TITLE + ZH_TITLE, ZH_TITLE + EN_TITLE, r"01_means.py:1 .*expected an English cell directly before"),
        ('zh"\nr"""\n## ', 'de"\nr"""\n## ', "cell what-a-token-is-1: expected a Chinese"),
        ('en"\nr"""\n## ', 'de"\nr"""\n## ', r":19: .*lang=\"zh\", got lang='de'"),
        ('tags=["solution"]', 'tags=["solutoin"]', r"01_means.py:35: unknown tag solutoin"),
        (EN_TITLE, "x = 1\n\n" + EN_TITLE, "expected no text before the first"),
        ("# %%\nanswer\n", '# %% [markdown] lang="en"\nr"""\nEnd.\n"""', r":38 .*: expected a Chinese .*\n    en: End"),
        (EN_TITLE + ZH_TITLE, "", "expected a lesson to begin with its title"),
        ('tags=["solution"]', "tags=[solution]", r"01_means.py:35: expected a cell to begin with"),
        ('tags=["solution"]', 'tag=["solution"]', r"01_means.py:35: expected a cell to begin with"),
        ('# %% tags=["sol', '#%% tags=["sol', r"01_means.py:27: expected '# %%' at the start"),
        ('[markdown] lang="en"\nr"""\n## ', '[markdown]\nr"""\n## ', r":19: expected .markdown. lang="),
        ('# %% [markdown] lang="en"\nr"""\n## ', '# %%\nr"""\n## ', r":19: expected .markdown. lang=.* of a text cell"),
        ('lang="en"\nr"""\n## ', 'lang="en"\n## ', r":19: expected a text between a line r"),
        ("\nanswer = 42\n", "\n\n", ":35: expected code, got an empty cell"),
        ("answer = 42", "answer = (42", ":36: syntax error"),
    ],
)  # fmt: skip
def test_malformed_source_is_reported_with_its_cell(project, means, old, new, message):
    edit(means, old, new)
    with pytest.raises(BuildError, match=message):
        read_lesson(project, "01_means")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("02_means.py", "headings '# 02 Title' in both languages"),
        ("means.py", r"source/means\.py: .* headings '# Appendix: Title' and '# 附录：标题'"),
        *((name, r"expected a name like 02_norm_axes\.py") for name in ("1_means.py", "Means.py", "01-means.py")),
    ],
)
def test_file_name_must_fit_the_title(project, means, name, message):
    project.source("02_pictures").unlink()
    means.rename(means.with_name(name))
    with pytest.raises(BuildError, match=message):
        project.outlines()


def test_appendix_follows_the_lessons_without_a_number(project, means):
    appendix = means.with_name("all_means.py")
    text = means.read_text(encoding="utf-8")
    appendix.write_text(text.replace("# 01 Two", "# Appendix: Two").replace("# 01 两", "# 附录：两"), encoding="utf-8")
    *lessons, last = project.outlines()
    assert (last.number, last.key, last.stem) == ("", "all_means", "all_means")
    assert last.short_title("en") == last.titles["en"] == "Appendix: Two means"
    assert [(lesson.number, lesson.key) for lesson in lessons] == [("01", "01"), ("02", "02")]
    assert lessons[0].short_title("zh") == "两个均值"
    assert project.select(["all_means"]) == ["all_means"]
    assert project.select([])[-1] == "all_means"
    assert read_lesson(project, "all_means").number is None
    here = Address("https://github.com/ada/lessons")
    table = lesson_table(here, [*lessons, last], {outline.stem: 0 for outline in [*lessons, last]}, "en")
    assert "**[Appendix: Two means](https://ada.github.io/lessons/en/all_means.html)**" in table
    assert "[附录：两个均值 →](all_means.ipynb)" in navigation_line(here, [*lessons, last], lessons[1], "zh")
    assert next_lesson_text([*lessons, last], last, "en") is None


def test_end_of_a_lesson_leads_along_the_main_route_and_to_the_side_trip():
    outlines = Project(Path(__file__).parents[2]).outlines()
    by_number = {outline.number: outline for outline in outlines}

    def links(number: str) -> list[str]:
        return re.findall(r"\((\d\d)_", next_lesson_text(outlines, by_number[number], "en"))

    assert (links("02"), links("03"), links("04"), links("05")) == (["05", "03"], ["05", "04"], ["05"], ["06"])
    assert (links("13"), links("14")) == (["15", "14"], ["15"])
    for language, heading in (("en", "## Next lesson"), ("zh", "## 下一课")):
        assert next_lesson_text(outlines, by_number["02"], language).startswith(heading)


def test_find_root_looks_upwards(project, tmp_path_factory):
    assert find_root(project.sources) == project.root
    with pytest.raises(BuildError, match="or a folder above it"):
        find_root(tmp_path_factory.mktemp("nowhere"))


# Parity


def test_demo_lessons_have_no_problems(project):
    assert messages(project) == []
    assert messages(project, "02_pictures") == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("：3 个数", "：4 个数", "numbers differ, only in en: 3; only in zh: 4"),
        ("占 100%", "占 100", "numbers differ, only in en: 100%; only in zh: 100"),
        ("这里 $\\mu$", "这里 $\\nu$", "formulas differ, only in en: \\mu; only in zh: \\nu"),
        ("是 `x` 的", "是 `y` 的", "code names differ, only in en: x; only in zh: y"),
        ("../zh/02_pictures.ipynb", "../zh/03_other.ipynb", "links differ, only in en: ../*/02_pictures.ipynb;"),
        ("## 词元是什么", "### 词元是什么", "structure differs, en: h2, ul, li × 2; zh: h3, ul, li × 2"),
        ("- 一个**词元**\n", "", "structure differs, en: h2, ul, li × 2; zh: h2, ul, li"),
        ("- 形状 `(N, C)`", "- 形式 `(N, C)` 批次", "批次 is not used: 批量 or 小批量"),
        ("一个**词元**", "一个**令牌**\n- 词", "structure differs"),
        ("- 形状 `(N, C)`", "- 形状 `(N, C)` ![图](a.png)", "pictures differ, only in zh: a.png"),
        ("- 形状 `(N, C)`", "- 形状 `(N, C)`<br>", "HTML tags differ, only in zh: br"),
        ("- 一个**词元**\n- 形状 `(N, C)`", "1. 一个**词元**\n3. 形状 `(N, C)`", "zh: h2, ol, li 1, li 3"),
    ],
)  # fmt: skip
def test_parity_reports_differences(project, means, old, new, message):
    edit(means, old, new)
    found = messages(project)
    assert any(message in text and "source/01_means.py:" in text and " cell " in text for text in found), found
    assert "\n    en: " in found[0]
    assert "\n    zh: " in found[0]


@pytest.mark.parametrize(
    ("en", "zh"),
    [
        ("$x \\text{ where } y$", "$x \\text{ 其中 } y$"),
        ("In 3-D, 5 of 6 move.", "三维中，6 个里有 5 个移动。"),
        ("15-20 minutes, −1 and 10⁻⁵", "15–20 分钟，−1 与 10⁻⁵"),
        ("Conv2d and float16 and GPT-2", "Conv2d、float16 与 GPT-2"),
        ("![axis](../pic/blocks-en.png)", "![轴](../pic/blocks-zh.png)"),
        ("<details><summary>A: 3</summary>\n\nYes.\n</details>", "<details><summary>答：3</summary>\n\n是\n</details>"),
        ("This means that we mean it; by all means pay attention to it.", "这意味着我们是认真的。"),
        ("| a | 1 |\n|---|---|\n| b | 2 |", "| 甲 | 1 |\n|---|---|\n| 乙 | 2 |"),
        ("> quoted `a_b*c`", "> 引用 `a_b*c`"),
        ("$$\ny = x_1 * x_2\n$$", "$$\ny = x_1 * x_2\n$$"),
        ("Here $$y = 2$$ holds.", "这里 $$y = 2$$ 成立。"),
    ],
)  # fmt: skip
def test_parity_accepts_good_pairs(en, zh):
    assert check_pair(BilingualText("top-1", 1, en, zh), "a.py", WORDS, 2) == []


def test_read_prose_keeps_signs_and_percents():
    numbers = read_prose("−1, (-2), 3.5%, 15-20, 10⁻⁵, v2, `7`, $8$ and x-9").numbers
    assert dict(numbers) == dict.fromkeys(["-1", "-2", "3.5%", "15", "20", "10⁻⁵", "9"], 1)


def test_parity_reports_a_second_mention_of_another_books_term(project, means):
    edit(means, "是 `x` 的均值", "是 `x` 的均值（规范化）")
    assert messages(project) == []
    edit(means, "## 词元是什么", "## 词元是什么，规范化")
    assert "expected 规范化 once in the lesson, got it 2 times" in messages(project)[0]


# Chinese wording


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("用BN归一化", "a half-width space between"),
        ("共 3个数", "a half-width space between"),
        ("占 90%的", "a half-width space between"),
        ("参数 γ的", "a half-width space between"),
        ("均值 ，方差", "no space next to"),
        ("均值 （BN）", "no space next to"),
        ("均值 方差", "between two 汉字"),
        ("均值,方差", "half-width punctuation in"),
        ("如 BN: 方差", "half-width punctuation in"),
        ("均值 (BN) 是", "half-width punctuation in"),
        ("均值是 BN.", "half-width punctuation ends"),
        ("共 15~20 分钟", "write a range"),
        ("您好", "the reader as 你"),
        ("一行\n两行", "on one source line"),
    ],
)
def test_typography_reports_chinese_errors(line, part):
    assert [fault for fault in find_faults(line, "zh") if part in fault]
    assert find_faults(line, "en") == []


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("**批量归一化（BN）**是", "unclosed bold"),
        ("大约 1,024 个", "1024 without a comma"),
        ("占 90 % 以上", "90% without a space"),
        ("公式 $ x $ 中", "unclosed formula"),
        ("由`x`得", "a half-width space between"),
        ("由$x$得", "a half-width space between"),
    ],
)
def test_typography_reports_errors_in_markdown(text, part):
    found = check_pair(BilingualText("top-1", 1, "", text), "a.py", WORDS)
    assert any(part in problem.what for problem in found)


@pytest.mark.parametrize(
    "line",
    ["**批量归一化**（BN）是 `x`，占 90%。", "是 x̂ = 2，见 $x$、`y`。", "15–20 分钟……", "BatchNorm", "“均值”——方差"],
)
def test_typography_accepts_good_lines(line):
    assert check_pair(BilingualText("top-1", 1, line, line), "a.py", WORDS) == []


@pytest.mark.parametrize(
    ("en", "zh", "part"),
    [
        ("the batch size", "批次大小", "批次 is not used"),
        ("normalized", "归一化与正则化", "正则化 is not used"),
        ("batch normalization", "批归一化", "asks for 批量归一化"),
        ("the seeds say", "笔记说", "'the source notes'"),
        ("start", "种子", "种子 is not used"),
        ("per axis", "轴，即维度", "维度 is not used"),
        ("a kernel", "函数", "not 'kernel'"),
        ("a function", "核函数", "not 核函数"),
        ("less", "小 4 倍", "n 倍"),
        ("each layer's tokens", "每层", "'tokens' asks for 词元"),
        ("LayerNorm is", "它是", "asks for 层归一化 or"),
        ("Variance", "均值", "'Variance' asks for 方差"),
    ],
)
def test_glossary_reports_wrong_terms(en, zh, part):
    assert [message for message, _ in WORDS.wrong_terms(en, zh, 2) if part in message]


@pytest.mark.parametrize(
    ("en", "zh", "lesson"),
    [
        ("regularization", "正则化", 2),
        ("random seeds", "随机种子", 2),
        ("a kernel", "核函数", 14),
        ("restart the kernel", "重启内核", 2),
        ("a kernel", "核函数", None),
        ("dimension", "维度", 2),
        ("the meaning", "意思", 2),
        ("What does it mean?", "这是什么意思？", 2),
        ("Zero means that it is off.", "即关闭。", 2),
        ("practice, or praxis", "实践", 2),
    ],
)
def test_glossary_accepts_right_terms(en, zh, lesson):
    assert WORDS.wrong_terms(en, zh, lesson) == []


# Texts in code


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('Text(en="{n} of 72", zh="{m} / 72")', "placeholders differ, en: {n}; zh: {m}"),
        ('Text(en="{n:.1f} m", zh="{n:.2f} m")', "placeholders differ"),
        ('Text("18 of 72", "72 分之 17")', "numbers differ, only in en: 18; only in zh: 17"),
        ('Text(en="layer", zh="用LN")', "a half-width space between"),
        ('Text(en="{n:d} cells", zh="共{n:d}个")', "a half-width space between"),
        ('Text(en="variance", zh="均值")', "asks for 方差"),
        ('Text(en="a" "b", zh="您")', "你"),
        ('print("均值")', "expected 汉字 only inside Text"),
        ("x = 1  # 均值", "expected 汉字 only inside Text"),
    ],
)
def test_code_check_reports_bad_texts(project, means, text, part):
    edit(means, "answer = 42", text)
    found = messages(project)
    assert any(part in message and "01_means.py:3" in message for message in found), found


@pytest.mark.parametrize(
    "text",
    [
        'Text(en="{name} moves", zh="{name}移动")',
        'Text(en="one\\ntwo", zh="第一行\\n第二行")',
        'Text(en="{n:.1f} of 72", zh="72 个中有 {n:.1f} 个")',
        '%matplotlib inline\nText(en="mean of it", zh="均值")',
        "Text(en=a, zh=b)",
    ],
)
def test_code_check_accepts_good_texts(project, means, text):
    edit(means, "answer = 42", text)
    assert messages(project) == []


@pytest.mark.parametrize("words", ["LABEL = Text(", 'ROW = wrong("narrow", cells=3).hint('])
def test_package_texts_and_hints_are_checked(project, words):
    module = project.root / "lib" / "blocklab_course" / "figures" / "cells.py"
    module.parent.mkdir(parents=True)
    module.write_text(f'{words}\n    en="3 cells", zh="4 格"\n)\n', encoding="utf-8")
    (problem,) = check_package_texts(project, WORDS)
    assert "lib/blocklab_course/figures/cells.py:1: numbers differ" in str(problem)


def test_long_code_cells_are_reported(project, means):
    edit(means, "answer = 42", "\n".join(["answer = 42"] * 16))
    assert "of at most 15 lines, got 16" in str(check_code_length(read_lesson(project, "01_means"))[0])
    edit(means, "answer = 42\n" * 9, "")
    edit(means, "x = [1, 2, 6]", "\n".join(["x = [1, 2, 6]"] * 9))
    lesson = read_lesson(project, "01_means")
    assert [cell.source.count("\n") + 1 for cell in lesson.cells if isinstance(cell, Code)] == [10, 7, 1]
    assert check_code_length(lesson) == []
    edit(means, "answer = 42\n" * 7, "answer = 42\n" * 8)
    assert "a median of at most 7 lines, got 8" in str(check_code_length(read_lesson(project, "01_means"))[0])


# The commands


@pytest.mark.parametrize(
    "url",
    ["github.com/a/b", "https://github.com/a", "https://github.com/a/b/c", "https://github.com/a b/c", "", "a/b",
     "https://github.com/a/b#readme", 'https://github.com/a/"b', "$(touch x)", "https://github.com/YOUR_NAME/blocklab"],
)  # fmt: skip
def test_address_rejects_bad_urls(project, url, capsys):
    before = project.pyproject.read_text(encoding="utf-8")
    assert main(["--root", str(project.root), "address", "--", url]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.endswith(f"got {url!r}\n")
    assert project.pyproject.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        *((typed, "https://github.com/ada/lessons") for typed in (
            "https://github.com/ada/lessons/", "https://github.com/ada/lessons.git", "git@github.com:ada/lessons.git",
            " https://github.com/ada/lessons\n")),
        *((url, url) for url in ("https://gitlab.com/group/sub/demo", "https://git.sr.ht/~ada/demo")),
    ],
)  # fmt: skip
def test_address_accepts_urls_as_copied(project, typed, url):
    assert main(["--root", str(project.root), "address", typed]) == 0
    colab = "https://colab.research.google.com/github/ada/lessons/blob/main" if "github" in url else None
    assert (read_address(project).url, read_address(project).colab) == (url, colab)


@pytest.mark.parametrize("urls", ["", "\n[project.urls]\n", "\n[project.urls]\nOther = 'x'\n\n[tool.x]\n"])
def test_address_adds_a_missing_url(project, urls):
    project.pyproject.write_text(f'[project]\nname = "demo"\n{urls}', encoding="utf-8")
    assert read_address(project) == Address()
    assert main(["--root", str(project.root), "address", "https://github.com/ada/lessons"]) == 0
    assert read_address(project) == Address("https://github.com/ada/lessons")


def test_errors_have_no_traceback(project, capsys):
    assert main(["--root", str(project.root), "build", "07"]) == 1
    assert capsys.readouterr().err == "error: no lesson 07 in notebooks/source (found: 01, 02)\n"
    with pytest.raises(SystemExit, match="2"):
        main(["bild"])


def test_other_folders_are_rejected(tmp_path, capsys):
    assert main(["--root", str(tmp_path), "copies"]) == 1
    assert "to hold pyproject.toml and notebooks/source/" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_check_counts_problems(project, capsys):
    assert main(["--root", str(project.root), "check", "01"]) == 1
    shown = capsys.readouterr()
    assert "notebooks/en/01_means.ipynb: not built yet; run: python -m authoring build 01" in shown.err
    assert shown.out == "2 problems\n"
