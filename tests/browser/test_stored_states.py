"""Stored states in Chromium draw the same strokes as a kernel."""

import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure
from PIL import Image
from playwright.sync_api import expect

from authoring import site
from authoring.lesson_panels import SOURCES, run_panels
from authoring.site.data_script import data_script
from authoring.site.states_encode import NOTHING, encode
from authoring.site.states_select import select_states
from blocklab_course.i18n import LANGUAGES, Text
from blocklab_course.panel import Choice, Panel, Prediction, Slider
from blocklab_course.panel.display_list import renumber
from blocklab_course.panel.drag import handles
from blocklab_course.panel.live_view import Live, script
from blocklab_course.session import set_language

pytestmark = pytest.mark.usefixtures("lesson_undone")

READER = (Path(site.__file__).with_name("states.js")).read_text("utf-8")
KEY = "00_demo/demo"
EVERY = 5  # every fifth state of a lesson's panel is compared
WORDS = Text(en="so many: {n}", zh="共 {n} 个")
GUESS = Prediction(
    {Text(en="more", zh="变多"): 1, Text(en="fewer", zh="变少"): 0},
    right=1,
    explanation=Text(en="They grow.", zh="会变多。"),
)


def demo(figure: Figure):
    """Words, a different number of strokes in each language, a hatch, and an artist that comes and goes."""
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    bars = axes.bar(range(3), [1, 2, 3], hatch="//", animated=True)
    said = axes.set_title("", animated=True)
    guest = axes.plot([0, 2], [1, 1], animated=True)[0]
    guest.remove()

    def update(n: int, way: str) -> str:
        bars[0].set_height(n / 3)
        said.set_text(WORDS.format(n=n) + ("\nagain" if str(WORDS).startswith("so") and n % 2 else ""))
        if way == "with" and guest.figure is None:
            axes.add_line(guest)
        elif way == "without" and guest.figure is not None:
            guest.remove()
        return WORDS.format(n=n)

    return update


def demo_panel() -> Panel:
    ways = Choice({Text(en="with", zh="有"): "with", Text(en="without", zh="没有"): "without"}, "without", label="way")
    return Panel(demo, size=(4, 3), narrow=(2, 3), guess=GUESS, n=Slider(0, 9, 1, value=2, label="n"), way=ways)


def in_both_languages(make, narrow: bool = False) -> dict[str, Panel]:
    made = {}
    for language in LANGUAGES:
        set_language(language)
        made[language] = make()
        made[language].arrange(narrow)
    return made


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    """A page from disk with the player in it, and no network."""
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><style>{Live._css}</style>'
        f'<body><div id="here"></div><script type="module">{script()}\n{READER}\n'
        "Object.assign(window, { frozen, statesFor });</script></body></html>",
        encoding="utf-8",
    )
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.goto(file.as_uri())
    yield page
    context.close()


def load(page, data, tmp_path) -> None:
    """Load states as a page does, by a script beside it."""
    file = tmp_path / "data.js"
    file.write_text(data_script("blocklabStates", KEY, data), encoding="utf-8")
    page.evaluate("globalThis.blocklabStates = {}")
    page.add_script_tag(path=file)


def unpacked(page, language: str) -> dict:
    return page.evaluate("([key, language]) => statesFor(blocklabStates[key], language)", [KEY, language])


def tuples(record):
    return tuple(map(tuples, record)) if isinstance(record, list | tuple) else record


def content(number: int, records) -> tuple:
    """What a record draws, however it is written: records for their numbers, points of a path, pixels of an image."""
    kind, *rest = renumber(records[number], lambda part: content(part, records))
    if kind == "path":
        return kind, *rest[:2], drawn(rest[2]), *rest[3:]
    return (kind, *rest[:-1], pixels(rest[-1])) if kind in ("image", "tint") else (kind, *rest)


def pixels(url: str) -> bytes:
    return Image.open(BytesIO(b64decode(url.partition(",")[2]))).convert("RGBA").tobytes()


