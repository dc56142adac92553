"""The site opened from disk without a network, on desktop and phone, in light and dark."""

import gzip
import json
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from authoring.project import Project
from authoring.site.home import TOYS, wrong_rows
from authoring.site.layout import STORAGE_KEY
from authoring.site.write import write_site
from blocklab_course.i18n import LANGUAGES, use_language
from blocklab_course.lessons.your_model.wrong_functions import WRONG, recorded

pytestmark = pytest.mark.xdist_group("site")

PROJECT = Project(Path(__file__).parents[2])
HEAVIEST = 60_000  # bytes of a page, compressed
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
KINDS = ("en/index", "zh/02_norm_axes", "en/13_kv_cache", "zh/glossary")  # the others consist of the same parts
LINK = re.compile(r'\b(?:href|src|data-script)="([^"]*)"')
PLACEHOLDER = re.compile(r"YOUR_NAME|\.invalid\b")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site, with pictures instead of interactive panels."""
    folder = tmp_path_factory.mktemp("site") / "sub path"
    write_site(PROJECT, folder, living=())
    return folder


@pytest.fixture
def open_page(chromium, site):
    """Opens a page of the site in a fresh browser that is offline. Errors, and requests to anything but files, fail."""
    contexts, wrong = [], []

    def open_(page, device=DESKTOP, **options):
        context = chromium.new_context(**device, **options)
        contexts.append(context)
        context.set_offline(True)
        seen = context.new_page()
        seen.set_default_timeout(10_000)
        seen.on("request", lambda request: request.url.startswith(("file:", "data:")) or wrong.append(request.url))
        seen.on("pageerror", lambda error: wrong.append(error))
        seen.on("console", lambda message: message.type == "error" and wrong.append(message.text))
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
    return json.loads(page.evaluate(f"localStorage.getItem({json.dumps(STORAGE_KEY)})"))


# Every page


def test_every_link_leads_somewhere_and_nothing_is_fetched_from_other_sites(site):
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert len(pages) == 2 * (len(PROJECT.outlines()) + 2 + 15) + 1  # and start page, glossary, 15 handouts; the front
    ids = {path: re.findall(r'\bid="([^"]*)"', text) for path, text in pages.items()}
    for path, text in pages.items():
        assert len(ids[path]) == len(set(ids[path])), path
        assert not PLACEHOLDER.search(text), path
        assert not re.search(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="https?:', text), path
        for found in LINK.findall(text):
            parts = urlsplit(found)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path}: {found}"
            assert not parts.fragment or parts.fragment in ids[target], f"{path}: {found}"


def test_pages_are_light(site):
    sizes = {path: len(gzip.compress(path.read_bytes())) for path in site.glob("*/*.html")}
    assert {path: size for path, size in sizes.items() if size > HEAVIEST} == {}


def test_no_page_scrolls_sideways_on_a_phone(open_page, site):
    page = open_page("en/index", PHONE)
    for path in sorted(site.glob("*/*.html")):
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(node => (node.open = true))")
        page.locator(".menu").evaluate("node => (node.open = false)")
        assert page.evaluate("document.documentElement.scrollWidth") == 390, path


@pytest.mark.parametrize("page", KINDS)
def test_axe_finds_nothing(open_page, page):
    seen = open_page(page)
    seen.evaluate("document.querySelectorAll('details').forEach(node => (node.open = true))")
    for scheme, viewport in (("light", DESKTOP["viewport"]), ("dark", PHONE["viewport"])):
        seen.emulate_media(color_scheme=scheme)
        seen.set_viewport_size(viewport)
        found = Axe().run(seen, options={"preload": False}).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == [], scheme


# Without the script


def test_lesson_can_be_read_without_javascript(open_page):
    page = open_page("zh/02_norm_axes", java_script_enabled=False)
    expect(page.locator(".unscripted")).to_contain_text("没有启用 JavaScript")
    expect(page.locator(".unscripted")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("02 哪些数共用一个均值？")
    expect(page.locator("figure img").first).to_be_visible()
    assert page.locator("math").count() > 0
    answer = page.locator("article details").first
    answer.locator("summary").click()
    expect(answer).to_have_attribute("open", "")
    assert page.get_by_role("search").count() == 0
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("02 Which numbers share one mean?")
    expect(page.locator(".unscripted")).to_contain_text("JavaScript is off")


def test_page_says_when_its_script_is_missing(open_page, chromium, site):
    expect(open_page("zh/05_layer_norm").locator(".unscripted")).to_be_hidden()
    script = site / "site.js"
    moved = script.rename(site / "moved.js")
    try:
        page = chromium.new_page()
        page.goto(address(site, "zh/05_layer_norm"))
        expect(page.locator(".unscripted")).to_be_visible()
        page.close()
    finally:
        moved.rename(script)


def test_front_page_leads_to_english_without_javascript(open_page, site):
    page = open_page("index", java_script_enabled=False)
    page.wait_for_url((site / "en" / "index.html").as_uri())


@pytest.mark.parametrize(("locale", "language"), [("zh-TW", "zh"), ("fr-FR", "en")])
def test_front_page_leads_to_the_browsers_language(open_page, site, locale, language):
    open_page("index", locale=locale).wait_for_url((site / language / "index.html").as_uri())


def test_front_page_leads_to_the_language_read_last(open_page, site):
    page = open_page("zh/glossary", locale="en-GB")
    page.goto((site / "index.html").as_uri())
    page.wait_for_url((site / "zh" / "index.html").as_uri())


def test_print_shows_the_lesson_alone_in_light_colors(open_page):
    page = open_page("en/05_layer_norm", color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator("article")).to_be_visible()
    for part in (".bar", ".contents", ".ways", ".copy", ".source"):
        assert page.locator(part).first.is_hidden()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


# Navigation


def test_first_tab_stop_skips_to_the_text(open_page):
    page = open_page("en/05_layer_norm")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the text")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.url.endswith("#main_text")


def test_only_code_that_scrolls_sideways_is_a_tab_stop(open_page):
    page = open_page("en/02_norm_axes")
    agree = """all => all.map(pre => [pre.scrollWidth > pre.clientWidth + 1, pre.tabIndex])
        .every(([scrolls, stop]) => scrolls === (stop === 0))"""
    shown = "[...document.querySelectorAll('article pre.code')].filter(pre => pre.checkVisibility())"
    for viewport in (DESKTOP["viewport"], PHONE["viewport"]):
        page.set_viewport_size(viewport)
        page.wait_for_function(f"({agree})({shown})")
    assert page.evaluate(f"{shown}.some(pre => pre.tabIndex === 0)")


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_translation_opens_at_the_same_heading(open_page, device):
    page = open_page("en/02_norm_axes#the-layout-trap", device)
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(re.compile(r"/zh/02_norm_axes\.html#the-layout-trap"))
    top = page.locator("#the-layout-trap").evaluate("node => node.getBoundingClientRect().top")
    assert 0 <= top < 120


def test_contents_mark_the_current_section(open_page):
    page = open_page("en/02_norm_axes")
    here = page.locator(".contents [aria-current]")
    page.get_by_role("navigation", name="On this page").get_by_role("link", name="The layout trap").click()
    expect(here).to_have_text("The layout trap")
    assert kept(page)["last"] == {"lesson": "02_norm_axes", "place": "the-layout-trap"}


def test_contents_mark_follows_jumps_from_text_to_text(open_page):
    page = open_page("en/02_norm_axes")
    here = page.locator(".contents [aria-current]")
    tops = page.evaluate("""() => [...document.querySelectorAll('.contents a')].map(link =>
        [link.textContent, document.getElementById(link.hash.slice(1)).getBoundingClientRect().top])""")
    long = [(name, (top + end) / 2) for (name, top), (_, end) in pairwise(tops) if end - top > 900]
    assert len(long) > 2
    for name, middle in (*long, long[0]):  # no heading is near the top of the screen
        page.evaluate("y => scrollTo(0, y)", middle)
        expect(here).to_have_text(name)
    assert kept(page)["last"]["place"] == here.get_attribute("href")[1:]


def test_contents_mark_the_last_section_at_the_end(open_page):
    page = open_page("en/13_kv_cache")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    last = page.locator(".contents a").last.inner_text()
    expect(page.locator(".contents [aria-current]")).to_have_text(last)


def test_contents_mark_each_section_that_is_jumped_to(open_page):
    page = open_page("en/13_kv_cache#going-further-a-window-forgets")  # near the end, which cannot scroll to the top
    here = page.locator(".contents [aria-current]")
    expect(here).to_have_text("Going further: a window forgets")
    for link in page.locator(".contents a").all()[::-1]:
        link.click()
        expect(here).to_have_text(link.inner_text())


def test_contents_mark_follows_when_the_page_grows_above(open_page):
    page = open_page("en/02_norm_axes")
    page.add_style_tag(content="* { overflow-anchor: none }")  # as in browsers that do not keep the place
    here = page.locator(".contents [aria-current]")
    page.locator("#the-layout-trap").evaluate("node => scrollTo(0, scrollY + node.getBoundingClientRect().top + 10)")
    expect(here).to_have_text("The layout trap")
    page.locator("article .cell").first.evaluate("node => (node.style.height = `${node.offsetHeight + 350}px`)")
    expect(here).to_have_text("Your LayerNorm in a trained network")


def test_contents_are_folded_on_a_phone(open_page):
    page = open_page("en/02_norm_axes", PHONE)
    contents = page.locator(".contents details")
    assert contents.get_attribute("open") is None
    contents.locator("summary").tap()
    expect(contents.get_by_role("link", name="The layout trap")).to_be_visible()


def test_menu_leads_to_a_lesson(open_page):
    page = open_page("zh/glossary", PHONE)
    page.locator(".menu summary").tap()
    page.get_by_role("navigation", name="全站").get_by_role("link", name=re.compile("^11")).tap()
    expect(page.get_by_role("heading", level=1)).to_contain_text("为什么要旋转查询和键？")


# Search


@pytest.mark.parametrize(("language", "query"), [("en", "layout trap"), ("zh", "布局 陷阱")])
def test_search_finds_the_section(open_page, language, query):
    page = open_page(f"{language}/index", PHONE)
    page.get_by_role("searchbox").fill(query)
    first = page.locator(".results a").first
    expect(first).to_be_visible()
    first.tap()
    page.wait_for_url(re.compile(rf"/{language}/02_norm_axes\.html#the-layout-trap"))


@pytest.mark.parametrize(
    ("language", "query", "first"),
    [
        ("en", "layer norm", "05 LayerNorm: which test catches a wrong one?"),
        ("en", "Which numbers share one mean", "02 Which numbers share one mean?"),
        ("en", "11 why rotate", "11 Why rotate queries and keys?"),
        ("en", "clocks", "10 How do sines tell positions apart? · Clocks"),
        ("zh", "布局陷阱", "02 哪些数共用一个均值？ · 布局陷阱"),
        ("zh", "层归一化", "05 层归一化写错了，怎样的测试才抓得住？"),
    ],
)
def test_search_shows_whole_titles_first(open_page, language, query, first):
    page = open_page(f"{language}/glossary")
    page.get_by_role("searchbox").fill(query)
    expect(page.locator(".results strong").first).to_have_text(first)


def test_search_orders_whole_titles_their_beginnings_their_words_and_texts(open_page):
    page = open_page("en/glossary")
    page.get_by_role("searchbox").fill("exercise attention")
    titles = page.locator(".results strong")
    expect(titles.first).to_have_text("09 Who may look at whom? · Exercise: attention")
    expect(titles.nth(1)).to_have_text("13 What does one more token cost? · Exercise: attention with a cache")
    named = [" ".join(title.split(" · ")[1:]).lower() for title in titles.all_inner_texts()]
    one = ["exercise" in name or "attention" in name for name in named]
    assert one == sorted(one, reverse=True)
    assert not all(one)


def test_search_finds_symbols_of_formulas(open_page):
    page = open_page("zh/glossary")
    for symbol in ("γ", "√"):
        page.get_by_role("searchbox").fill(symbol)
        expect(page.locator(".results a mark").first).to_have_text(symbol)


def test_search_works_by_keyboard_alone(open_page):
    page = open_page("en/glossary")
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
    ("start", "query", "status", "lang"),
    [
        ("en", "推一推", r"On the Chinese pages: \d+ found", "zh-CN"),
        ("zh", "layout trap", r"英文页面里找到 \d+ 处", "en"),
    ],
)
def test_search_falls_back_to_the_other_language(open_page, start, query, status, lang):
    page = open_page(f"{start}/index")
    page.get_by_role("searchbox").fill(query)
    expect(page.get_by_role("search").get_by_role("status")).to_have_text(re.compile(f"^{status}$"))
    page.locator(".results a").first.click()
    expect(page.locator("html")).to_have_attribute("lang", lang)


def test_search_says_when_nothing_is_found(open_page):
    page = open_page("zh/index")
    page.get_by_role("searchbox").fill("<b>zzzz")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("没有找到“<b>zzzz”。")
    expect(page.locator(".results a")).to_have_count(0)


# The start page


@pytest.mark.parametrize("script", [True, False], ids=["script", "no_script"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_broken_model_answers_a_tap_at_once_and_without_a_guess(open_page, language, script):
    page = open_page(f"{language}/index", PHONE, java_script_enabled=script, reduced_motion="reduce")
    shown = page.locator(".reply").filter(visible=True)
    assert shown.locator(".said").all_inner_texts() == ["The capital of France is Paris."]
    page.locator(".tiles label", has_text=re.compile("without γ|不乘 γ")).tap()
    assert shown.locator(".said").inner_text().startswith(",,,,,,,,")
    assert "13.98" in shown.locator(".small").inner_text()
    page.locator(".tiles label", has_text=re.compile("left out|没有旋转")).tap()
    assert re.match(r"[（(]", shown.locator(".said").inner_text())  # it says nothing, which the page says


def test_every_mistake_in_a_function_has_an_answer_of_its_own(open_page):
    page = open_page("en/index")
    tiles = page.get_by_role("group", name=re.compile("Break it")).get_by_role("radio")
    ids = [answer.id for answers in wrong_rows().values() for answer in answers]
    assert sorted(ids) == sorted(wrong.id for wrong in WRONG if isinstance(wrong.block, str))
    tiles.first.focus()
    for mistake in ids:
        page.keyboard.press("ArrowRight")
        shown = page.locator(".reply").filter(visible=True)
        expect(shown).to_have_count(1)
        expect(shown).to_have_id(f"reply-{mistake}")
        assert f"{recorded()[mistake].loss:.2f}" in shown.inner_text()
    assert tiles.count() == 1 + len(ids)


def test_answer_of_the_broken_model_moves_nothing_on_the_page(open_page):
    page = open_page("en/index", PHONE)
    height = "document.documentElement.scrollHeight"
    before = page.evaluate(height)
    page.locator(".tiles label", has_text="heads in turn").tap()
    assert page.evaluate(height) == before


def test_reduced_motion_shows_an_answer_without_a_transition(open_page):
    page = open_page("en/index")
    duration = "getComputedStyle(document.querySelector('.reply')).transitionDuration"
    assert page.evaluate(duration) != "0s"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(duration) == "0s"


@pytest.mark.parametrize("language", LANGUAGES)
def test_figures_on_the_start_page_stand_under_their_questions_attention_first(open_page, language):
    page = open_page(f"{language}/index")
    with use_language(language):
        questions = [str(figure.GUESS.question) for figure, _ in TOYS.values()]
    assert page.locator(".play h3").all_inner_texts() == questions
    assert re.search("causal mask|因果掩码", questions[0])
    assert re.search("hands|指针", questions[1])
    assert page.locator(".play h3 + figure").count() == len(TOYS)
    answer = page.locator(".play details").first
    expect(answer.locator("p")).to_be_hidden()
    answer.locator("summary").click()
    expect(answer.locator("p")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "size", "all_sizes"),  # of lesson 02, and of each
    [
        ("en", "35 min · 5 figures · 5 exercises", r"\d+ min · \d+ figures? · \d+ exercises?( · side trip)?"),
        ("zh", "35 分钟 · 5 幅图 · 5 个练习", r"\d+ 分钟 · \d+ 幅图 · \d+ 个练习( · 选修)?"),
    ],
)
def test_list_of_lessons_shows_minutes_figures_exercises_and_a_picture(open_page, language, size, all_sizes):
    page = open_page(f"{language}/index")
    lessons = page.locator("#lessons li[data-lesson]:not([data-lesson=''])")
    sizes = lessons.locator(".size").all_inner_texts()
    assert len(sizes) == lessons.count() == 16
    assert sizes[2] == size
    assert all(re.fullmatch(all_sizes, each) for each in sizes)
    for picture in lessons.locator("img").all():
        picture.scroll_into_view_if_needed()
        picture.evaluate("node => node.decode()")  # fails where there is no picture
    sources = [picture.get_attribute("src") for picture in lessons.locator("img").all()]
    assert len(set(sources)) == 16


@pytest.mark.parametrize("language", LANGUAGES)
def test_start_page_does_not_scroll_sideways_on_a_narrow_phone(open_page, language):
    page = open_page(f"{language}/index", {**PHONE, "viewport": {"width": 320, "height": 640}})
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    cut = """[...document.querySelectorAll('.break *')]
        .filter(node => node.scrollWidth > node.clientWidth + 1 && !node.closest('.spoken') && node.clientWidth)
        .map(node => node.outerHTML)"""
    assert page.evaluate(cut) == []


def test_print_shows_what_is_asked_without_its_dark_ground(open_page):
    page = open_page("en/index", color_scheme="dark")
    page.emulate_media(media="print")
    looks = page.locator(".asked").evaluate("node => [getComputedStyle(node).color, getComputedStyle(node).background]")
    assert looks[0] == page.evaluate("getComputedStyle(document.body).color")
    assert looks[1].startswith("rgba(0, 0, 0, 0)")
    assert page.locator(".begin").is_hidden()


# What the browser keeps


def test_theme_is_kept_on_every_page(open_page, site):
    page = open_page("en/index", color_scheme="light")
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


def test_progress_is_kept_shown_and_forgotten_on_request(open_page, site):
    page = open_page("en/06_rms_norm")
    page.get_by_label("I have read this lesson").check()
    page.goto(address(site, "en/02_norm_axes#the-layout-trap"))
    expect(page.locator(".contents [aria-current]")).to_have_text("The layout trap")
    page.goto(address(site, "en/index"))
    expect(page.locator("#lessons li", has_text="What do you lose")).to_contain_text("read")
    expect(page.locator(".progress")).to_contain_text("1 of 16 lessons read, 0 predictions made, 0 of them right")
    page.get_by_role("link", name="Continue: 02 Which numbers share one mean?").click()
    page.wait_for_url(re.compile(r"02_norm_axes\.html#the-layout-trap"))
    page.goto(address(site, "en/06_rms_norm"))
    expect(page.get_by_label("I have read this lesson")).to_be_checked()
    page.goto(address(site, "zh/index"))
    page.get_by_role("button", name="清除").click()
    expect(page.locator(".progress")).to_be_hidden()
    assert kept(page)["read"] == {}


def test_page_works_where_the_browser_stores_nothing(open_page, site):
    page = open_page("en/index")
    page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied') }})")
    page.goto(address(site, "en/05_layer_norm"))
    page.get_by_label("I have read this lesson").check()
    expect(page.get_by_role("searchbox")).to_be_visible()
    expect(page.locator("main > .trouble")).to_contain_text("does not let the page store data")
    page.goto(address(site, "zh/index"))
    expect(page.locator(".all > .trouble")).to_contain_text("不让网页保存数据")
