"""The font has every character in use, is renamed as its licence requires, and missing characters are noticed."""

import ast
import logging

import matplotlib.pyplot as plt
import pytest
from fontTools.ttLib import TTFont
from matplotlib import font_manager

from authoring import font

RARE = "龘"  # neither in GB2312 nor in DejaVu Sans
REMEDY = "run python -m authoring.font"


@pytest.fixture
def draw(caplog):
    """Draw a text as a lesson does; returns what matplotlib logged, as it does for a missing glyph in a formula."""
    font_manager.fontManager.addfont(font.FONT)

    def draw_text(text: str) -> list[str]:
        with caplog.at_level(logging.WARNING), plt.rc_context({"font.family": [font.FAMILY, "DejaVu Sans"]}):
            figure = plt.figure()
            figure.suptitle(text)
            figure.canvas.draw()
            plt.close(figure)
        return caplog.messages

    yield draw_text
    plt.close("all")


def strings_with_formula() -> list[tuple[str, str]]:
    """The strings with a `$` in the package, with their places; docstrings are not drawn."""
    found = []
    for path in sorted(font.ROOT.glob("lib/blocklab_course/**/*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                found += [(f"{path.name}:{node.lineno}", node.value)] if "$" in node.value else []
    return found


def test_level_1_of_gb2312_is_3755_hanzi():
    hanzi = font.gb2312_level_1()
    assert len(hanzi) == 3755
    assert {"啊", "均", "座"} <= hanzi
    assert "亍" not in hanzi  # the first of level 2
    assert hanzi <= font.read_characters(font.FONT)


@pytest.mark.parametrize(
    "word",
    ["阈值", "熵", "陷阱", "博弈", "共轭", "耦合", "浏览", "渲染", "憧憬", "蜻蜓", "梯度消失", "層正規化", "閾值"],
)
def test_font_has_the_words_of_the_field(word):
    assert set(word) <= font.hanzi() & font.read_characters(font.FONT)


def test_font_has_every_hanzi_of_the_glossary_and_of_chinese_texts():
    texts = [*font.ROOT.glob("notebooks/source/*"), *font.ROOT.glob("*.zh-CN.md")]
    hanzi = {c for path in texts for c in path.read_text("utf-8") if "\u3400" <= c <= "\u9fff"}
    assert {"阱", "熵"} <= hanzi
    assert not hanzi - font.read_characters(font.FONT), REMEDY


def test_listed_hanzi_are_listed_once_and_are_not_in_level_1():
    listed = font.COMMON + font.FIELD + font.TRADITIONAL
    assert len(font.COMMON) == 500
    assert len(set(listed)) == len(listed)
    assert not set(listed) & font.gb2312_level_1()


def test_font_or_fallback_has_every_character_in_use():
    missing = font.find_missing(font.characters_in_use())
    assert not missing, f"no glyph for {' '.join(sorted(missing))}: {REMEDY}"
    assert font.find_missing({"均", "⟨", RARE}) == {RARE}


def test_font_has_every_hanzi_in_use():
    lacking = {c for c in font.characters_in_use() - font.read_characters(font.FONT) if "\u3400" <= c <= "\u9fff"}
    assert not lacking, f"{' '.join(sorted(lacking))}: {REMEDY}"


def test_strings_with_a_formula_use_the_font_only():
    chinese, english = (font.read_characters(file) for file in (font.FONT, font.LATIN_FONT))
    boxes = {
        where: sorted(set(text) - (chinese if set(text) & font.hanzi() else english) - {"\n"})
        for where, text in strings_with_formula()
    }
    assert not any(boxes.values()), f"in a string with $…$ only the font itself is used, no fallback: {boxes}"


def test_english_font_has_the_letters_and_no_wide_symbols():
    english = font.read_characters(font.LATIN_FONT)
    assert english == font.narrower_than_hanzi(font.FONT), REMEDY
    assert {*"Az09²σ−"} <= english
    assert not {*"“”·×±√○均，"} & english


@pytest.mark.parametrize(
    ("file", "family", "postscript", "most"),
    [
        (font.FONT, "Blocklab Sans SC", "BlocklabSansSC-Regular", 1.1 * 2**20),
        (font.LATIN_FONT, "Blocklab Sans", "BlocklabSans-Regular", 20 * 2**10),
    ],
    ids=["zh", "en"],
)
def test_font_is_small_and_renamed_and_keeps_its_licence(file, family, postscript, most):
    with TTFont(file) as opened:
        names = {record.nameID: record.toUnicode() for record in opened["name"].names}
        assert {names[number] for number in (1, 4, 16)} == {family}
        assert names[6] == opened["CFF "].cff.fontNames[0] == postscript
    assert "Open Font License" in names[13]
    assert names[0] in file.with_name("OFL.txt").read_text("utf-8")
    content = file.read_bytes()
    assert len(content) < most
    assert b"Noto" not in content
    assert "Noto".encode("utf-16-be") not in content


@pytest.mark.exhaustive
def test_same_source_gives_same_bytes(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        font.build_both(font.FONT, tmp_path / name)
    for file in (font.FONT.name, font.LATIN_FONT.name):
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes()


@pytest.mark.parametrize(
    "text",
    ["哪些数共用一个均值？", r"阈值 $\theta$，熵 $H$", "−1.5 × 10³ ≤ α", r"方差 $\sigma^2$，偏移 −1", "⟨x₂⟩ ✗ ✓ → ●□"],
)
def test_matplotlib_draws_every_glyph(draw, text):
    assert not draw(text)


def test_matplotlib_reports_a_missing_glyph(draw):
    with pytest.warns(UserWarning, match="missing from font"):
        draw(RARE)
    assert any("does not have a glyph" in message for message in draw(r"x₂ $\sigma^2$"))