def drawn(d: str) -> tuple:
    """The steps of a path, with absolute points."""
    steps, here, start = [], (0, 0), (0, 0)
    for letter, said in re.findall(r"([a-zA-Z])([^a-zA-Z]*)", d):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", said)]
        many = {"m": 2, "l": 2, "q": 4, "c": 6, "z": 1, "a": 7, "h": 1, "v": 1}[letter.lower()]
        for first in range(0, max(1, len(numbers)), many):
            step = numbers[first : first + many]
            if letter in "mlqc":
                step = [number + here[i % 2] for i, number in enumerate(step)]
            if letter in "zZ":
                here = start
            elif letter in "mlqcMLQC":
                here = tuple(step[-2:])
                start = here if letter in "mM" else start
            steps.append((letter if letter in "ahv" else letter.upper(), *step))
    return tuple(steps)


def shown(rest, moving, records) -> list[tuple]:
    """All strokes in their order: those that rest, and in their slots those that move."""
    slots = iter(moving)
    strokes = [n for stroke in records[rest][1] for n in ([stroke] if stroke else next(slots))]
    return [stroke for number in strokes if (stroke := content(number, records)) != NOTHING]


def assert_like_the_kernel(page, made: dict[str, Panel], states, every: int = 1) -> None:
    for language, panel in made.items():
        set_language(language)
        found = unpacked(page, language)
        records = {int(number): tuples(record) for number, record in found["records"].items()}
        assert [state["at"] for state in found["states"]] == states
        for state in found["states"][::every]:
            with panel.at_state(state["at"]) as (canvas, line):
                drawing = canvas.strokes()
                wanted = shown(drawing.rest, drawing.moving, canvas.records)
                touched = handles(canvas.moving_artists, panel.controls, canvas.figure.bbox.height)
            assert state["line"] == line
            assert shown(state["rest"], state["moving"], records) == wanted, (language, state["at"])
            assert records[state["handles"]] == ("handles", tuples(touched))


@pytest.mark.parametrize("narrow", [False, True])
def test_stored_states_match_the_kernel_stroke_for_stroke(page, tmp_path, narrow):
    made = in_both_languages(demo_panel, narrow)
    states = select_states(made["en"])
    load(page, encode(made, states), tmp_path)
    assert_like_the_kernel(page, in_both_languages(demo_panel, narrow), states)
    assert {state["narrow"] for state in unpacked(page, "zh")["states"]} == {narrow}


def test_stored_states_of_a_lesson_match_the_kernel(page, tmp_path):
    with matplotlib.rc_context():
        made = run_panels(next(source for source in SOURCES if source.stem == "02_norm_axes"))
        for cell in {cell for cell, _ in made}:
            twins = {language: made[cell, language] for language in LANGUAGES}
            states = select_states(twins["en"])[:60]
            load(page, encode(twins, states), tmp_path)
            assert_like_the_kernel(page, twins, states, EVERY)


def test_both_languages_share_records_without_words():
    data = encode(in_both_languages(demo_panel), [[n, 1] for n in range(10)])
    kinds = {kind for kind, *_columns in data["instead"]["zh"]}
    assert "text" in kinds
    assert not kinds & {"style", "clip", "marks", "rest"}


def test_page_plays_states_and_reports_the_guess(page, tmp_path):
    load(page, encode(in_both_languages(demo_panel), [[n, 1] for n in range(10)]), tmp_path)
    page.evaluate(
        """key => { window.told = [];
        window.leave = frozen(document.getElementById("here"), statesFor(blocklabStates[key], "zh"),
            { guessed: null, onGuess: (...about) => told.push(about) }) }""",
        KEY,
    )
    slider = page.locator("input[type=range]")
    expect(slider).to_be_disabled()
    page.get_by_role("button", name="变少").click()
    assert page.evaluate("told") == [[1, False]]
    slider.press("End")
    assert page.get_by_role("status").inner_text() == "共 9 个"
    page.evaluate("leave()")


@pytest.mark.parametrize(("guessed", "open_"), [(0, False), (-1, False), (None, True)])
def test_guess_of_an_earlier_visit_is_kept(page, tmp_path, guessed, open_):
    load(page, encode(in_both_languages(demo_panel), [[2, 1], [3, 1]]), tmp_path)
    page.evaluate(
        """([key, guessed]) => { window.leave = frozen(document.getElementById("here"),
            statesFor(blocklabStates[key], "en"), { guessed }) }""",
        [KEY, guessed],
    )
    slider = page.locator("input[type=range]")
    expect(slider).to_be_disabled() if open_ else expect(slider).to_be_enabled()
    page.evaluate("leave()")
