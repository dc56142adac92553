"""The site as a reader has it: from disk, without a network, on a desk and a phone, in light and dark."""

import gzip
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from blocklab.language import LANGUAGES
from workshop.project import Project
from workshop.site.frame import STORED
from workshop.site.write import write_site

pytestmark = pytest.mark.xdist_group("site")

PROJECT = Project(Path(__file__).parents[2])
HEAVIEST = 60_000  # bytes of a page, compressed
DESK = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
# One page of each kind; what else there is consists of the same parts.
KINDS = ("en/index", "zh/02_norm_axes", "en/13_kv_cache", "zh/glossary")
ADDRESS = re.compile(r'\b(?:href|src|data-script)="([^"]*)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site, whose panels are pictures."""
    folder = tmp_path_factory.mktemp("site") / "sub path"
    write_site(PROJECT, folder, living=())
    return folder


@pytest.fixture
def opened(chromium, site):
    """Opens a page of the site in a fresh browser that is offline; what it asks for beside files, and errors, fail."""
    contexts, wrong = [], []

    def open_(page, device=DESK, stored=None, **options):
        context = chromium.new_context(**device, **options)
        contexts.append(context)
        context.set_offline(True)
        if stored is not None:
            script = f"localStorage.setItem({json.dumps(STORED)}, {json.dumps(stored)})"
            context.add_init_script(f"if (!localStorage.length) {script}")
        seen = context.new_page()
        seen.set_default_timeout(10_000)
        seen.on("request", lambda request: request.url.startswith(("file:", "data:")) or wrong.append(request.url))
        seen.on("pageerror", lambda error: wrong.append(error))
        seen.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        seen.goto(address(site, page))
        return seen

    yield open_
    for context in contexts:
        context.close()
    assert wrong == []


def address(site, page):
    name, _, place = page.partition("#")
    return (site / f"{name}.html").as_uri() + (place and f"#{place}")


def kept(page):
    return json.loads(page.evaluate(f"localStorage.getItem({json.dumps(STORED)})"))


# Every page


def test_every_link_leads_somewhere_and_nothing_is_fetched_from_elsewhere(site):
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert len(pages) == 2 * (len(PROJECT.outlines()) + 2 + 15) + 1  # and start page, glossary, 15 handouts; the front
    ids = {path: set(re.findall(r'\bid="([^"]*)"', text)) for path, text in pages.items()}
    for path, text in pages.items():
        assert not re.search(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="https?:', text), path
        for found in ADDRESS.findall(text):
            parts = urlsplit(found)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path}: {found}"
            assert not parts.fragment or parts.fragment in ids[target], f"{path}: {found}"


def test_no_place_has_the_name_of_another(site):
    for path in site.rglob("*.html"):
        names = re.findall(r'\bid="([^"]*)"', path.read_text("utf-8"))
        assert len(names) == len(set(names)), path


def test_pages_are_light(site):
    sizes = {path: len(gzip.compress(path.read_bytes())) for path in site.glob("*/*.html")}
    assert {path: size for path, size in sizes.items() if size > HEAVIEST} == {}


def test_no_page_scrolls_sideways_on_a_phone(opened, site):
    page = opened("en/index", PHONE)
    for path in sorted(site.glob("*/*.html")):
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(node => (node.open = true))")
        page.locator(".menu").evaluate("node => (node.open = false)")
        assert page.evaluate("document.documentElement.scrollWidth") == 390, path


@pytest.mark.parametrize("page", KINDS)
def test_axe_finds_nothing(opened, page):
    seen = opened(page)
    seen.evaluate("document.querySelectorAll('details').forEach(node => (node.open = true))")
    for scheme, viewport in (("light", DESK["viewport"]), ("dark", PHONE["viewport"])):
        seen.emulate_media(color_scheme=scheme)
        seen.set_viewport_size(viewport)
        found = Axe().run(seen, options={"preload": False}).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == [], scheme


# Without the script


def test_without_javascript_all_that_is_to_be_read_is_there(opened):
    page = opened("zh/02_norm_axes", java_script_enabled=False)
    expect(page.get_by_role("heading", level=1)).to_have_text("02 哪些数共用一个均值？")
    expect(page.locator("figure img").first).to_be_visible()
    assert page.locator("math").count() > 0
    answer = page.locator("article details").first
    answer.locator("summary").click()
    expect(answer).to_have_attribute("open", "")
    assert page.get_by_role("search").count() == 0
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("02 Which numbers share one mean?")


UNSCRIPTED = {"en": "JavaScript is off here", "zh": "没有启用 JavaScript"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_without_its_script_says_so_in_one_line(opened, language):
    page = opened(f"{language}/05_layer_norm", java_script_enabled=False)
    expect(page.locator(".unscripted")).to_contain_text(UNSCRIPTED[language])
    expect(page.locator(".unscripted")).to_be_visible()
    expect(opened(f"{language}/05_layer_norm").locator(".unscripted")).to_be_hidden()


@pytest.mark.parametrize("kept_of_it", [0, 9000, None], ids=["nothing", "half", "missing"])
def test_a_page_whose_script_does_not_come_whole_says_so(chromium, site, kept_of_it):
    file = site / "site.js"
    whole = file.read_bytes()
    try:
        file.unlink()
        if kept_of_it is not None:
            file.write_bytes(whole[:kept_of_it])
        page = chromium.new_page()
        page.goto(address(site, "zh/05_layer_norm"))
        expect(page.locator(".unscripted")).to_be_visible()
        page.close()
    finally:
        file.write_bytes(whole)


def test_without_javascript_the_front_leads_to_english(opened, site):
    page = opened("index", java_script_enabled=False)
    page.wait_for_url((site / "en" / "index.html").as_uri())


@pytest.mark.parametrize(("locale", "language"), [("zh-TW", "zh"), ("en-GB", "en"), ("fr-FR", "en")])
def test_the_front_leads_to_the_readers_language(opened, site, locale, language):
    opened("index", locale=locale).wait_for_url((site / language / "index.html").as_uri())


def test_the_front_leads_to_the_language_read_last(opened, site):
    page = opened("zh/glossary", locale="en-GB")
    page.goto((site / "index.html").as_uri())
    page.wait_for_url((site / "zh" / "index.html").as_uri())


def test_on_paper_there_is_the_lesson_alone(opened):
    page = opened("en/05_layer_norm", color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator("article")).to_be_visible()
    for part in (".bar", ".contents", ".ways", ".copy", ".source"):
        assert page.locator(part).first.is_hidden()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


# Finding one's way


def test_the_first_stop_of_the_keyboard_leads_to_the_text(opened):
    page = opened("en/05_layer_norm")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the text")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.url.endswith("#main_text")


def test_only_what_scrolls_sideways_is_a_stop_of_the_keyboard(opened):
    page = opened("en/02_norm_axes")
    told = """all => all.map(pre => [pre.scrollWidth > pre.clientWidth + 1, pre.tabIndex])
        .every(([scrolls, stop]) => scrolls === (stop === 0))"""
    for viewport in (DESK["viewport"], PHONE["viewport"]):
        page.set_viewport_size(viewport)
        shown = "[...document.querySelectorAll('article pre.code')].filter(pre => pre.checkVisibility())"
        page.wait_for_function(f"({told})({shown})")
    assert page.evaluate(f"{shown}.some(pre => pre.tabIndex === 0)")


@pytest.mark.parametrize("device", [DESK, PHONE], ids=["desk", "phone"])
def test_the_other_language_begins_where_the_reader_is(opened, device):
    page = opened("en/02_norm_axes#the-layout-trap", device)
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(re.compile(r"/zh/02_norm_axes\.html#the-layout-trap"))
    top = page.locator("#the-layout-trap").evaluate("node => node.getBoundingClientRect().top")
    assert 0 <= top < 120


def test_the_contents_show_where_the_reader_is(opened):
    page = opened("en/02_norm_axes")
    here = page.locator(".contents [aria-current]")
    page.get_by_role("navigation", name="On this page").get_by_role("link", name="Real digits").click()
    expect(here).to_have_text("Real digits")
    assert kept(page)["last"] == {"lesson": "02_norm_axes", "place": "real-digits"}


def test_on_a_phone_the_contents_are_folded(opened):
    page = opened("en/02_norm_axes", PHONE)
    contents = page.locator(".contents details")
    assert contents.get_attribute("open") is None
    contents.locator("summary").tap()
    expect(contents.get_by_role("link", name="Real digits")).to_be_visible()


def test_the_list_of_lessons_opens_and_leads_there(opened):
    page = opened("zh/glossary", PHONE)
    page.locator(".menu summary").tap()
    page.get_by_role("navigation", name="全站").get_by_role("link", name=re.compile("^11")).tap()
    expect(page.get_by_role("heading", level=1)).to_contain_text("为什么要旋转查询和键？")


# Search


@pytest.mark.parametrize(("language", "asked"), [("en", "layout trap"), ("zh", "布局 陷阱")])
def test_search_finds_the_section(opened, language, asked):
    page = opened(f"{language}/index", PHONE)
    box = page.get_by_role("searchbox")
    box.fill(asked)
    first = page.locator(".results a").first
    expect(first).to_be_visible()
    first.tap()
    page.wait_for_url(re.compile(rf"/{language}/02_norm_axes\.html#the-layout-trap"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_finds_letters_of_formulas(opened, language):
    page = opened(f"{language}/glossary")
    for asked in ("γ", "√"):
        page.get_by_role("searchbox").fill(asked)
        expect(page.locator(".results a mark").first).to_have_text(asked)
    page.get_by_role("searchbox").fill("\\mu")
    expect(page.get_by_role("search").get_by_role("status")).to_contain_text("\\mu")
    expect(page.locator(".results a")).to_have_count(0)


def test_search_is_used_by_keyboard_alone(opened):
    page = opened("en/glossary")
    page.keyboard.press("/")
    page.keyboard.type("rotary")
    expect(page.locator(".results")).to_be_visible()
    expect(page.locator(".results a").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".results a").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".results")).to_be_hidden()


@pytest.mark.parametrize(
    ("start", "asked", "said", "there"),
    [
        ("en", "推一推", r"On the Chinese pages: \d+ found", "zh-CN"),
        ("zh", "layout trap", r"英文页面里找到 \d+ 处", "en"),
    ],
)
def test_what_stands_in_the_other_language_alone_is_found_there(opened, start, asked, said, there):
    page = opened(f"{start}/index")
    page.get_by_role("searchbox").fill(asked)
    expect(page.get_by_role("search").get_by_role("status")).to_have_text(re.compile(f"^{said}$"))
    page.locator(".results a").first.click()
    expect(page.locator("html")).to_have_attribute("lang", there)


def test_search_says_when_there_is_nothing(opened):
    page = opened("zh/index")
    page.get_by_role("searchbox").fill("<b>zzzz")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("没有找到“<b>zzzz”。")


# Light and dark


def test_the_look_that_is_chosen_is_kept_on_every_page(opened, site):
    page = opened("en/index", color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    button = page.get_by_role("button", name=re.compile("Light or dark"))
    button.click()
    button.click()
    expect(button).to_have_attribute("aria-label", "Light or dark: dark")
    assert page.evaluate(ground) != light
    page.goto(address(site, "zh/02_norm_axes"))
    assert page.evaluate(ground) != light
    page.get_by_role("button", name="浅色或深色：深色").click()
    assert page.evaluate(ground) == light


# What the reader has done


def test_a_lesson_that_is_read_is_marked_and_can_be_gone_on_with(opened, site):
    page = opened("en/06_rms_norm")
    page.get_by_label("I have read this lesson").check()
    page.goto(address(site, "en/02_norm_axes#real-digits"))
    expect(page.locator(".contents [aria-current]")).to_have_text("Real digits")
    page.goto(address(site, "en/index"))
    expect(page.locator("#lessons li", has_text="What is lost")).to_contain_text("read")
    expect(page.locator(".progress")).to_contain_text("1 of 16 lessons read, 0 predictions made, 0 of them right")
    page.get_by_role("link", name="Go on: 02 Which numbers share one mean?").click()
    page.wait_for_url(re.compile(r"02_norm_axes\.html#real-digits"))
    page.goto(address(site, "en/06_rms_norm"))
    expect(page.get_by_label("I have read this lesson")).to_be_checked()
    page.goto(address(site, "zh/index"))
    page.get_by_role("button", name="清除").click()
    expect(page.locator(".progress")).to_be_hidden()
    assert kept(page)["read"] == {}


DAMAGED = {
    "no JSON": "{",
    "null": "null",
    "a list": "[1]",
    "others' kinds": '{"theme": 3, "last": [], "read": "all", "guesses": {"02/x": "yes", "02/y": [true]}}',
    "deep": '{"last": {"lesson": {}, "place": 1}, "read": {"05_layer_norm": "true"}}',
}


UNREAD = {"en": "of another edition, or damaged", "zh": "属于另一个版本"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", ["index", "05_layer_norm"])
def test_progress_that_cannot_be_read_is_told_of(opened, language, page):
    said = opened(f"{language}/{page}", stored="{").locator("main > .trouble, .all > .trouble")
    expect(said).to_contain_text(UNREAD[language])
    assert opened(f"{language}/{page}", stored='{"read": {}}').locator(".trouble").count() == 0


@pytest.mark.parametrize("stored", DAMAGED.values(), ids=list(DAMAGED))
def test_what_is_stored_in_another_form_counts_as_nothing(opened, site, stored):
    page = opened("en/index", stored=stored)
    expect(page.locator(".progress")).to_be_hidden()
    expect(page.get_by_role("searchbox")).to_be_visible()
    page.goto(address(site, "en/05_layer_norm"))
    page.get_by_label("I have read this lesson").check()
    assert kept(page)["read"] == {"05_layer_norm": True}


def test_what_another_edition_has_stored_is_left_alone(opened):
    page = opened("en/index")
    other = STORED[:-1] + "7"
    page.evaluate(f"localStorage.setItem({json.dumps(other)}, 'theirs')")
    page.reload()
    assert page.evaluate(f"localStorage.getItem({json.dumps(other)})") == "theirs"
    expect(page.locator(".all > .trouble")).to_contain_text(UNREAD["en"])


def test_where_nothing_can_be_stored_the_page_works(opened, site):
    page = opened("en/index")
    page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied') }})")
    page.goto(address(site, "en/05_layer_norm"))
    page.get_by_label("I have read this lesson").check()
    expect(page.get_by_role("searchbox")).to_be_visible()
    expect(page.locator("main > .trouble")).to_contain_text("lets the page store nothing")
    page.goto(address(site, "zh/index"))
    expect(page.locator(".all > .trouble")).to_contain_text("不让网页保存数据")


# Panels whose states do not come


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_panel_without_its_states_stays_a_picture_and_says_so(chromium, site, language):
    path = site / language / "06_rms_norm.html"
    whole = path.read_text("utf-8")
    about = 'class="panel" data-panel="06_rms_norm/gone" data-script="../states/06_rms_norm/gone.js"'
    path.write_text(whole.replace('<figure class="still">', f"<figure {about}>", 1), encoding="utf-8")
    try:
        page = chromium.new_page()
        page.goto(path.as_uri())
        figure = page.locator("figure.panel")
        figure.scroll_into_view_if_needed()
        said = {"en": "could not be loaded", "zh": "没能载入"}[language]
        expect(figure.get_by_role("status")).to_contain_text(said)
        expect(figure.locator("img")).to_be_visible()
        page.close()
    finally:
        path.write_text(whole, encoding="utf-8")
