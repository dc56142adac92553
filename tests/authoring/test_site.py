"""The parts of a page: texts, cells, search, and the folder that the site is written to."""

import json
import re
from base64 import b64encode
from html import unescape
from io import BytesIO
from pathlib import Path

import pytest
from markupsafe import Markup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from authoring import notebook
from authoring.address import Address
from authoring.problem import BuildError
from authoring.project import Outline, Project
from authoring.readme import count_figures
from authoring.site import markdown
from authoring.site.cells import Picture, code_cell
from authoring.site.home import TOYS, start_page
from authoring.site.layout import Book, Place
from authoring.site.pages import heading_ids, notebook_page, own_cells
from authoring.site.render import render
from authoring.site.search import index, read_sections
from authoring.site.write import MARK, remove_old_site, save_svg, style
from blocklab_course.i18n import LANGUAGES

PROJECT = Project(Path(__file__).parents[2])
LESSONS = [outline.stem for outline in PROJECT.outlines()]
MEANS = Outline("02", "02_means", {"en": "02 Means", "zh": "02 均值"})
START = Outline("00", "00_start", {"en": "00 Start", "zh": "00 开始"})
GITHUB = Address("https://github.com/ada/lessons")
NOWHERE = Address()  # a repository without an address
SVG = Markup("<svg></svg>")


def store(_png):
    return "../pictures/a.png"


def png(width=40, height=20):
    file = BytesIO()
    Image.new("RGB", (width, height)).save(file, "png")
    return b64encode(file.getvalue()).decode()


def printed(*lines):
    return [new_output("stream", name="stdout", text=line) for line in lines]


def cell_html(cell, drawn=None):
    return render("code_cell.html", cell=code_cell(cell, drawn, store), here=MEANS, colab=None)


def html_of(source, *outputs, tags=(), drawn=None):
    return cell_html(new_code_cell(source, metadata={"tags": list(tags)}, outputs=list(outputs)), drawn)


# Texts


def test_text_renders_formulas_links_and_ids():
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
def test_function_names_in_formulas_are_spaced_as_in_tex(formula, shown):
    html = markdown.mathml(formula, "inline").replace('<mspace width="0.17em" />', " ")
    assert re.sub("<[^>]*>", "", html) == shown
    assert html.startswith('<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">')


def test_folded_text_stays_folded_and_may_hold_markdown():
    html = markdown.html("<details><summary>Answer</summary>\n\nIt is **two**.\n\n</details>", [])
    assert "<details><summary>Answer</summary>" in html
    assert "<strong>two</strong>" in html


def test_equal_headings_get_different_ids():
    twice = new_notebook(cells=[new_markdown_cell("# 01 A\n\n## Same: γ!\n\n## Same\n\n## same γ", id="one")])
    assert heading_ids(twice) == {"one": ["same", "same--2", "same--3"]}


@pytest.mark.parametrize("stem", [*LESSONS, "glossary"])
def test_both_languages_have_the_same_headings_with_unique_ids(stem):
    english, chinese = (notebook.read(PROJECT.notebook(language, stem)) for language in LANGUAGES)
    ids, others = heading_ids(english), heading_ids(chinese)
    assert {cell: len(names) for cell, names in ids.items()} == {cell: len(names) for cell, names in others.items()}
    names = [name for found in ids.values() for name in found] + [cell.id for cell in own_cells(english)]
    assert all(names)
    assert len(names) == len(set(names))


# Cells


def test_code_is_highlighted_and_printed_lines_are_one_text():
    html = html_of("print(1 < 2)", *printed("True <\n", "end\n"))
    assert '<span class="nb">print</span>' in html
    assert html.count('class="output"') == 1
    assert "True &lt;\nend</pre>" in html


@pytest.mark.parametrize(("tag", "summary"), [("solution", "A solution"), ("answer", "Show the output")])
def test_solutions_and_answers_are_folded(tag, summary):
    before, _, folded = html_of("x = 1\nprint(x)", *printed("forty-two"), tags=[tag]).partition("<details")
    assert "forty-two" not in before
    assert summary in folded
    assert "forty-two" in folded


def test_titles_of_folded_cells_are_not_shown():
    solution = html_of("#@title Solution\nx = 1", tags=["solution"])
    assert "<summary>A solution</summary>" in solution
    assert "@title" not in solution + html_of("#@title Imports: run me next\nimport torch")


