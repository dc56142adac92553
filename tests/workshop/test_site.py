"""What a page of the site is made of: texts, cells, search, and where it may be written."""

import json
import re
from base64 import b64encode
from html import escape
from io import BytesIO
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from blocklab.language import LANGUAGES
from workshop import notebook
from workshop.address import Address
from workshop.problem import PublishError
from workshop.project import Outline, Project
from workshop.site import markdown
from workshop.site.cells import Around, Shown, code_cell
from workshop.site.frame import Book, Place
from workshop.site.pages import heading_ids, notebook_page, own_cells
from workshop.site.search import found_in, index
from workshop.site.start import BEST
from workshop.site.write import MARK, apart, make_room, style

PROJECT = Project(Path(__file__).parents[2])
MEANS = Outline("02", "02_means", {"en": "02 Means", "zh": "02 均值"})
START = Outline("00", "00_start", {"en": "00 Start", "zh": "00 开始"})
NOWHERE, GITHUB = Address("https://no-address-yet.invalid/YOUR_NAME/x"), Address("https://github.com/ada/lessons")
AROUND = Around(lambda _png: "../pictures/a.png", lambda cell: f"<p>written at {cell}</p>")


def png(width=40, height=20):
    kept = BytesIO()
    Image.new("RGB", (width, height)).save(kept, "png")
    return b64encode(kept.getvalue()).decode()


def printed(*lines):
    return [new_output("stream", name="stdout", text=line) for line in lines]


def shown(source, *outputs, tags=(), drawn=None):
    return code_cell(new_code_cell(source, metadata={"tags": list(tags)}, outputs=list(outputs)), drawn, AROUND)


# Texts


def test_a_text_has_formulas_links_and_ids():
    text = (
        "## The *mean* of $\\mu$\n\nSee [next](03_next.ipynb) and [there](https://a.org/b.ipynb).\n\n$$\\frac{1}{2}$$"
    )
    html = markdown.html(text, ["the-mean"])
    assert '<h2 id="the-mean">The <em>mean</em> of <span class="math"><math' in html
    assert 'href="03_next.html"' in html
    assert 'href="https://a.org/b.ipynb"' in html
    assert '<span class="formula" role="group" aria-label="formula" tabindex="0"><math' in html
    assert "$" not in html


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"\cos a \cos b - \sin a \sin b", "cos a cos b−sin a sin b"),
        (r"\cos(a + b)\sin\theta_i", "cos(a+b) sin θi"),
        (r"2\ln x \tanh^2 y", "2 ln x tanh2 y"),
        (r"x y - \frac{\sin k}{2 k}", "xy−sin k2k"),
    ],
)
def test_functions_in_formulas_stand_apart_from_their_letters(formula, shown):
    html = markdown.mathml(formula, "inline").replace('<mspace width="0.17em" />', " ")
    assert re.sub("<[^>]*>", "", html) == shown
    assert html.startswith('<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">')


def test_what_is_folded_stays_folded_and_holds_markdown():
    html = markdown.html("<details><summary>Answer</summary>\n\nIt is **two**.\n\n</details>", [])
    assert "<details><summary>Answer</summary>" in html
    assert "<strong>two</strong>" in html


def test_headings_that_are_alike_get_ids_of_their_own():
    twice = new_notebook(cells=[new_markdown_cell("# 01 A\n\n## Same: γ!\n\n## Same\n\n## same γ", id="one")])
    assert heading_ids(twice) == {"one": ["same", "same--2", "same--3"]}


@pytest.mark.parametrize("stem", [outline.stem for outline in PROJECT.outlines()] + ["glossary"])
def test_both_languages_have_the_same_places_each_once(stem):
    english, chinese = (notebook.read(PROJECT.notebook(language, stem)) for language in LANGUAGES)
    ids, others = heading_ids(english), heading_ids(chinese)
    assert {cell: len(names) for cell, names in ids.items()} == {cell: len(names) for cell, names in others.items()}
    names = [name for found in ids.values() for name in found] + [cell.id for cell in own_cells(english)]
    assert all(names)
    assert len(names) == len(set(names))


# Cells


def test_code_and_what_it_printed_as_one_text():
    html = shown("print(1 < 2)", *printed("True <\n", "end\n"))
    assert '<span class="nb">print</span>' in html
    assert html.count('class="output"') == 1
    assert "True &lt;\nend</pre>" in html


