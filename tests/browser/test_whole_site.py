"""The whole site with all panels: size, accessibility and errors of every page in Chromium, offline."""

import gzip
import json
from pathlib import Path
from statistics import median

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, expect

from authoring.project import Project
from authoring.site.write import write_site
from blocklab_course.i18n import LANGUAGES

pytestmark = pytest.mark.xdist_group("whole_site")

PROJECT = Project(Path(__file__).parents[2])
STEMS = [*(outline.stem for outline in PROJECT.outlines()), "glossary", "index"]
HEAVIEST = 60_000  # bytes of a page without its panels; all are compressed
STATE = 2_000  # of a state of a panel, the median of all panels
OPENING, LARGE_STATE = 25_000, 2_500  # of a panel's first picture at most, and of each of its states
ALL_STATES = 8_000_000  # for wide pages and for phones
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
LOOKS = {"en": "light", "zh": "dark"}
SHOWN = """figure => [figure.querySelector('.blocklab-line').textContent,
    figure.querySelector('.blocklab-picture g[role=img]').innerHTML].join()"""


@pytest.fixture(scope="module")
def site(request, tmp_path_factory):
    """The site that `--site` names, or a new one, which takes minutes to write."""
    if built := request.config.getoption("--site"):
        return Path(built).resolve()
    folder = tmp_path_factory.mktemp("site")
    write_site(PROJECT, folder, living=[outline.stem for outline in PROJECT.outlines()])
    return folder


@pytest.fixture(scope="module")
def watched(chromium):
    """Opens pages in a browser that is offline, and collects what goes wrong in them."""
    contexts = []

    def open_(address, language):
        context = chromium.new_context(offline=True, viewport=DESK, color_scheme=LOOKS[language])
        contexts.append(context)
        page, wrong = context.new_page(), []
        page.set_default_timeout(20_000)
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or wrong.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: said.type in ("error", "warning") and wrong.append(said.text))
        page.goto(address)
        return page, wrong

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="module", params=[f"{language}/{stem}" for language in LANGUAGES for stem in STEMS])
def alive(request, site, watched):
    """A page with everything unfolded and all panels alive, and what went wrong in it."""
    page, wrong = watched((site / f"{request.param}.html").as_uri(), request.param[:2])
    page.evaluate("document.querySelectorAll('main details').forEach(node => (node.open = true))")
    for figure in panels(page):
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".blocklab-bar")).to_be_attached()
    yield page, wrong
    page.close()


def panels(page) -> list[Locator]:
    return page.locator("figure[data-panel]").all()


# What it weighs


def test_every_page_is_light(site):
    sizes = {path: len(gzip.compress(path.read_bytes())) for path in site.glob("*/*.html")}
    assert len(sizes) == len(LANGUAGES) * len(STEMS)
    assert {path.name: size for path, size in sizes.items() if size > HEAVIEST} == {}


def test_states_are_light(site):
    files = {str(path.relative_to(site)): path.read_text("utf-8") for path in site.glob("states/**/*.js")}
    weights = {name: len(gzip.compress(text.encode())) for name, text in files.items()}
    many = {name: len(json.loads(text.partition("] = ")[2].rstrip(";\n"))["states"]) for name, text in files.items()}
    each = {name: weights[name] / many[name] for name in files}
    assert median(each.values()) < STATE
    assert {name: weight for name, weight in weights.items() if weight > OPENING + LARGE_STATE * many[name]} == {}
    assert sum(weights.values()) < ALL_STATES


# Every page


def test_every_panel_moves(alive):
    page, _ = alive
    for figure in panels(page):
        name = figure.get_attribute("data-panel")
        if (skip := figure.locator(".blocklab-skip")).is_visible():
            skip.click()
        assert any(moves(figure, control) for control in figure.locator(".blocklab-control").all()), name
        assert figure.locator(".trouble").count() == 0, name


def moves(figure: Locator, control: Locator) -> bool:
    """Whether the line or the picture changes when the control goes to an end, to another option, on or off."""
    before = figure.evaluate(SHOWN)
    if control.locator("input[type=range]").count():
        slider = control.locator("input[type=range]")
        tries = [lambda: slider.press("End"), lambda: slider.press("Home")]
    elif control.locator("select").count():
        tries = [lambda: control.locator("select").select_option(index=2)]
    elif control.locator("input[type=checkbox]").count():
        tries = [control.locator("input[type=checkbox]").click]
    else:
        tries = [button.click for button in control.locator("button").all()]
    for touch in tries:
        touch()
        if figure.evaluate(SHOWN) != before:
            return True
    return False


def test_translation_opens_at_the_panel_that_is_read(alive, site):
    page, _ = alive
    link = page.locator(".language")
    for figure in panels(page):
        figure.locator("[id]:not(svg *)").first.evaluate(
            "node => scrollTo(0, scrollY + node.getBoundingClientRect().top - 60)"
        )
        link.dispatch_event("pointerenter")
        file, _, place = link.get_attribute("href").partition("#")
        assert place == figure.evaluate("node => node.closest('[id]').id")
        assert f' id="{place}"' in (site / "en" / file).resolve().read_text("utf-8")


def test_page_does_not_scroll_sideways_on_a_phone(alive):
    page, _ = alive
    page.set_viewport_size(PHONE)
    for figure in panels(page):
        expect(figure.locator(".blocklab-narrow"), figure.get_attribute("data-panel")).to_be_attached()
        box = figure.locator(".blocklab-picture")
        expect(box.locator("svg[style*='min-width: 0']"), figure.get_attribute("data-panel")).to_be_attached()
        assert box.evaluate("node => node.scrollWidth <= node.clientWidth"), figure.get_attribute("data-panel")
    page.wait_for_function("width => document.documentElement.scrollWidth === width", arg=PHONE["width"])
    page.set_viewport_size(DESK)


def test_axe_finds_nothing(alive):
    page, _ = alive
    assert found_by_axe(page) == []


def test_page_requests_nothing_and_logs_no_error(alive):
    _, wrong = alive
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_handouts_fit_a_phone_and_axe_finds_nothing(site, watched, language):
    for path in sorted((site / language / "handouts").glob("*.html")):
        page, wrong = watched(path.as_uri(), language)
        assert found_by_axe(page) == [], path.name
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"], path.name
        assert wrong == [], path.name
        page.close()


def found_by_axe(page) -> list[tuple[str, str]]:
    found = Axe().run(page, options={"preload": False}).response["violations"]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
