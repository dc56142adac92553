"""The panels of the site work from disk; a panel whose states do not load stays a picture."""

import json
import re
from pathlib import Path

import pytest
from markupsafe import Markup
from nbformat.v4 import new_code_cell, new_output
from playwright.sync_api import expect

from authoring.address import Address
from authoring.project import Project
from authoring.site.cells import Picture, code_cell
from authoring.site.data_script import data_script
from authoring.site.home import TOYS, start_page
from authoring.site.layout import STORAGE_KEY, Book
from authoring.site.render import render
from authoring.site.states_encode import encode
from authoring.site.write import write_site
from blocklab_course import predict
from blocklab_course.i18n import LANGUAGES, use_language
from blocklab_course.lessons.attention import poke_one_token
from blocklab_course.session import set_language

pytestmark = pytest.mark.xdist_group("site_panels")

PROJECT = Project(Path(__file__).parents[2])
LESSON = "00_start_here"
STATES = f"states/{LESSON}/idle_slider.js"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, with the panel of lesson 00 alive."""
    folder = tmp_path_factory.mktemp("site")
    write_site(PROJECT, folder, living=(LESSON,))
    return folder


@pytest.fixture
def page(chromium):
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(10_000)
    wrong = []
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or wrong.append(request.url))
    page.on("pageerror", lambda error: wrong.append(error))
    yield page
    context.close()
    assert wrong == []


def panel(page, site, language):
    page.goto((site / language / f"{LESSON}.html").as_uri())
    figure = page.locator(f"figure[data-panel='{LESSON}/idle_slider']")
    figure.scroll_into_view_if_needed()
    return figure


def test_panel_far_away_is_not_loaded(page, site):
    page.goto((site / "en" / f"{LESSON}.html").as_uri())
    figure = page.locator("figure.panel")
    assert figure.evaluate("node => node.getBoundingClientRect().top") > 900 + 600
    expect(figure.locator("figcaption")).to_be_attached()
    assert page.locator("script[src*=player]").count() == 0


def test_guess_is_judged_and_kept_in_both_languages_and_on_the_start_page(page, site):
    figure = panel(page, site, "en")
    slider = figure.locator("input[type=range]")
    expect(slider).to_be_hidden()
    options = figure.locator(".blocklab-guess button:not(.blocklab-skip)")
    options.nth(0).click()
    expect(figure.locator(".blocklab-told")).not_to_be_empty()
    before = figure.get_by_role("status").text_content()
    slider.press("ArrowLeft")
    expect(figure.get_by_role("status")).not_to_have_text(before)
    [(key, (choice, right))] = json.loads(page.evaluate(f"localStorage.getItem('{STORAGE_KEY}')"))["guesses"].items()
    assert (key, choice) == (f"{LESSON}/idle_slider", 0)
    again = panel(page, site, "zh")
    expect(again.locator("input[type=range]")).to_be_enabled()
    expect(again.locator(".blocklab-told")).to_contain_text("猜")
    page.goto((site / "en" / "index.html").as_uri())
    expect(page.locator(".progress")).to_contain_text(f"1 predictions made, {int(right)} of them right")


@pytest.mark.usefixtures("lesson_undone")
def test_figure_on_the_start_page_moves_without_a_guess(page, site):
    key, (toy, opening) = next(iter(TOYS.items()))
    twins = {}
    for language in LANGUAGES:
        set_language(language)
        twins[language] = poke_one_token.panel()
    assert twins["en"].prediction
    twins["en"].move(**opening)
    first, *rest = twins["en"].places
    states = encode(twins, [[token, *rest] for token in range(poke_one_token.LENGTH)])
    (site / "states" / "toy.js").write_text(data_script("blocklabStates", key, states), "utf-8")
    empty = Picture("", None, Markup(""), "")
    drawn = {**dict.fromkeys([*TOYS, "map"], empty), key: Picture(key, "../states/toy.js", Markup(""), "")}
    outlines = PROJECT.outlines()
    figures = {outline.stem: 1 for outline in outlines}
    path = site / "en" / "toys.html"
    path.write_text(start_page(Book(outlines, Address()), "en", drawn, figures, {}), "utf-8")
    page.goto(path.as_uri())
    figure = page.locator("figure.panel")
    figure.scroll_into_view_if_needed()
    slider = figure.get_by_role("slider").and_(page.locator("input"))
    expect(slider).to_be_enabled()
    expect(figure.locator(".blocklab-guess, .blocklab-lock")).to_have_count(0)
    expect(slider).to_have_value(str(first))
    expect(page.get_by_role("heading", name=toy.GUESS.question.en)).to_be_visible()
    before = figure.get_by_role("status").text_content()
    slider.press("End")
    expect(figure.get_by_role("status")).not_to_have_text(before)
    assert json.loads(page.evaluate(f"localStorage.getItem('{STORAGE_KEY}')"))["guesses"] == {}


def test_translation_opens_at_the_panel_that_is_read(page, site):
    figure = panel(page, site, "en")
    slider = figure.get_by_role("slider").and_(page.locator("input"))
    figure.locator(".blocklab-skip").click()
    slider.evaluate("node => scrollBy(0, node.getBoundingClientRect().top - 100)")  # its id is the last near the top
    cell = figure.evaluate("node => node.closest('.cell').id")
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(re.compile(rf"/zh/{LESSON}\.html#{cell}$"))
    expect(page.locator(f"#{cell} .blocklab-bar")).to_be_attached()
    assert 0 <= page.locator(f"#{cell}").evaluate("node => node.getBoundingClientRect().top") < 120


def test_place_stays_when_a_panel_above_comes_to_life(page, site):
    page.goto((site / "en" / f"{LESSON}.html").as_uri())
    contents = page.locator(".contents a")
    page.evaluate("id => (location.hash = id)", contents.nth(3).get_attribute("href"))
    expect(page.locator("figure .blocklab-bar")).to_be_attached()
    below = page.locator(contents.nth(3).get_attribute("href"))
    assert 0 <= below.evaluate("node => node.getBoundingClientRect().top") < 120
    expect(contents.nth(3)).to_have_attribute("aria-current", "location")


def test_phone_loads_its_own_states_and_turning_it_keeps_place_and_guess(page, site):
    page.set_viewport_size({"width": 390, "height": 844})
    figure = panel(page, site, "en")
    picture = figure.locator(".blocklab-picture > svg")
    expect(picture).to_have_attribute("viewBox", "0 0 4600 5600")
    assert page.evaluate("Object.keys(blocklabStates)") == [f"{LESSON}/idle_slider/narrow"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = figure.locator(".blocklab-picture")
    assert box.evaluate("node => node.scrollWidth <= node.clientWidth")
    figure.get_by_role("button", name="nothing").click()
    slider = figure.locator("input[type=range]")
    slider.press("End")
    said = figure.get_by_role("status").text_content()
    for size, wanted in [((844, 390), "0 0 10000 3600"), ((390, 844), "0 0 4600 5600")]:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        expect(picture).to_have_attribute("viewBox", wanted)
        expect(figure.get_by_role("status")).to_have_text(said)
        expect(slider).to_be_enabled()
        expect(figure.locator(".blocklab-panel")).to_have_count(1)


OLD = f'(globalThis.blocklabStates ??= {{}})["{LESSON}/idle_slider"] = {{"format":1}};'


@pytest.mark.parametrize(("states", "message"), [(None, "没能载入"), (OLD, "另一个版本，请刷新页面")])
def test_panel_without_its_states_stays_a_picture_and_says_so(chromium, site, states, message):
    file = site / STATES
    original = file.read_bytes()
    page = chromium.new_page()
    try:
        file.unlink()
        if states:
            file.write_text(states, "utf-8")
        figure = panel(page, site, "zh")
        expect(figure.get_by_role("status")).to_contain_text(message)
        expect(figure.get_by_role("img").first).to_be_visible()
        expect(figure.locator(".blocklab-bar")).to_have_count(0)
    finally:
        file.write_bytes(original)
        page.close()


def page_that_asks(site, language="en"):
    """The page of a lesson, with two questions before its text."""
    with use_language(language):
        asked = [
            predict("sum_of_squares", {"it grows": True, "it stays": False}, why="Squares are added."),
            predict("half_life", -6.6, within=0.1, why="The half."),
        ]
        outputs = [new_output("display_data", {"text/html": question.html()}) for question in asked]
        cells = [code_cell(new_code_cell("predict(…)", outputs=[output]), None, str) for output in outputs]
        html = "".join(render("code_cell.html", cell=cell, here=None, colab=None) for cell in cells)
    lesson = (site / language / f"{LESSON}.html").read_text("utf-8")
    file = site / language / "asks.html"
    file.write_text(lesson.replace("<article>", f"<article>{html}"), "utf-8")
    return file.as_uri()


def test_question_without_a_figure_is_judged_and_remembered(page, site):
    page.goto(page_that_asks(site))
    choices, number = page.locator("[data-question]").all()
    choices.get_by_role("button", name="it grows").click()
    number.get_by_role("spinbutton").fill("-1")
    number.get_by_role("button", name="Guess").click()
    guesses = json.loads(page.evaluate(f"localStorage.getItem('{STORAGE_KEY}')"))["guesses"]
    assert guesses == {"predict/sum_of_squares": [0, True], "predict/half_life": ["-1", False]}
    page.goto(page_that_asks(site, "zh"))
    expect(page.get_by_text("你猜的是“it grows”，猜对了。")).to_be_visible()
    expect(number.get_by_role("spinbutton")).to_have_value("-1")
    expect(number.get_by_role("button")).to_have_count(0)
    page.goto((site / "en" / "index.html").as_uri())
    expect(page.locator(".progress")).to_contain_text("2 predictions made, 1 of them right")


def test_question_without_script_is_text_with_a_folded_answer(chromium, site):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_that_asks(site))
    expect(page.get_by_text("it stays").first).to_be_visible()
    expect(page.get_by_text("Run the cell").first).to_be_hidden()
    answer = page.locator("[data-question] details").first
    expect(answer.get_by_text("Squares are added.")).to_be_hidden()
    answer.get_by_text("Answer").click()
    expect(answer.get_by_text("it grows")).to_be_visible()
    expect(answer.get_by_text("Squares are added.")).to_be_visible()
    context.close()


def test_map_is_an_svg_that_links_to_lessons(page, site):
    page.goto((site / "zh" / "index.html").as_uri())
    chart = page.locator("#map")
    expect(chart.locator("svg")).to_be_attached()
    chart.get_by_role("link", name="11").first.click()
    page.wait_for_url(re.compile("/zh/11_rotary_positions.html"))
