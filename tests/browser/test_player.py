"""The panel player in Chromium, with the simulated kernel of player.html."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from blocklab_course.panel import Slider
from blocklab_course.panel.live_view import Live, script

pytestmark = pytest.mark.xdist_group("player")

ROOT = Path(__file__).parents[2]
HTML, SCRIPT, LOOK = Path(__file__).with_name("player.html").read_text("utf-8"), script(), Live._css
FILES = {"": ("text/html", HTML), "panel.js": ("text/javascript", SCRIPT), "panel.css": ("text/css", LOOK)}
ADDRESS = "http://panel.test/"
PICTURES = ROOT / "artifacts" / "browser"

GUESS = {
    "label": "your guess",
    "question": "Where do the others go?",
    "options": ["up", "down"],
    "right": 1,
    "told": ["Not so. The mean rises.", "Right. The mean rises."],
    "skipped": "The mean rises.",
}
# The block can be dragged upwards; clicking an image chooses an option.
MIDDLE = (
    "node => { const {x, y, width, height} = node.getBoundingClientRect(); return [x + width / 2, y + height / 2] }"
)
HANDLES = {"handles": [[0, 0, "drag", [0, 20], [2750, 2400, 2750, 1200]], [3, 2, "pick", [0, 1, 2]]]}

DESK = {"viewport": {"width": 900, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 700}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
KINDS = {"desk": DESK, "clocked": DESK, "phone": PHONE}
clocked, phone = (pytest.mark.parametrize("page", [kind], indirect=True) for kind in ("clocked", "phone"))
"""Run the test on a page with a controllable clock, or on a phone; the default is a desktop page."""


@pytest.fixture(scope="module")
def pages(chromium, request):
    """One page of each kind, and the errors in all of them. Opening a page takes longer than most tests."""
    errors = []

    def answer(route):
        kind, text = FILES.get(route.request.url.removeprefix(ADDRESS), ("", None))
        if text is None:
            route.abort()
        else:
            route.fulfill(body=text, content_type=f"{kind}; charset=utf-8")

    @cache
    def opened(kind):
        context = chromium.new_context(**KINDS[kind])
        request.addfinalizer(context.close)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: errors.append(error))
        page.route("http://**/*", answer)
        if kind == "clocked":
            page.clock.install(time=0)
        return page

    return opened, errors


@pytest.fixture
def loaded(pages):
    """A function that reloads the page of a kind. Page errors fail the test."""
    opened, errors = pages

    def load(kind, address=ADDRESS):
        page = opened(kind)
        page.mouse.move(0, 0)
        page.set_viewport_size(KINDS[kind]["viewport"])
        page.emulate_media(media="null", color_scheme="null", reduced_motion="null")
        page.goto(address)
        return page

    yield load
    found = errors[:]
    errors.clear()
    assert found == []


@pytest.fixture
def page(loaded, request):
    return loaded(getattr(request, "param", "desk"))


def show(page, options=None, **spec):
    """Add a panel with its own model; returns the number of the model."""
    return page.evaluate("([spec, options]) => panel(spec, options)", [spec, options or {}])


def kept(page, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"player_{name}.png", full_page=True)


def slider(page, name="push the block"):
    return page.get_by_role("slider", name=name, exact=True).and_(page.locator("input"))


def line(page):
    return page.get_by_role("status")


def asked(page, ahead=None):
    """The stops of the first slider that the kernel was asked for."""
    questions = page.evaluate("models[0].kernel.asked")
    return [question["at"][0] for question in questions if ahead in (None, question["ahead"])]


def kernel(page, **settings):
    page.evaluate("settings => Object.assign(models[0].kernel, settings)", settings)


def answer(page, at, **options):
    """Send an answer of the kernel."""
    page.evaluate("([at, options]) => models[0].answer(models[0].kernel.packet(at, options))", [at, options])


# What can be computed without a page


@pytest.mark.parametrize(
    "control",
    [
        Slider(-1.0, 1.0, 0.1, value=0.0),
        Slider(0, 40, 5, value=0),
        Slider(1e-8, 1.0, 10, value=1e-5, log=True),
        Slider(1, 1024, 2, value=1, log=True),
    ],
    ids=["floats", "whole", "log", "whole-log"],
)
def test_stops_match_python(page, control):
    about = {name: getattr(control, name) for name in ("start", "step", "last", "log", "whole")}
    stops = [control.at(stop) for stop in range(control.last + 1)]
    read = "c => Array.from({length: c.last + 1}, (_, stop) => player.valueAt(c, stop))"
    assert page.evaluate(read, about) == stops
    numbers = [-1e9, *stops, *((low + 0.4 * (high - low)) for low, high in pairwise(stops)), 1e9]
    found = page.evaluate("([c, all]) => all.map(n => player.valueAt(c, player.nearestStop(c, n)))", [about, numbers])
    assert found == [control.nearest(number) for number in numbers]


def test_keys_map_to_stops(page):
    keys = ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "PageUp", "PageDown", "Home", "End", "a", " "]
    assert page.evaluate("keys => keys.map(key => player.keyStop(key, 5, 40))", keys) == [
        *(6, 6, 4, 4, 9, 1, 0, 40),
        *(None, None),
    ]
    assert page.evaluate("['ArrowLeft', 'PageUp'].map(key => player.keyStop(key, 0, 3))") == [0, 1]


def test_prefetch_order_is_near_first_and_in_the_direction_of_the_move(page):
    around = "([stop, last, way]) => [...player.stopsAround(stop, last, way)]"
    assert page.evaluate(around, [3, 6, 0]) == [4, 2, 5, 1, 6, 0]
    assert page.evaluate(around, [5, 20, 1])[:8] == [6, 7, 8, 4, 9, 10, 11, 3]
    assert page.evaluate(around, [5, 20, -1])[:8] == [4, 3, 2, 6, 1, 0, 7, 8]
    for way in (-1, 0, 1):
        assert sorted(page.evaluate(around, [7, 30, way])) == [*range(7), *range(8, 31)]


def test_requests_fill_the_round_trip_within_the_kernel_time(page):
    may = """([wanted, others, cost, trip, took, ahead]) => player.mayAsk(Array.from({length: wanted + others},
        (_, i) => ({ahead: i >= wanted, cost})), trip, took, ahead)"""
    for wanted, others, cost, trip, took, ahead, expected in [
        (0, 3, 10, 30, 10, True, True),  # ceil(30 / 10) + 1 are under way at most
        (1, 3, 10, 30, 10, True, False),
        (0, 0, 0, 0, 300, True, False),  # a state that takes longer than what may be unanswered is not asked ahead
        (0, 9, 20, 1000, 20, True, True),
        (0, 10, 20, 1000, 20, True, False),
        (0, 10, 20, 0, 20, False, True),  # what the reader waits for goes at once
        (1, 3, 10, 30, 10, False, False),
    ]:
        assert page.evaluate(may, [wanted, others, cost, trip, took, ahead]) is expected


def test_nearest_state_follows_the_weights(page):
    find = """weights => player.nearest([[0, 0], [4, 1], [9, 0]].map(at => ({at})), [5, 0],
        [{kind: "slider", last: 10}, {kind: "toggle"}], weights).at"""
    assert page.evaluate(find, [1, 1000]) == [9, 0]
    assert page.evaluate(find, [1000, 1]) == [4, 1]
    assert page.evaluate("player.nearest([], [1], [{kind: 'toggle'}], [1])") is None


def test_drag_along_a_path_that_crosses_itself_stays_on_its_part(page):
    near = "([places, points, x, y, from]) => player.placeNear(places, points, x, y, from)"
    there_and_back = [[0, 10, 20], [0, 0, 1000, 0, 0, 0]]
    assert page.evaluate(near, [*there_and_back, 300, 50, 2]) == 3
    assert page.evaluate(near, [*there_and_back, 300, 50, 15]) == 17
    assert page.evaluate(near, [*there_and_back, -900, 50, 19]) == 20
    assert page.evaluate("player.pointAt([0, 10, 20], [0, 0, 1000, 0, 0, 400], 15)") == [500, 200]
    assert page.evaluate("player.pointAt([0, 10, 20], [0, 0, 1000, 0, 0, 400], 0)") == [0, 0]


def test_touch_selects_the_nearest_and_smallest_box(page):
    boxes = "[[0, 0, 100, 100], [40, 40, 10, 10], [200, 0, 50, 50]].map(box => new DOMRect(...box))"
    meant = f"([x, y, least]) => player.boxMeant({boxes}, least, {{x, y}})"
    for x, y, least, expected in [
        (10, 10, 24, 0),
        (45, 45, 24, 1),
        (160, 20, 24, -1),  # near none
        (160, 20, 140, 2),
        (110, 20, 140, 0),
        (-5, 20, 24, -1),  # what is large enough needs no margin
    ]:
        assert page.evaluate(meant, [x, y, least]) == expected
    assert page.evaluate("player.boxMeant([], 24, {x: 0, y: 0})") == -1


# Moving


def test_move_updates_picture_line_value_and_kernel(page):
    show(page, ahead=False)
    expect(page.get_by_role("img", name="push 0, at 10,0,0,1")).to_be_visible()
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 1, at 11,0,0,1")
    expect(page.get_by_role("img", name="push 1, at 11,0,0,1")).to_be_visible()
    expect(page.get_by_role("spinbutton", name="push the block")).to_have_value("0.1")
    expect(slider(page)).to_have_attribute("aria-valuetext", "0.1")
    assert page.evaluate("models[0].saved") == [[11, 0, 0, 1]]
    kernel(page, dead=True)
    slider(page).press("ArrowLeft")
    assert line(page).inner_text() == "push 0, at 10,0,0,1"  # a known state needs no kernel
    assert asked(page) == [11]


def test_move_replaces_only_changed_strokes(page):
    show(page)
    page.evaluate("document.querySelectorAll('svg *').forEach(node => node.old = true)")
    count = "[...document.querySelectorAll('svg [role=img] *')].filter(node => !node.old).map(node => node.tagName)"
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 1, at 11,0,0,1")
    assert page.evaluate(count) == ["path", "path"]  # the block and its number
    page.get_by_role("button", name="both").click()  # another resting picture: the hatched bar goes
    expect(line(page)).to_have_text("push 1, at 11,0,2,1")
    assert page.evaluate(count) == ["path", "path"]
    page.get_by_role("button", name="rows").click()
    expect(line(page)).to_have_text("push 1, at 11,0,0,1")
    assert page.evaluate(count) == ["g", "path", "path", "path", "path", "path"]


def test_keys_do_not_reach_the_notebook(page):
    show(page)
    page.evaluate("window.heard = []; document.addEventListener('keydown', event => heard.push(event.key))")
    for key in ("ArrowRight", "d", " ", "Control+s", "Shift+Enter"):
        slider(page).press(key)
    assert page.evaluate("heard.filter(key => key.length > 1 || key === 's')") == ["Control", "s", "Shift", "Enter"]
    assert page.evaluate("heard.includes('d')") is False
    # Lumino (JupyterLab, Notebook 7) looks for an attribute of the target in the capture phase.
    page.evaluate("""window.suppressed = []; document.addEventListener("keydown", event =>
        suppressed.push(event.target.hasAttribute("data-lm-suppress-shortcuts")), true)""")
    slider(page).press("ArrowRight")
    slider(page).press("Control+s")
    assert page.evaluate("suppressed") == [True, False, False]


def test_number_box_goes_to_the_nearest_stop(page):
    show(page)
    box = page.get_by_role("spinbutton", name="push the block")
    for typed, stop, value in [("0.33", 13, "0.3"), ("99", 20, "1"), ("-99", 0, "-1")]:
        box.fill(typed)
        box.press("Enter")
        expect(line(page)).to_have_text(f"push {stop - 10}, at {stop},0,0,1")
        expect(box).to_have_value(value)
    box.fill("0.5")
    slider(page).focus()  # leaving the box is enough
    expect(line(page)).to_have_text("push 5, at 15,0,0,1")
    box.fill("")
    box.press("Enter")
    expect(box).to_have_value("0.5")
    box.press("ArrowUp")
    expect(box).to_have_value("0.6")
    box.fill("0.61")  # the same stop: the box shows it again
    box.press("Enter")
    expect(box).to_have_value("0.6")


def test_logarithmic_slider_shows_four_digits(page):
    fine = {"kind": "slider", "name": "gain", "label": "gain", "start": 0.1, "step": 10**0.25, "last": 8, "at": 4}
    show(page, controls=[{**fine, "log": True, "whole": False}])
    box = page.get_by_role("spinbutton", name="gain")
    expect(box).to_have_value("1")
    slider(page, "gain").press("ArrowRight")
    expect(box).to_have_value("1.778")
    box.fill("3.2")
    box.press("Enter")
    expect(box).to_have_value("3.162")
    slider(page, "gain").press("End")
    expect(box).to_have_value("10")


def test_choice_toggle_and_reset(page):
    show(page)
    page.get_by_role("button", name="columns").click()
    expect(page.get_by_role("button", name="columns")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="both")).to_be_focused()
    page.get_by_role("checkbox", name="show dots").press(" ")
    expect(line(page)).to_have_text("push 0, at 10,0,2,0")
    page.get_by_role("button", name="Reset").click()
    expect(line(page)).to_have_text("push 0, at 10,0,0,1")
    expect(page.get_by_role("checkbox", name="show dots")).to_be_checked()


def test_long_choice_is_a_dropdown(page):
    options = ["along the rows of the matrix", "along its columns", "along both of them, one after the other"]
    wide = {"kind": "choice", "name": "way", "label": "way", "options": options, "at": -1}
    show(page, controls=[*page.evaluate("spec.controls.slice(0, 2)"), wide, page.evaluate("spec.controls[3]")])
    box = page.get_by_role("combobox", name="way")
    expect(box).to_have_value("-1")
    box.select_option("along its columns")
    expect(line(page)).to_have_text("push 0, at 10,0,1,1")


def test_keys_and_mouse_move_the_slider(page):
    show(page)
    for key, stop in [("End", 20), ("PageDown", 18), ("ArrowLeft", 17), ("Home", 0), ("PageUp", 2), ("ArrowUp", 3)]:
        slider(page).press(key)
        expect(line(page)).to_have_text(f"push {stop - 10}, at {stop},0,0,1")
    place = slider(page).bounding_box()
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] - 1, place["y"] + place["height"] / 2, steps=5)
    page.mouse.up()
    expect(line(page)).to_have_text("push 10, at 20,0,0,1")


# States, known and unknown


def test_waiting_panel_shows_the_nearest_state_and_ignores_older_answers(page):
    show(page)
    kernel(page, dead=True)
    slider(page).press("End")
    assert line(page).inner_text() == "push 0, at 10,0,0,1"
    expect(page.locator(".blocklab-panel")).to_have_class(re.compile("blocklab-waiting"))
    answer(page, [16, 0, 0, 1])
    assert line(page).inner_text() == "push 6, at 16,0,0,1"
    answer(page, [13, 0, 0, 1])
    assert line(page).inner_text() == "push 6, at 16,0,0,1"
    answer(page, [20, 0, 0, 1])
    answer(page, [19, 0, 0, 1])
    assert line(page).inner_text() == "push 10, at 20,0,0,1"
    slider(page).press("ArrowLeft")
    assert line(page).inner_text() == "push 9, at 19,0,0,1"  # it was kept


def test_placeholder_state_differs_only_in_the_moved_control(page):
    show(page)
    slider(page).press("Home")
    expect(line(page)).to_have_text("push -10, at 0,0,0,1")
    page.wait_for_function("models[0].kernel.asked.length === 20")
    page.get_by_role("checkbox").click()
    expect(line(page)).to_have_text("push -10, at 0,0,0,0")
    kernel(page, dead=True)
    answer(page, [20, 1, 0, 0])  # nearer, but with another scale
    slider(page).press("End")
    assert line(page).inner_text() == "push -10, at 0,0,0,0"


@clocked
def test_prefetch_starts_with_the_first_touch(page):
    show(page)
    page.clock.run_for(300)
    assert asked(page) == []
    slider(page).press("ArrowRight")
    page.wait_for_function("models[0].kernel.asked.length === 20")
    assert asked(page, ahead=False) == [11]
    assert asked(page, ahead=True)[:8] == [12, 13, 14, 15, 16, 17, 9, 18]
    assert sorted(asked(page)) == [stop for stop in range(21) if stop != 10]
    show(page)
    slider(page).nth(1).dispatch_event("pointerdown")
    page.wait_for_function("models[1].kernel.asked.length === 20")
    stops = page.evaluate("models[1].kernel.asked.filter(({ahead}) => ahead).map(({at}) => at[0])")
    assert stops[:4] == [11, 9, 12, 8]


@clocked
@pytest.mark.parametrize("why", ["spec", "hidden", "other"])
def test_no_prefetch(page, why):
    show(page, {"took": 60 if why == "other" else 5}, ahead=why != "spec")
    if why == "hidden":
        page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    slider(page).press("ArrowRight")
    if why == "other":  # panel is in hand now
        show(page)
        slider(page).nth(1).press("ArrowRight")
        page.wait_for_function("models[1].kernel.asked.length === 20")
        page.clock.run_for(1500)
        assert len(asked(page)) < 20
        return
    expect(line(page)).to_have_text("push 1, at 11,0,0,1")
    page.clock.run_for(200)
    assert asked(page) == [11]
    if why == "hidden":
        page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_function("models[0].kernel.asked.length === 20")


@clocked
@pytest.mark.parametrize(("delay", "took"), [(0, 5), (150, 5), (150, 30), (20, 250)])
def test_pending_requests_stay_within_the_kernel_time(page, delay, took):
    show(page, {"delay": delay, "took": took})
    page.evaluate("""() => {
      const {kernel} = models[0]
      window.most = 0
      let open = 0
      const {send, answer} = models[0]
      models[0].send = message => { most = Math.max(most, ++open); send.call(models[0], message) }
      models[0].answer = packet => { open--; answer.call(models[0], packet) }
    }""")
    slider(page).press("ArrowRight")
    page.clock.run_for(1500)
    most = page.evaluate("most")
    assert most * took <= max(200, took)
    if (delay, took) == (150, 5):
        assert most > 10
    if took > 200:
        assert asked(page, ahead=True) == []


@clocked
def test_one_touch_prefetches_two_seconds_of_kernel_time(page):
    long = {**page.evaluate("spec.controls[0]"), "last": 1000, "step": 0.002, "at": 500}
    show(page, {"took": 20}, controls=[long, *page.evaluate("spec.controls.slice(1)")])
    slider(page).press("ArrowRight")
    page.clock.run_for(9000)
    assert 95 <= len(asked(page, ahead=True)) <= 100
    slider(page).press("ArrowRight")  # another touch
    page.clock.run_for(9000)
    assert 190 <= len(asked(page, ahead=True)) <= 200


def test_wanted_state_is_requested_before_prefetching(page):
    show(page, {"delay": 100, "took": 20})
    slider(page).press("ArrowRight")
    page.wait_for_function("models[0].kernel.asked.length > 3")
    page.get_by_role("button", name="columns").click()
    assert page.evaluate("models[0].kernel.asked.at(-1)")["at"] == [11, 0, 1, 1]
    expect(line(page)).to_have_text("push 1, at 11,0,1,1")


def test_failed_state_shows_an_error_until_the_next_good_move(page):
    show(page)
    kernel(page, bad=["11,0,0,1", "13,0,0,1"])
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("cannot draw 11,0,0,1")
    expect(page.locator(".blocklab-panel")).to_have_class(re.compile("blocklab-failed"))
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 2, at 12,0,0,1")
    page.wait_for_function("models[0].kernel.asked.some(question => question.at[0] === 0)")
    assert asked(page).count(13) == 1  # asked ahead, and silent
    assert line(page).inner_text() == "push 2, at 12,0,0,1"
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("cannot draw 13,0,0,1")
    assert asked(page, ahead=False)[-1] == 13  # asked again, now that it is wanted


@clocked
def test_unknown_records_are_requested_once(page):
    show(page, ahead=False)
    page.evaluate("models[0].kernel.sent = new Set(Array.from({length: 500}, (_, i) => i))")
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 1, at 11,0,0,1")
    assert [question["whole"] for question in page.evaluate("models[0].kernel.asked")] == [False, True]
    page.evaluate("""() => {
      const {kernel} = models[0], packet = kernel.packet
      kernel.packet = at => ({...packet.call(kernel, at), new: {}})
    }""")
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("The picture could not be shown.")
    page.clock.run_for(200)
    assert len(asked(page)) == 4


def test_cache_evicts_the_oldest_states_of_all_panels(page):
    sizes = page.evaluate("""() => {
      const stores = [new player.Store(), new player.Store()]
      const packet = (i, length) => ({at: [i], line: "x".repeat(length), rest: 1, moving: [[2 * i + 2]],
        new: {1: ["rest", [0]], 2: ["style", ""], [2 * i + 2]: ["path", 2 * i + 3, 0, "d".repeat(1000)],
              [2 * i + 3]: ["style", "fill:none"]}})
      stores[0].take(packet(0, 10))
      stores[0].look(stores[0].states.get("0"))
      for (let i = 1; i <= 40; i++) stores[i % 2].take(packet(i, 1_000_000))
      const {size} = globalThis[Symbol.for("blocklab")]
      const kept = stores.map(store => [...store.states.keys()].map(Number))
      const bytes = stores.flatMap(store => [...store.states.values()]).reduce((sum, state) => sum + state.size, 0)
      const records = stores.map(store => [...store.records.keys()].length)
      const recordBytes = stores.flatMap(store => [...store.records.values()])
        .reduce((sum, record) => sum + JSON.stringify(record).length, 0)
      const known = stores[1].take({at: [99], line: "", rest: 1, moving: [[2 * 39 + 2]]})
      const unknown = stores[1].take({at: [99], line: "", rest: 1, moving: [[2 * 1 + 2]]})
      return {kept, size, bytes, records, recordBytes, known, unknown}
    }""")
    assert 0 in sizes["kept"][0]  # it is being shown
    assert 40 in sizes["kept"][0]
    assert 1 not in sizes["kept"][1]
    assert len(sizes["kept"][0]) + len(sizes["kept"][1]) <= 32
    assert sizes["size"] <= 32_000_000
    assert sizes["size"] == sizes["bytes"] + sizes["recordBytes"]
    assert sizes["known"] is True
    assert sizes["unknown"] is False


@clocked
def test_silent_kernel_is_reported_and_known_states_still_show(page):
    show(page)
    note = page.get_by_text("The kernel does not answer.")
    slider(page).press("ArrowRight")
    page.clock.run_for(1000)
    kernel(page, dead=True)
    page.get_by_role("button", name="columns").click()
    page.clock.run_for(9000)
    expect(note).to_have_count(0)
    page.clock.run_for(2000)
    expect(note).to_be_visible()
    count = len(asked(page))
    page.get_by_role("button", name="rows").click()
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 2, at 12,0,0,1")
    page.clock.run_for(5000)
    assert len(asked(page)) == count  # nothing ahead while an answer is overdue
    kernel(page, dead=False)
    page.get_by_role("button", name="columns").click()  # asked again: the first question may be lost
    page.clock.run_for(1000)
    expect(line(page)).to_have_text("push 2, at 12,0,1,1")
    expect(note).to_have_count(0)


@pytest.mark.parametrize("key", [10, 12], ids=["the state that is shown", "another state"])
def test_panel_unknown_to_the_kernel_asks_to_run_the_cell(page, key):
    show(page)
    page.evaluate("view(0)")
    run = page.get_by_text("Run the cell.")
    expect(run.nth(0)).to_be_hidden()
    page.evaluate("models[0].tell('comm_live_update')")
    for number in range(2):
        expect(run.nth(number)).to_be_visible()
    answer(page, [key, 0, 0, 1], ahead=True)
    for number in range(2):
        expect(run.nth(number)).to_be_hidden()


# The guess


def test_panel_is_locked_before_the_prediction(page):
    show(page, HANDLES, guess=GUESS)
    expect(page.get_by_text("Choose first, then the controls are yours.")).to_be_visible()
    expect(page.locator(".blocklab-bar")).to_be_hidden()
    page.locator("image").nth(1).click()
    page.locator(".blocklab-pick").press("ArrowRight")
    page.locator(".blocklab-drag").press("ArrowRight")
    place = page.locator(".blocklab-drag").bounding_box()
    page.mouse.move(place["x"] + 20, place["y"] + 5)
    page.mouse.down()
    page.mouse.move(place["x"] + 20, place["y"] - 40, steps=3)
    page.mouse.up()
    assert page.evaluate("[models[0].saved, models[0].kernel.asked]") == [[], []]
    assert page.locator(".blocklab-drag").evaluate("node => getComputedStyle(node).touchAction") == "auto"
    page.get_by_role("button", name="down").click()
    expect(page.get_by_text("Right. The mean rises.")).to_be_visible()
    expect(page.get_by_text("Choose first")).to_be_hidden()
    expect(slider(page)).to_be_focused()
    assert page.evaluate("models[0].traits.guessed") == 1
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 1, at 11,0,0,1")


@pytest.mark.parametrize(
    ("button", "sent", "words"), [("up", 0, "Not so. The mean rises."), ("Skip", -1, "The mean rises.")]
)
def test_wrong_and_skipped_predictions_show_the_explanation(page, button, sent, words):
    show(page, guess=GUESS)
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_text(words, exact=True)).to_be_visible()
    assert page.evaluate("models[0].traits.guessed") == sent


def test_right_and_wrong_are_told_by_colour_icon_and_word(page):
    show(page, guess=GUESS)
    page.get_by_role("button", name="up", exact=True).click()
    look = "node => [getComputedStyle(node).backgroundColor, getComputedStyle(node, '::after').content]"
    assert page.locator(".blocklab-guess button").nth(0).evaluate(look) == ["rgb(194, 37, 92)", '" ✗"']
    assert page.locator(".blocklab-guess button").nth(1).evaluate(look) == ["rgb(38, 115, 77)", '" ✓"']
    told = page.locator(".blocklab-told strong")
    expect(told).to_have_text("Not so. ")
    assert told.evaluate("node => getComputedStyle(node).color") == "rgb(194, 37, 92)"


def test_focus_goes_to_the_control_that_the_explanation_names(page):
    told = ["No. Set along to rows.", "Yes. Set along to rows."]
    show(page, guess=GUESS | {"told": told, "skipped": "Set along to rows."})
    page.get_by_role("button", name="down", exact=True).click()
    assert page.evaluate("document.activeElement.closest('.blocklab-control').firstChild.textContent") == "along"


ALONE = {"size": None, "controls": []}
FIRST = {"first": {"kind": "state", "at": [], "line": "", "rest": 0, "moving": []}}
NUMBER = {
    "label": "your guess",
    "question": "How many?",
    "right": -1.5,
    "within": 0.1,
    "told": ["{said} is wrong. A half and one.", "{said} is right. A half and one."],
    "skipped": "A half and one.",
}
COMMIT = {"words": {"skip": "Skip", "commit": "Guess"}}


def test_question_without_a_picture_is_answered_once(page):
    show(page, FIRST, guess=GUESS, **ALONE)
    expect(page.locator("svg, fieldset")).to_have_count(0)
    expect(page.get_by_text("The mean rises.")).to_have_count(0)
    page.get_by_role("button", name="up").click()
    expect(page.get_by_text("Not so. The mean rises.")).to_be_focused()
    expect(page.get_by_role("button", name="down")).to_be_disabled()
    assert page.evaluate("[models[0].traits.guessed, models[0].kernel.asked]") == [0, []]
    assert not Axe().run(page, "main").response["violations"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("-1.41", "-1.41 is right. A half and one."),
        ("-1", "-1 is wrong. A half and one."),
        ("1e9", "1e9 is wrong. A half and one."),
    ],
)
@pytest.mark.parametrize("key", [False, True], ids=["button", "Enter"])
def test_number_is_committed_and_judged(page, typed, told, key):
    show(page, FIRST, guess=NUMBER, **ALONE, **COMMIT)
    box = page.get_by_role("spinbutton", name="How many?")
    page.get_by_role("button", name="Guess").click()  # nothing is typed yet
    expect(box).to_be_focused()
    assert page.evaluate("models[0].traits.guessed") is None
    box.press_sequentially(typed)
    box.press("Enter") if key else page.get_by_role("button", name="Guess").click()
    expect(page.get_by_text(told)).to_be_visible()
    expect(box).to_be_disabled()
    assert page.evaluate("models[0].traits.guessed") == typed


def test_stored_number_of_an_earlier_visit_is_shown(page):
    show(page, FIRST | {"guessed": "-3"}, guess=NUMBER, **ALONE, **COMMIT)
    expect(page.get_by_role("spinbutton")).to_have_value("-3")
    expect(page.get_by_text("-3 is wrong.")).to_be_visible()
    expect(page.get_by_role("button", name="Skip")).to_be_hidden()


def test_narrow_panel_folds_all_but_two_controls(page):
    page.set_viewport_size({"width": 390, "height": 800})
    show(page)
    assert page.locator(".blocklab-bar > .blocklab-control").count() == 2
    expect(page.get_by_role("checkbox")).to_be_hidden()
    page.get_by_text("More").click()
    expect(page.get_by_role("checkbox")).to_be_visible()
    page.set_viewport_size({"width": 900, "height": 800})
    expect(page.locator(".blocklab-bar > .blocklab-control")).to_have_count(4)
    expect(page.locator(".blocklab-more")).to_have_count(0)


def test_views_share_the_prediction_that_reader_or_code_makes(page):
    right = page.get_by_text("Right. The mean rises.")
    show(page, {"guessed": 0}, guess=GUESS)  # earlier
    expect(page.get_by_text("Not so. The mean rises.")).to_be_visible()
    expect(slider(page)).to_be_enabled()
    page.evaluate("view(0)")
    page.evaluate("models[0].set('guessed', null)")
    expect(slider(page)).to_have_count(0)
    page.get_by_role("button", name="down").nth(1).click()
    expect(right).to_have_count(2)
    page.evaluate("cleanups[0][1](); cleanups[0][2](); view(0)")
    expect(right).to_have_count(1)
    expect(slider(page)).to_be_enabled()
    page.evaluate("models[0].set('guessed', null)")
    expect(right).to_have_count(0)
    page.evaluate("models[0].set('guessed', 1)")
    expect(right).to_have_count(1)
    expect(slider(page)).to_be_enabled()


# Play


@clocked
def test_play_runs_back_and_forth_until_a_touch(page):
    times = [0, 1500, 3000, 4500, 6000, 7500]  # three seconds up and three down
    assert page.evaluate("times => times.map(t => player.playedTo(0, t, 20))", times) == [0, 10, 20, 10, 0, 10]
    assert page.evaluate("player.playedTo(20, 300, 20)") == 18
    show(page)
    slider(page).press("Home")
    page.clock.run_for(500)
    page.get_by_role("button", name="Play: push the block").click()
    shown = []
    for _ in range(7):
        page.clock.run_for(1000)
        shown.append(int(slider(page).input_value()))
    assert shown == [pytest.approx(stop, abs=1) for stop in (7, 13, 20, 13, 7, 0, 7)]
    page.get_by_role("button", name="Pause: push the block").click()
    stood = slider(page).input_value()
    page.clock.run_for(1000)
    assert slider(page).input_value() == stood
    slider(page).press(" ")
    page.clock.run_for(1000)
    assert slider(page).input_value() != stood
    page.get_by_role("button", name="columns").click()
    expect(page.get_by_role("button", name="Pause: push the block")).to_have_count(0)
    stood = slider(page).input_value()
    page.clock.run_for(1000)
    assert slider(page).input_value() == stood


@clocked
def test_play_respects_reduced_motion(page):
    page.emulate_media(reduced_motion="reduce")
    show(page)
    slider(page).press("Home")
    page.clock.run_for(500)
    saved = "models[0].saved.length"
    before = page.evaluate(saved)
    slider(page).press(" ")
    page.clock.run_for(5900)
    assert page.evaluate(saved) - before <= 12
    page.clock.run_for(1000)
    expect(page.get_by_role("button", name="Play: push the block")).to_be_visible()
    page.clock.run_for(5000)
    assert page.evaluate(saved) - before <= 13


# Touching the picture


def cursor_over(page, part):
    page.mouse.move(*part.evaluate(MIDDLE))
    return part.evaluate("node => getComputedStyle(node).cursor")


def test_mouse_and_keyboard_choose_parts(page):
    show(page, HANDLES)
    parts = page.locator("image")
    assert cursor_over(page, parts.nth(1)) == "pointer"
    parts.nth(1).click()
    expect(line(page)).to_have_text("push 0, at 10,0,1,1")
    expect(page.get_by_role("button", name="columns")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Reset").click()
    expect(line(page)).to_have_text("push 0, at 10,0,0,1")
    place = page.get_by_role("slider", name="along")
    assert place.evaluate(MIDDLE) == pytest.approx(page.locator("image").nth(0).evaluate(MIDDLE), abs=1)
    place.press("ArrowRight")
    expect(line(page)).to_have_text("push 0, at 10,0,1,1")
    expect(place).to_have_attribute("aria-valuetext", "columns")
    assert place.evaluate(MIDDLE) == pytest.approx(page.locator("image").nth(1).evaluate(MIDDLE), abs=1)
    place.press("End")
    expect(line(page)).to_have_text("push 0, at 10,0,2,1")


def test_handles_may_change_with_the_state(page):
    show(page, HANDLES)
    kernel(page, handles=[[3, 2, "pick", [2, None, 0]]])
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 1, at 11,0,0,1")
    expect(page.locator(".blocklab-drag")).to_have_count(0)
    page.locator("image").nth(1).click()
    page.locator("image").nth(0).click()
    expect(line(page)).to_have_text("push 1, at 11,0,2,1")
    assert page.evaluate("models[0].saved") == [[11, 0, 0, 1], [11, 0, 2, 1]]


def test_clicking_between_the_letters_of_a_word_chooses_it(page):
    show(page, {"handles": [[1, 2, "pick", [2]]]})
    word = page.locator("path[data-says='0']").first
    middle = word.evaluate(MIDDLE)
    assert not word.evaluate("(node, middle) => node.contains(document.elementFromPoint(...middle))", middle)
    page.mouse.click(*middle)
    expect(line(page)).to_have_text("push 0, at 10,0,2,1")


def block(page):
    return page.locator(".blocklab-drag")


def test_mouse_and_keys_move_the_block(page):
    show(page, HANDLES)
    assert block(page).evaluate("node => getComputedStyle(node).cursor") == "grab"
    place = block(page).bounding_box()
    x, y = place["x"] + 20, place["y"] + 5  # beside its path: it must not jump
    page.mouse.move(x, y)
    page.mouse.down()
    expect(line(page)).to_have_text("push 0, at 10,0,0,1")
    page.mouse.move(x, y - 24, steps=4)
    expect(line(page)).to_have_text("push 4, at 14,0,0,1")
    expect(slider(page)).to_have_value("14")
    page.mouse.move(x, y + 900, steps=2)  # out of the picture
    expect(line(page)).to_have_text("push -10, at 0,0,0,1")
    page.mouse.up()
    page.mouse.move(x, y)
    expect(line(page)).to_have_text("push -10, at 0,0,0,1")
    block(page).press("ArrowUp")
    expect(line(page)).to_have_text("push -9, at 1,0,0,1")
    expect(block(page)).to_have_attribute("aria-valuetext", "-0.9")
    block(page).press("End")
    expect(block(page)).to_have_attribute("aria-valuenow", "20")


def swipe(page, *points):
    """Touch the first point, move through the others, rest, and lift the finger."""
    talk = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate([*points, points[-1]]):
        kind = "touchMove" if number else "touchStart"
        if number == len(points):
            page.wait_for_timeout(150)  # otherwise the page keeps scrolling and the next tap only stops it
        talk.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    talk.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    talk.detach()


@phone
def test_whole_panel_by_touch(page):
    show(page, HANDLES, guess=GUESS)
    for part in (block(page), page.locator("image").nth(1)):
        part.tap(force=True)
    assert page.evaluate("[models[0].saved, models[0].kernel.asked]") == [[], []]  # locked
    page.get_by_role("button", name="down").tap()
    expect(page.get_by_text("Right. The mean rises.")).to_be_visible()
    x, y = slider(page).evaluate(MIDDLE)
    swipe(page, (x, y), (x + 20, y), (x + 300, y))
    expect(line(page)).to_have_text("push 10, at 20,0,0,1")
    x, y = block(page).evaluate(MIDDLE)
    swipe(page, (x, y), (x, y + 20), (x, y + 100))
    expect(line(page)).to_have_text("push -10, at 0,0,0,1")
    page.locator("image").nth(1).tap()
    expect(line(page)).to_have_text("push -10, at 0,0,1,1")
    page.get_by_role("button", name="Play: push the block").tap()
    expect(line(page)).not_to_have_text("push -10, at 0,0,1,1")
    page.get_by_role("button", name="Pause: push the block").tap()
    page.get_by_role("button", name="Reset").tap()
    expect(line(page)).to_have_text("push 0, at 10,0,0,1")


@phone
def test_touch_drags_the_block_and_taps_an_image(page):
    show(page, HANDLES)
    place = block(page).bounding_box()
    assert min(place["width"], place["height"]) >= 44
    assert block(page).evaluate("node => getComputedStyle(node).touchAction") == "pan-x"
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    swipe(page, (x, y), (x, y - 10), (x, y - 25))
    expect(line(page)).not_to_have_text("push 0, at 10,0,0,1")
    assert int(slider(page).input_value()) in (14, 15, 16)
    page.locator("image").nth(1).tap()
    expect(line(page)).to_contain_text("0,1,1")


def arrangement(page):
    """The size of the picture, as drawn, and whether it scrolls sideways."""
    return page.evaluate("""() => {
      const box = document.querySelector(".blocklab-picture");
      return [box.firstChild.getAttribute("viewBox"), box.scrollWidth > box.clientWidth]
    }""")


WIDE, TALL = "0 0 6000 3000", "0 0 3600 4000"


@phone
@pytest.mark.parametrize("width", [390, 320])
def test_phone_shows_its_own_arrangement_without_scrolling(page, width):
    page.set_viewport_size({"width": width, "height": 700})
    show(page, HANDLES, narrow=[360, 400], smallest=5)
    page.wait_for_function(
        "tall => document.querySelector('.blocklab-picture > svg').getAttribute('viewBox') === tall", arg=TALL
    )
    assert arrangement(page) == [TALL, False]
    expect(page.locator(".blocklab-waiting")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture = page.locator(".blocklab-picture").bounding_box()
    assert picture["width"] >= width - 24  # 16 of which are the margins of the page
    slider(page).fill("20")
    expect(line(page)).to_have_text("push 10, at 20,0,0,1")
    assert all(question["narrow"] for question in page.evaluate("models[0].kernel.asked"))


@phone
@pytest.mark.parametrize("width", [390, 320])
def test_long_labels_leave_the_controls_on_a_phone(page, width):
    page.set_viewport_size({"width": width, "height": 700})
    long = {"kind": "slider", "name": "momentum", "label": "momentum (PyTorch)", "start": 1e-4, "step": 1.1, "last": 90}
    show(page, narrow=[360, 400], controls=[{**long, "at": 90, "log": True, "whole": False}])
    page.wait_for_function("document.querySelector('.blocklab-narrow .blocklab-control')")
    right = "Math.max(...[...document.querySelectorAll('.blocklab-bar *')].map(n => n.getBoundingClientRect().right))"
    assert page.evaluate(right) <= width


@phone
def test_turning_the_phone_changes_the_arrangement_and_keeps_the_place(page):
    show(page, narrow=[360, 400], smallest=5)
    slider(page).fill("20")
    expect(line(page)).to_have_text("push 10, at 20,0,0,1")
    for size, expected in [((844, 390), WIDE), ((390, 844), TALL), ((844, 390), WIDE)]:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.wait_for_function(
            "wanted => document.querySelector('.blocklab-picture > svg').getAttribute('viewBox') === wanted",
            arg=expected,
        )
        expect(page.locator(".blocklab-waiting")).to_have_count(0)
        expect(line(page)).to_have_text("push 10, at 20,0,0,1")
    slider(page).fill("3")
    expect(line(page)).to_have_text("push -7, at 3,0,0,1")
    assert arrangement(page)[0] == WIDE


@phone
def test_answer_for_the_former_arrangement_is_not_shown(page):
    show(page, narrow=[360, 400], smallest=5)
    page.wait_for_function("models[0].kernel.asked.length > 0")
    page.wait_for_timeout(100)
    answer(page, [10, 0, 0, 1], narrow=False)
    assert arrangement(page)[0] == TALL


@phone
def test_phone_shows_the_wide_picture_while_no_kernel_draws_another(page):
    show(page, {"delay": 10_000}, narrow=[360, 400], smallest=5)
    page.wait_for_function("models[0].kernel.asked.length > 0")
    assert arrangement(page)[0] == WIDE
    assert page.locator(".blocklab-picture path").count() > 3


@phone
def test_touch_near_a_part_chooses_it(page):
    show(page, HANDLES)
    page.locator("image").nth(2).scroll_into_view_if_needed()
    place = page.locator("image").nth(2).bounding_box()
    page.touchscreen.tap(place["x"] + place["width"] / 2, place["y"] + place["height"] + 30)  # too far
    page.touchscreen.tap(place["x"] - 6, place["y"] + place["height"] / 2)  # nothing is drawn there
    expect(line(page)).to_have_text("push 0, at 10,0,2,1")
    assert page.evaluate("models[0].saved") == [[10, 0, 2, 1]]


DRAG, PICK = HANDLES["handles"]
LONGER = [*DRAG[:4], [2750, 3000, 2750, 600]]


@pytest.mark.parametrize(
    "steps",
    [
        [([DRAG], 24, 4), ([LONGER], 30, 5), ([LONGER], 12, 1)],
        [([DRAG], 24, 4), ([PICK], 36, 6), ([[1, *DRAG[1:]]], 48, 8), ([DRAG], 12, 2)],
    ],
    ids=["another line", "gone"],
)
def test_drag_continues_when_handles_change(page, steps):
    show(page, HANDLES, ahead=False)
    place = block(page).bounding_box()
    x, y = place["x"] + 20, place["y"] + 5
    page.mouse.move(x, y)
    page.mouse.down()
    for handles, up, push in steps:
        kernel(page, handles=handles)
        page.mouse.move(x, y - up)
        expect(line(page)).to_have_text(f"push {push}, at {push + 10},0,0,1")
    page.mouse.up()
    page.mouse.move(x, y)  # over what is there now
    page.mouse.move(x, y - 60)
    assert line(page).inner_text() == f"push {push}, at {push + 10},0,0,1"


@phone
def test_second_finger_does_not_disturb_a_drag(page):
    show(page, HANDLES)
    place = block(page).bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    fingers = page.context.new_cdp_session(page)

    def touch(kind, *ups):
        points = [{"x": x + 10 * finger, "y": y - up, "id": finger} for finger, up in enumerate(ups)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 0)
    touch("touchMove", 15)
    stood = slider(page).input_value()
    touch("touchStart", 15, 15)
    touch("touchMove", 15, 60)
    touch("touchEnd")
    assert slider(page).input_value() == stood != "10"


def test_only_clickable_parts_have_a_pointer_cursor(page):
    show(page, {"handles": [[3, 2, "pick", [2, None]]]}, ahead=False)
    images = page.locator("image").all()

    def cursors():
        return [cursor_over(page, image) for image in images]

    assert cursors() == ["pointer", "auto", "auto"]
    images[0].click()  # another resting picture
    expect(line(page)).to_have_text("push 0, at 10,0,2,1")
    assert cursors() == ["pointer", "auto", "auto"]
    kernel(page, handles=[[3, 2, "pick", [None, 1, 0]]])
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 1, at 11,0,2,1")
    assert cursors() == ["auto", "pointer", "pointer"]
    kernel(page, handles=[])
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 2, at 12,0,2,1")
    assert cursors() == ["auto"] * 3


def test_parts_of_one_control_are_one_tab_stop(page):
    show(page, {"handles": [[1, 2, "pick", [0]], [3, 2, "pick", [2, 1, None]]]})
    place = page.get_by_role("slider", name="along")
    word = page.locator("path[data-says='0']").first  # which has a transform of its own
    for number, part in enumerate([word, page.locator("image").nth(1), page.locator("image").nth(0)]):
        expect(line(page)).to_have_text(f"push 0, at 10,0,{number},1")
        assert place.evaluate(MIDDLE) == pytest.approx(part.evaluate(MIDDLE), abs=1)
        place.press("ArrowRight")
    place.press("Home")
    expect(line(page)).to_have_text("push 0, at 10,0,0,1")
    page.evaluate("cleanups[0].forEach(clean => clean())")
    show(page, {"handles": [[1, 2, "pick", [0]], [3, 0, "pick", [10, 10, None]]]})  # nothing to choose by keyboard
    expect(page.locator(".blocklab-handles > *")).to_have_count(0)
    slider(page).press("Home")
    page.locator("image").nth(1).click()
    expect(line(page)).to_have_text("push 0, at 10,0,0,1")


def test_views_share_the_state_and_have_handles(page):
    show(page, HANDLES)
    page.evaluate("view(0)")
    slider(page).nth(1).press("ArrowRight")
    for number in range(2):
        expect(line(page).nth(number)).to_have_text("push 1, at 11,0,0,1")
        expect(slider(page).nth(number)).to_have_value("11")
    slider(page).nth(1).press("ArrowLeft")
    expect(line(page).nth(0)).to_have_text("push 0, at 10,0,0,1")
    block(page).nth(1).press("ArrowUp")
    page.locator("svg").nth(0).locator("image").nth(1).click()
    place = block(page).nth(1).bounding_box()
    page.mouse.move(place["x"] + 20, place["y"] + 5)
    page.mouse.down()
    page.mouse.move(place["x"] + 20, place["y"] - 19, steps=4)
    page.mouse.up()
    for number in range(2):
        expect(line(page).nth(number)).to_have_text("push 5, at 15,0,1,1")
        expect(block(page).nth(number)).to_have_attribute("aria-valuenow", "15")
    for side in ("x", "y", "width", "height"):
        assert len({block(page).nth(number).get_attribute(side) for number in range(2)}) == 1


# Views


def test_code_moves_the_panel(page):
    show(page)
    answer(page, [4, 0, 1, 1])
    assert line(page).inner_text() == "push 0, at 10,0,0,1"
    page.evaluate("models[0].set('at', [4, 0, 1, 1])")
    assert line(page).inner_text() == "push -6, at 4,0,1,1"
    expect(page.get_by_role("button", name="columns")).to_have_attribute("aria-pressed", "true")
    page.evaluate("models[0].set('at', [5, 0, 1, 1])")  # a state that was not sent is asked for
    expect(line(page)).to_have_text("push -5, at 5,0,1,1")
    assert page.evaluate("models[0].saved") == []
    assert asked(page, ahead=True) == []


def test_new_view_shows_the_current_state(page):
    show(page, {"at": [3, 0, 0, 1], "first": None})  # a reopened page has to ask for it
    expect(line(page)).to_have_text("push -7, at 3,0,0,1")


def test_recreated_view_shows_the_current_state_at_once(page):
    show(page)
    slider(page).press("ArrowRight")
    expect(line(page)).to_have_text("push 1, at 11,0,0,1")
    page.wait_for_function("models[0].kernel.asked.length === 20")
    page.evaluate("cleanups[0][1]()")
    expect(page.locator(".blocklab-panel")).to_have_count(0)
    kernel(page, dead=True)
    page.evaluate("view(0)")
    assert line(page).inner_text() == "push 1, at 11,0,0,1"
    assert page.locator("svg [role=img] path").count() > 10


def test_hidden_view_is_up_to_date_when_shown_again(page):
    """Notebooks hide cells that are far away, or remove them from the page."""
    show(page, HANDLES)
    page.evaluate("window.here = document.querySelector('main > div')")
    away = [("here.style.display = 'none'", "here.style.display = ''")]
    away += [("here.remove()", "document.querySelector('main').append(here)")]
    seen = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    for stop, (goes, comes) in enumerate(away, 3):
        answer(page, [stop, 0, 0, 1])  # so that nothing comes later
        page.evaluate(goes)
        page.evaluate(seen)
        page.evaluate("stop => models[0].set('at', [stop, 0, 0, 1])", stop)
        page.evaluate(comes)
        expect(line(page)).to_have_text(f"push {stop - 10}, at {stop},0,0,1")
        page.evaluate(seen)
        drawn = page.locator("path[d^='M2400']").evaluate(MIDDLE)
        assert block(page).evaluate(MIDDLE) == pytest.approx(drawn, abs=1)


def test_closed_panel_leaves_nothing_behind(page):
    show(page)
    slider(page).press("ArrowRight")
    page.wait_for_function("models[0].kernel.asked.length === 20")
    page.evaluate("cleanups[0].toReversed().forEach(clean => clean())")
    assert page.evaluate("models[0].heard") == []
    assert page.locator("main > div > *").count() == 0
    assert page.evaluate("globalThis[Symbol.for('blocklab')].size") == 0


@clocked
def test_nothing_runs_in_an_idle_page(page):
    show(page, HANDLES)
    slider(page).press("ArrowRight")
    page.wait_for_function("models[0].kernel.asked.length === 20")
    page.clock.run_for(100)
    page.evaluate("""() => {
      window.calls = []
      for (const name of ["setTimeout", "setInterval", "requestAnimationFrame"]) {
        const real = window[name]
        window[name] = (...all) => { calls.push(name); return real(...all) }
      }
    }""")
    page.clock.run_for(500)
    assert page.evaluate("calls") == []


def test_malformed_messages_are_ignored(page):
    show(page)
    good = page.evaluate("models[0].kernel.packet([12, 0, 0, 1])")
    strange = [None, 7, "state", {}, {"kind": "state"}, {**good, "at": [12, 0]}, {**good, "at": [99, 0, 0, 1]}]
    strange += [{**good, "moving": 3}, {**good, "rest": "1"}, {**good, "kind": "other"}, {**good, "line": None}]
    for message in strange:
        page.evaluate("message => models[0].tell('msg:custom', message, [])", message)
        assert line(page).inner_text() == "push 0, at 10,0,0,1"
    kernel(page, dead=True)
    slider(page).press("ArrowRight")
    slider(page).press("ArrowRight")
    assert line(page).inner_text() == "push 0, at 10,0,0,1"  # none of them was kept


@pytest.mark.exhaustive
def test_thousand_moves_do_not_grow_the_page(page):
    show(page)
    nodes = "document.querySelectorAll('*').length"
    before = page.evaluate(nodes)
    page.evaluate("""() => {
      const range = document.querySelector("input[type=range]"), {kernel} = models[0]
      const draw = kernel.draw
      kernel.draw = function (at) {  // a clip of its own for every state
        const drawn = draw.call(this, at), style = this.number(["style", "fill:none"])
        const clip = this.number(["clip", this.numbers.size, at[1], 100, 100])
        drawn.moving[0] = [...drawn.moving[0], this.number(["path", style, clip, "M0 0h100"])]
        return drawn
      }
      for (let i = 0; i < 1000; i++) {
        const at = [i % 21, (i >> 3) % 4, 0, 1]
        models[0].answer(kernel.packet(at))
        models[0].set("at", at)
      }
    }""")
    assert page.evaluate(nodes) - before < 220  # at most a hundred clips stay defined


@pytest.mark.exhaustive
def test_full_cache_does_not_leak(page):
    long = {**page.evaluate("spec.controls[0]"), "last": 1500}
    show(page, HANDLES, ahead=False, controls=[long, *page.evaluate("spec.controls.slice(1)")])
    page.evaluate("""() => {  // each state brings a word of 120,000 characters, and no wait
      const {moving, ...packet} = models[0].kernel.packet([10, 0, 0, 1]), says = "x".repeat(120_000)
      models[0].send = ({at}) => {
        const number = 1e6 + at[0], word = ["text", 1e7, 0, `translate(${at[0]} 0)`, [], says]
        const strokes = [moving[0], [number], ...moving.slice(2)], fresh = {1e7: ["style", ""], [number]: word}
        models[0].tell("msg:custom", {...packet, at, line: `at ${at}`, moving: strokes, new: fresh}, [])
      }
    }""")
    talk = page.context.new_cdp_session(page)
    talk.send("Performance.enable")

    def after(first, last):
        page.evaluate(
            """([first, last]) => {
              const range = document.querySelector("input[type=range]")
              for (range.value = first; range.value < last; range.value++) {
                range.dispatchEvent(new Event("input", {bubbles: true}))
              }
            }""",
            [first, last],
        )
        expect(line(page)).to_have_text(f"at {last - 1},0,0,1")
        talk.send("HeapProfiler.collectGarbage")
        metrics = {metric["name"]: metric["value"] for metric in talk.send("Performance.getMetrics")["metrics"]}
        kept = page.evaluate("""() => {
          const {kept, size} = globalThis[Symbol.for("blocklab")], states = [...kept], {store} = states[0]
          const records = [...store.records.values()]
          const bytes = records.reduce((sum, record) => sum + JSON.stringify(record).length, 0)
          return {size, counted: bytes + states.reduce((sum, state) => sum + state.size, 0), states: states.length,
                  known: store.states.size, long: records.filter(record => record[5]?.length > 1e5).length}
        }""")
        assert 20e6 < kept["size"] == kept["counted"] <= 32e6
        assert kept["states"] == kept["known"] == kept["long"]
        return metrics["Nodes"], metrics["JSEventListeners"], page.evaluate("document.querySelectorAll('*').length")

    assert after(11, 400) == after(400, 1400)


# Looks


def axe_violations(page):
    found = Axe().run(page, context=".blocklab-panel").response["violations"]
    return [(finding["id"], [node["html"] for node in finding["nodes"]]) for finding in found]


def test_light_pages(page):
    show(page, HANDLES)
    show(page, HANDLES, guess=GUESS)
    page.evaluate("view(0)")
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(node => node.id)")
    assert len(set(ids)) == len(ids) > 10
    assert axe_violations(page) == []
    kept(page, "light")


def test_dark_pages(page):
    page.emulate_media(color_scheme="dark")
    show(page, HANDLES)
    show(page, guess=GUESS)
    paper = "getComputedStyle(document.querySelector('.blocklab-panel')).backgroundColor"
    assert page.evaluate(paper) == "rgb(17, 20, 24)"
    assert axe_violations(page) == []
    kept(page, "dark")
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")  # a light JupyterLab in a dark system
    assert page.evaluate(paper) == "rgb(255, 255, 255)"


@pytest.mark.parametrize(
    ("system", "mark", "color"),
    [
        ("light", "body.dataset.jpThemeLight = 'false'", "rgb(244, 246, 249)"),
        ("light", "documentElement.setAttribute('theme', 'dark')", "rgb(244, 246, 249)"),
        ("light", "documentElement.dataset.theme = 'dark'", "rgb(244, 246, 249)"),
        ("light", "body.className = 'vscode-dark'", "rgb(244, 246, 249)"),
        ("light", "body.className = 'vscode-high-contrast'", "rgb(244, 246, 249)"),
        ("dark", "documentElement.style.colorScheme = 'normal'", "rgb(31, 41, 51)"),
    ],
)
def test_panel_follows_the_theme_of_the_page(page, system, mark, color):
    page.emulate_media(color_scheme=system)
    show(page)
    page.evaluate(f"document.{mark}")
    ink = """getComputedStyle(document.querySelector("svg path[d^='M400 2500']")).stroke"""
    assert page.evaluate(ink) == color


@phone
def test_phone_shows_readable_letters_and_large_controls(page):
    show(page, HANDLES, guess=GUESS, smallest=8)
    page.get_by_role("button", name="Skip").tap()
    shown = page.locator(".blocklab-picture > svg").bounding_box()["width"]
    assert 8 * shown / 600 >= 9
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.get_by_role("group", name="Picture")).to_be_visible()
    page.get_by_text("More").tap()
    for control in page.locator(".blocklab-bar :is(button, input:not([type=checkbox]), label[for*=dots])").all():
        assert control.bounding_box()["height"] >= 44
    assert axe_violations(page) == []
    kept(page, "phone")


def test_print_shows_the_whole_picture_in_light_colors(page):
    page.emulate_media(color_scheme="dark", media="print")
    page.set_viewport_size({"width": 390, "height": 800})
    show(page)
    assert page.locator(".blocklab-picture > svg").bounding_box()["width"] <= 390
    assert page.evaluate("getComputedStyle(document.querySelector('.blocklab-panel')).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    expect(page.get_by_role("button", name="Reset")).to_be_hidden()


# Without a kernel


@pytest.fixture
def frozen(page, loaded, tmp_path):
    """A self-contained file with every second stop of the slider for rows and columns, and the first for both."""
    states = """([guess]) => {
      const kernel = new Kernel(spec), states = [], records = {}
      const store = at => {
        const {new: fresh, took, ahead, ...state} = kernel.packet(at)
        states.push(state)
        Object.assign(records, fresh)
      }
      for (let stop = 0; stop <= 20; stop += 2) {
        for (const axis of [0, 1]) {
          store([stop, 0, axis, 1])
        }
      }
      store([0, 0, 2, 1])
      return JSON.stringify({spec: {...spec, guess}, states, records})
    }"""
    data = page.evaluate(states, [GUESS])
    file = tmp_path / "frozen.html"
    file.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><style>{LOOK}</style>'
        f'<body><div id="here"></div><script type="module">{SCRIPT}\n'
        f'window.leave = frozen(document.getElementById("here"), {data});</script></body></html>',
        encoding="utf-8",
    )
    return loaded("desk", file.as_uri())


def test_frozen_panel_works_from_a_file(frozen):
    expect(slider(frozen)).to_have_count(0)
    frozen.get_by_role("button", name="down").click()
    expect(frozen.get_by_text("Right. The mean rises.")).to_be_visible()
    slider(frozen).press("End")
    assert line(frozen).inner_text() == "push 10, at 20,0,0,1"
    frozen.get_by_role("button", name="columns").click()
    assert line(frozen).inner_text() == "push 10, at 20,0,1,1"
    frozen.evaluate("leave()")
    assert frozen.locator("#here > *").count() == 0


def test_frozen_panel_moves_to_the_nearest_stored_state(frozen):
    frozen.get_by_role("button", name="Skip").click()
    note = frozen.locator(".blocklab-note")
    slider(frozen).press("End")
    slider(frozen).fill("15")
    assert int(slider(frozen).input_value()) in (14, 16)
    expect(note).to_have_text("")  # the reader sees where the slider in hand is
    slider(frozen, "scale").press("End")
    expect(note).to_have_text("")
    expect(slider(frozen, "scale")).to_have_value("0")
    slider(frozen).press("End")
    frozen.get_by_role("button", name="both").click()  # an option in hand stays
    expect(note).to_have_text("Nearest stored picture; moved: push the block")
    assert line(frozen).inner_text() == "push -10, at 0,0,2,1"
    slider(frozen).press("ArrowRight")  # few states have this option
    expect(note).to_have_text("Nearest stored picture; moved: along")
    assert line(frozen).inner_text().endswith((",0,0,1", ",0,1,1"))


def test_frozen_panel_keys_skip_missing_states(frozen):
    frozen.get_by_role("button", name="Skip").click()
    for key, stop in [("Home", 0), ("ArrowRight", 2), ("ArrowRight", 4), ("PageUp", 6), ("ArrowLeft", 4), ("End", 20)]:
        slider(frozen).press(key)
        expect(slider(frozen)).to_have_value(str(stop))
    box = frozen.get_by_role("spinbutton", name="push the block")
    box.press("ArrowDown")
    expect(slider(frozen)).to_have_value("18")
    expect(frozen.locator(".blocklab-note")).to_have_text("")


def test_frozen_panel_keeps_the_chosen_option(page):
    stored = """([ats]) => {
      const sliders = ["s0", "s1", "s2", "s3", "s4"].map((s) => ({ ...spec.controls[0], name: s, label: s, at: 0 }))
      const states = ats.map((at) => ({ at, line: `${at}`, rest: 1, moving: [], handles: 2 }))
      const records = { 1: ["rest", []], 2: ["handles", []] }
      const here = document.querySelector("main")
      player.frozen(here, { spec: { ...spec, controls: [...sliders, spec.controls[3]] }, states, records })
    }"""
    page.evaluate(stored, [[[0, 0, 0, 0, 0, 1], [20, 20, 20, 20, 20, 1], [0, 0, 0, 0, 0, 0]]])
    slider(page, "s0").press("End")
    expect(line(page)).to_have_text("20,20,20,20,20,1")
    page.get_by_role("checkbox", name="show dots").press(" ")
    expect(line(page)).to_have_text("0,0,0,0,0,0")
