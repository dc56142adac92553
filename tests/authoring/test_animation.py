"""Animated SVGs show each state of a panel in its turn, in both themes, and stand still on request."""

import re
from xml.etree import ElementTree

import pytest
from matplotlib.patches import Rectangle

from authoring.animation import HOLD, animate
from authoring.figures import BADGES, THUMBNAILS, render_badge
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.palette import MOVED, STILL


def bar(figure):
    """A box whose width and colour change, beside a box and a word that do not."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    moving = axes.add_patch(Rectangle((0, 0), 0.1, 0.3, animated=True))
    axes.add_patch(Rectangle((0, 0.5), 0.5, 0.2, facecolor=STILL))
    axes.text(0.2, 0.9, "still")

    def update(width):
        moving.set(width=width / 10, facecolor=MOVED if width > 2 else STILL)
        return f"{width}"

    return update


@pytest.fixture
def panel():
    return Panel(bar, size=(2, 1), width=Slider(1, 8, 1, value=1))


def film(panel, *widths, **options):
    return animate(panel, [{"width": width} for width in widths], "A bar <grows>", **options)


def visible_at(svg, frame, frames):
    """The strokes visible in a frame, from the keyframes of their classes."""
    share = 100 * (frame + 0.5) / (frames + HOLD)
    shown = []
    for use in ElementTree.fromstring(svg).findall(".//{*}use"):
        name, state = use.get("class"), "visible"
        if name:
            keyframes = re.search(rf"@keyframes {name}\{{((?:[^{{}}]*\{{[^{{}}]*\}})*)\}}", svg)[1]
            for start, value in re.findall(r"([\d.]+)%\{visibility:(\w+)\}", keyframes):
                state = value if float(start) <= share else state
        if state == "visible":
            shown.append(use.get("href"))
    return shown


def test_every_frame_shows_the_strokes_of_its_state(panel):
    svg = film(panel, 1, 2, 5)
    alone = [len(visible_at(film(panel, width), 0, 1)) for width in (1, 2, 5)]
    frames = [visible_at(svg, frame, 3) for frame in range(3)]
    assert [len(frame) for frame in frames] == alone
    assert len(set(map(tuple, frames))) == 3


def test_returning_to_a_state_repeats_no_stroke(panel):
    there_and_back = film(panel, 1, 5, 1)
    assert there_and_back.count("<path") == film(panel, 1, 5).count("<path")
    frames = [visible_at(there_and_back, frame, 3) for frame in range(3)]
    assert frames[0] == frames[2] != frames[1]


def test_without_motion_only_the_last_frame_is_visible(panel):
    svg = film(panel, 1, 5)
    style = ElementTree.fromstring(svg).find("{*}style").text
    before, moving = style.split("@media(prefers-reduced-motion:no-preference)")
    hidden = set(re.findall(r"\.(v\d+)\{visibility:hidden\}", before))
    uses = [use for use in ElementTree.fromstring(svg).findall(".//{*}use") if use.get("class") not in hidden]
    assert [use.get("href") for use in uses] == visible_at(svg, 1, 2)
    assert "animation" not in before
    assert "animation" in moving


def test_a_single_state_does_not_move(panel):
    assert "animation" not in film(panel, 3)


def test_colours_follow_the_theme(panel):
    svg = film(panel, 3)
    light, dark = re.findall(r"--bl-moved:(#\w+)", svg)
    assert light == MOVED != dark
    assert "var(--bl-moved" in svg


def test_title_is_escaped_and_letters_can_be_left_out(panel):
    assert "<title>A bar &lt;grows&gt;</title>" in film(panel, 1)
    assert 'data-says="still"' in film(panel, 1)
    assert "data-says" not in film(panel, 1, letters=False)


def test_rejects_a_static_part_that_changes():
    def restless(figure):
        axes = figure.add_axes((0, 0, 1, 1))
        return lambda width: axes.set_title(f"{width}").get_text()

    with pytest.raises(ValueError, match="expected the static part of test_animation to be the same in all frames"):
        film(Panel(restless, size=(2, 1), width=Slider(1, 8, 1, value=1)), 1, 2)


def test_every_lesson_has_a_thumbnail():
    assert list(THUMBNAILS) == [lesson.package for lesson in LESSONS]


@pytest.mark.parametrize("badge", BADGES.values())
def test_badges_are_well_formed(badge):
    assert ElementTree.fromstring(render_badge(*badge)).find("{*}title").text == f"{badge[0]}: {badge[1]}"