@pytest.mark.parametrize(
    ("tags", "source", "summary"),
    [(["solution"], "x = 1\nprint(x)", "A solution"), (["answer"], "x = 1\nprint(x)", "Show what comes out")],
)
def test_solutions_and_answers_are_folded(tags, source, summary):
    before, _, folded = shown(source, *printed("forty-two"), tags=tags).partition("<details")
    assert "forty-two" not in before
    assert summary in folded
    assert "forty-two" in folded


def test_imports_are_folded_and_code_with_imports_is_not():
    assert "<summary>Imports</summary>" in shown("import torch\nfrom torch import nn")
    assert "<summary>" not in shown("import torch\nprint(torch)")
    assert "<summary>" not in shown("%pip install torch")


def test_an_exercise_leads_to_where_it_is_written_and_shows_no_verdict():
    html = code_cell(
        new_code_cell("my_s = None", id="do-1", metadata={"tags": ["exercise"]}, outputs=printed("no")), None, AROUND
    )
    assert "<p>written at do-1</p>" in html
    assert "output" not in html


def test_a_panel_is_a_figure_with_its_still_and_its_code_folded():
    drawn = Shown("02_means/poke", "../states/02_means/poke.js", "<svg></svg>", "3 < 4")
    view = new_output("display_data", data={"image/png": png(), "text/plain": "3 < 4"})
    html = shown("poke.panel()", view, tags=["panel"], drawn=drawn)
    assert 'data-panel="02_means/poke" data-script="../states/02_means/poke.js"' in html
    assert "<figcaption>3 &lt; 4</figcaption>" in html
    assert html.index("<svg") < html.index("<summary>The cell")
    assert 'class="panel"' not in shown("poke.panel().still()", view, drawn=Shown("k", None, "<svg></svg>", ""))


@pytest.mark.parametrize("stem", [outline.stem for outline in PROJECT.outlines()])
def test_all_that_a_lesson_has_printed_and_drawn_is_on_its_page_once(stem):
    for language in LANGUAGES:
        for cell in own_cells(notebook.read(PROJECT.notebook(language, stem))):
            if cell.cell_type != "code" or "exercise" in cell.metadata.get("tags", ()):  # its verdict is the reader's
                continue
            pictures = sum("image/png" in output.get("data", ()) for output in cell.outputs)
            html = code_cell(cell, Shown("a/b", None, "<svg></svg>", "") if pictures else None, AROUND)
            assert html.count("<svg>") == pictures, cell.id
            for output in cell.outputs:
                if output.output_type == "stream":
                    assert all(escape(line.rstrip()) in html for line in output.text.splitlines()), cell.id
                elif "text/html" in output.data and not pictures:
                    assert " ".join(texts_of(output.data["text/html"])) in " ".join(texts_of(html)), cell.id


def texts_of(html):
    """The words of HTML, without its tags."""
    return re.sub(r"<[^>]*>", " ", html).split()


def test_a_picture_of_the_notebook_is_a_file_half_as_wide_as_its_pixels():
    html = shown("draw()\nshow()", new_output("display_data", data={"image/png": png(), "text/plain": '"a"'}))
    assert '<img src="../pictures/a.png" alt="&quot;a&quot;" width="20" height="10"' in html


def test_html_that_holds_a_picture_is_given_a_file_in_its_place():
    data = {"text/html": f'<a href="05_layer_norm.ipynb"><img src="data:image/png;base64,{png()}"></a>'}
    html = shown("x", new_output("execute_result", data=data, execution_count=1))
    assert '<a href="05_layer_norm.html"><img src="../pictures/a.png"></a>' in html


# Pages


def page(address, language="en"):
    lesson = new_notebook(
        cells=[
            new_markdown_cell("# 02 Means\n\nIt takes about 40 minutes. 大约需要 40 分钟。", id="top-1"),
            new_markdown_cell("## A mean & more", id="mean-1"),
            new_code_cell("my_s = None", id="mean-2", metadata={"tags": ["exercise"]}),
        ]
    )
    book, place = Book([START, MEANS], address), Place(language, "02_means.html")
    return notebook_page(book, place, lesson, heading_ids(lesson), {}, AROUND.picture, False)