def test_only_cells_of_imports_are_folded():
    assert "<summary>Imports</summary>" in html_of("import torch\nfrom torch import nn")
    assert "<summary>" not in html_of("import torch\nprint(torch)")
    assert "<summary>" not in html_of("%pip install torch")


def test_exercise_shows_no_verdict():
    html = html_of("my_s = None", *printed("not yet"), tags=["exercise"])
    assert '<p class="write">' in html
    assert "not yet" not in html


def test_panel_is_a_figure_with_its_code_folded():
    drawn = Picture("02_means/poke", "../states/02_means/poke.js", SVG, "3 < 4")
    view = new_output("display_data", data={"image/png": png(), "text/plain": "3 < 4"})
    html = html_of("poke.panel()", view, tags=["panel"], drawn=drawn)
    assert 'data-panel="02_means/poke" data-script="../states/02_means/poke.js"' in html
    assert "<figcaption>3 &lt; 4</figcaption>" in html
    assert html.index("<svg") < html.index("<summary>Code of this cell")
    assert 'class="panel"' not in html_of("poke.panel().still()", view, drawn=Picture("k", None, SVG, ""))
    small = Markup("<img alt='small'>")
    both = html_of("poke.panel().still()", view, drawn=Picture("k", None, SVG, "", small=small))
    assert 'class="still arranged"' in both
    assert f"{SVG}{small}" in both


@pytest.mark.parametrize("stem", LESSONS)
def test_page_shows_every_output_of_a_lesson_once(stem):
    for language in LANGUAGES:
        for cell in own_cells(notebook.read(PROJECT.notebook(language, stem))):
            if cell.cell_type != "code" or "exercise" in cell.metadata.get("tags", ()):  # its verdict is the reader's
                continue
            pictures = sum("image/png" in output.get("data", ()) for output in cell.outputs)
            html = cell_html(cell, Picture("a/b", None, SVG, "") if pictures else None)
            assert html.count(SVG) == pictures, cell.id
            for output in cell.outputs:
                if output.output_type == "stream":
                    assert all(line.rstrip() in unescape(html) for line in output.text.splitlines()), cell.id
                elif "text/html" in output.data and not pictures:
                    assert " ".join(words_of(output.data["text/html"])) in " ".join(words_of(html)), cell.id


def words_of(html):
    return unescape(re.sub(r"<[^>]*>", " ", html)).split()


def test_pictures_of_the_notebook_become_files():
    html = html_of("draw()\nshow()", new_output("display_data", data={"image/png": png(), "text/plain": '"a"'}))
    assert '<img src="../pictures/a.png" alt="&#34;a&#34;" width="20" height="10"' in html
    data = {"text/html": f'<a href="05_layer_norm.ipynb"><img src="data:image/png;base64,{png()}"></a>'}
    html = html_of("x", new_output("execute_result", data=data, execution_count=1))
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
    return notebook_page(book, place, lesson, heading_ids(lesson), {}, store, False)


def test_without_an_address_exercises_name_the_command():
    html = page(NOWHERE)
    assert "with <code>make lab</code>, in lesson 02" in html
    assert "Colab" not in html
    assert "make lab READ=zh" in page(NOWHERE, "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_with_an_address_a_page_links_to_the_repository(language):
    known, unknown = (re.findall('href="([^"]*)"', page(address, language)) for address in (GITHUB, NOWHERE))
    assert GITHUB.url in known
    assert not any(link == "" or link.startswith("http") for link in unknown)


def test_with_an_address_exercises_lead_to_their_cell_in_colab():
    html = page(GITHUB, "zh")
    at = "https://colab.research.google.com/github/ada/lessons/blob/main/notebooks/zh/02_means.ipynb"
    assert f'href="{at}#scrollTo=mean-2"' in html
    assert f'第 2 课，共 2 课 · 大约 40 分钟 · <a href="{at}">' in html


def test_every_page_links_to_its_translation_and_its_neighbours():
    html = page(NOWHERE)
    assert '<html lang="en">' in html
    assert 'lang="zh-CN" hreflang="zh-CN" href="../zh/02_means.html">中文</a>' in html
    assert (
        '<a class="before" href="00_start.html"><span>Previous</span> <span class="number">00</span> Start</a>' in html
    )
    assert 'class="after"' not in html
    assert '<a href="#a-mean-more">A mean &amp; more</a>' in html


def test_github_pages_address():
    assert GITHUB.pages == "https://ada.github.io/lessons"
    assert Address("https://github.com/Ada/ada.github.io").pages == "https://ada.github.io"


# The start page


def start(address, language):
    outlines = PROJECT.outlines()
    drawn = dict.fromkeys([*TOYS, "map"], Picture("", None, SVG, ""))
    figures = {outline.stem: count_figures(PROJECT, outline) for outline in outlines}
    return start_page(Book(outlines, address), language, drawn, figures, {})


@pytest.mark.parametrize("language", LANGUAGES)
def test_start_page_says_what_the_readme_says(language):
    readme = re.sub(r"<!--.*?-->|[*`]", "", PROJECT.read(PROJECT.readme(language)))
    said = re.sub(r"</p>\s*<p>", "<br>", start(NOWHERE, language))
    shown = unescape(re.sub(r"<(?!br)[^>]*>", "", said))
    pitch = re.search(r"# Blocklab\s+(.*?)<br>", readme)[1]
    table = re.search(r"^\|(.*)\|\n\| --- .*\n\|(.*)\|$", readme, re.MULTILINE)
    cards = [cell.strip() for row in table.groups() for cell in row.split("|")]
    assert len(cards) == 6
    for text in (pitch, *cards):
        assert text in shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_start_page_links_to_repository_and_colab_if_there_is_an_address(language):
    known, unknown = (re.findall('href="([^"]*)"', start(address, language)) for address in (GITHUB, NOWHERE))
    assert GITHUB.url in known
    assert f"{GITHUB.colab}/notebooks/{language}/00_start_here.ipynb" in known
    assert not any(link.startswith("http") for link in unknown)
    gitlab = re.findall('href="([^"]*)"', start(Address("https://gitlab.com/ada/lessons"), language))
    assert "https://gitlab.com/ada/lessons" in gitlab
    assert not any(link.endswith(".ipynb") for link in gitlab)


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
    sections = read_sections(lesson, heading_ids(lesson))
    assert sections == [("", "", "Before, x."), ("one", "One", "A μ. More of one."), ("two", "Two", "a b c d")]
    text = index("en", [("01.html", "01 Means", sections)])
    assert json.loads(text.partition(" = ")[2].rstrip(";\n"))[0][:2] == ["01.html", "01 Means"]


@pytest.mark.parametrize(
    ("formula", "typed"),
    [
        (r"\mu + \gamma_i", "μ + γi"),
        (r"10^{-5}", "10^-5"),
        (r"\frac{1}{2}\sqrt{d_k}", "1/2√dk"),
        (r"\mathbf{x} \cdot W", "x · W"),
    ],
)
def test_search_reads_formulas_as_they_are_typed(formula, typed):
    assert markdown.letters(formula) == typed


# Files


def test_only_a_site_is_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", "utf-8")
    with pytest.raises(BuildError, match="to be empty or to hold a site"):
        remove_old_site(tmp_path)
    assert (tmp_path / "thesis.tex").is_file()
    (tmp_path / MARK).touch()
    remove_old_site(tmp_path)
    assert not tmp_path.exists()


def test_stylesheet_begins_with_the_palette_for_light_and_dark():
    assert style().startswith(":root {\n--bl-paper: #ffffff;\n--bl-ink: #1f2933;")
    assert ":root {\n--bl-paper: light-dark(#ffffff, #111418);" in style()


class OneFile:
    def picture(self, content, kind):
        self.content = content.decode()
        return f"../pictures/a.{kind}"


def test_svg_in_a_file_of_its_own_brings_its_colours():
    folder = OneFile()
    about = 'width="900" height="300" role="img" aria-label="A &lt; B" style="width:100%"'
    html = save_svg(f'<svg xmlns="http://www.w3.org/2000/svg" {about} viewBox="0 0 9 3"><path/></svg>', folder)
    assert (
        html
        == '<img src="../pictures/a.svg" alt="A &lt; B" width="900" height="300" style="width:100%" loading="lazy">'
    )
    assert folder.content.startswith(
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="300" viewBox="0 0 9 3"><style>'
    )
    assert "--bl-ink: light-dark(#1f2933, #f4f6f9);" in folder.content
    assert folder.content.endswith("</style><path/></svg>")