def test_without_an_address_exercises_name_the_command():
    html = page(NOWHERE)
    assert "colab" not in html
    assert "with <code>make lab</code>, in lesson 02" in html
    assert "make lab READ=zh" in page(NOWHERE, "zh")


def test_with_an_address_exercises_lead_to_their_cell_in_colab():
    html = page(GITHUB, "zh")
    at = "https://colab.research.google.com/github/ada/lessons/blob/main/notebooks/zh/02_means.ipynb"
    assert f'href="{at}#scrollTo=mean-2"' in html
    assert "第 2 课，共 2 课 · 大约 40 分钟" in html


def test_a_page_names_its_language_the_other_one_and_its_neighbours():
    html = page(NOWHERE)
    assert '<html lang="en">' in html
    assert 'lang="zh-CN" hreflang="zh-CN" href="../zh/02_means.html">中文</a>' in html
    assert (
        '<a class="before" href="00_start.html"><span>Previous</span> <span class="number">00</span> Start</a>' in html
    )
    assert 'class="after"' not in html
    assert '<a href="#a-mean-more">A mean &amp; more</a>' in html


def test_where_github_shows_the_site():
    assert GITHUB.pages == "https://ada.github.io/lessons"
    assert Address("https://github.com/Ada/ada.github.io").pages == "https://ada.github.io"
    assert NOWHERE.pages is None


# Search


def test_search_knows_each_section_and_no_folded_answer():
    lesson = new_notebook(
        cells=[
            new_markdown_cell("# 01 Means\n\nBefore, `x`.", id="a"),
            new_markdown_cell(
                "## One\n\nA $\\mu$.\n\n<details><summary>Answer</summary>\n\nseven\n\n</details>", id="b"
            ),
            new_markdown_cell("More of one.\n\n## Two\n\n| a | b |\n|---|---|\n| c | d |", id="c"),
        ]
    )
    sections = found_in(lesson, heading_ids(lesson))
    assert sections == [("", "", "Before, x."), ("one", "One", "A μ. More of one."), ("two", "Two", "a b c d")]
    text = index("en", [("01.html", "01 Means", sections)])
    assert json.loads(text.partition(" = ")[2].rstrip(";\n"))[0][:2] == ["01.html", "01 Means"]


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (r"\mu + \gamma_i", "μ + γi"),
        (r"10^{-5}", "10^-5"),
        (r"\frac{1}{2}\sqrt{d_k}", "1/2√dk"),
        (r"\mathbf{x} \cdot W", "x · W"),
    ],
)
def test_search_reads_formulas_as_they_are_typed(formula, said):
    assert markdown.letters(formula) == said


# Files


def test_only_a_site_is_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", "utf-8")
    with pytest.raises(PublishError, match="something else than a site"):
        make_room(tmp_path)
    assert (tmp_path / "thesis.tex").is_file()
    (tmp_path / MARK).touch()
    make_room(tmp_path)
    assert not tmp_path.exists()
    make_room(tmp_path)  # nothing is there


def test_the_look_begins_with_the_palette_light_and_dark():
    assert style().startswith(":root {\n--bl-paper: #ffffff;\n--bl-ink: #1f2933;")
    assert ":root {\n--bl-paper: light-dark(#ffffff, #111418);" in style()


class Kept:
    def picture(self, content, kind):
        self.content = content.decode()
        return f"../pictures/a.{kind}"


def test_a_picture_in_a_file_of_its_own_brings_its_colours():
    kept = Kept()
    about = 'width="900" height="300" role="img" aria-label="A &lt; B" style="width:100%"'
    html = apart(f'<svg xmlns="http://www.w3.org/2000/svg" {about} viewBox="0 0 9 3"><path/></svg>', kept)
    assert (
        html
        == '<img src="../pictures/a.svg" alt="A &lt; B" style="width:100%" width="900" height="300" loading="lazy">'
    )
    assert kept.content.startswith(
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="300" viewBox="0 0 9 3"><style>'
    )
    assert "--bl-ink: light-dark(#1f2933, #f4f6f9);" in kept.content
    assert kept.content.endswith("</style><path/></svg>")


def test_what_the_start_page_shows_is_in_the_lessons():
    for key in BEST:
        stem, _, name = key.partition("/")
        assert f"\n{name}.panel()\n" in PROJECT.source(stem).read_text("utf-8")
