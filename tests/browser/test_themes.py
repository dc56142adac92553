"""Letters have enough contrast on light and dark pages, in all panels of all lessons."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb, to_rgba
from PIL import Image

from authoring import site
from authoring.lesson_panels import default_and_extreme
from authoring.site.states_encode import encode
from authoring.site.svg import svg
from blocklab_course import panel as panels_package
from blocklab_course.panel import Panel, Slider, css
from blocklab_course.panel.canvas import DPI
from blocklab_course.panel.live_view import script
from blocklab_course.panel.palette import INK_ON_COLOUR, MOVED, PAPER_ON_COLOUR, SHADES, STILL, shade
from contrast import contrast

LOOK = Path(panels_package.__file__).with_name("panel.css").read_text("utf-8")
READER = Path(site.__file__).with_name("states.js").read_text("utf-8")
TINT = LinearSegmentedColormap.from_list("tint", [to_rgba(MOVED, 0), to_rgba(MOVED)])
ENOUGH, ON_A_MAP = 4.5, 3.8
"""The least contrast; and on a colour map, where the better of dark and light letters is all that can be had."""

TEXTS = """() => [...document.querySelectorAll("path[data-says]")].map(node => {
    const {x, y, width, height} = node.getBoundingClientRect();
    node.style.visibility = "hidden";
    return [node.dataset.says, x, y, x + width, y + height, getComputedStyle(node).fill];
})"""


def texts(page, panel, theme: str):
    """Each text with its colour and with the pixels that lie under it."""
    width, height = (round(side * DPI) for side in panel.size)
    drawn = svg(panel.canvas.strokes(), panel.canvas.records, width, height)
    page.set_content(
        f'<html data-theme="{theme}"><style>{LOOK} body {{ margin: 0 }} .blocklab-panel {{ padding: 0 }}</style>'
        f'<div class="blocklab-panel" style="width: {width}px; box-sizing: content-box">{drawn}</div>'
    )
    found = page.evaluate(TEXTS)
    shot = page.screenshot(clip={"x": 0, "y": 0, "width": width, "height": height})
    pixels = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")) / 255
    for text, *box, fill in found:
        left, top, right, bottom = (max(0, round(side)) for side in box)
        yield text, parts(fill), pixels[top:bottom, left:right].reshape(-1, 3)


def parts(fill: str) -> tuple[float, ...]:
    return tuple(int(part) / 255 for part in fill.removeprefix("rgb(").removesuffix(")").split(","))


def test_letters_are_legible_in_both_themes(lesson_panels, chromium):
    page = chromium.new_page(viewport={"width": 1000, "height": 600})
    for (cell, language), panel in lesson_panels.items():
        for values in default_and_extreme(panel) if language == "en" else ():
            panel.move(**values)
            for theme in ("light", "dark"):
                for text, ink, under in texts(page, panel, theme):
                    on_a_map = ink in (to_rgb(INK_ON_COLOUR), to_rgb(PAPER_ON_COLOUR))
                    read = np.median(contrast(ink, under)) if len(under) else 21
                    assert read >= (ON_A_MAP if on_a_map else ENOUGH), (cell, theme, values, text)
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_browser_mixes_shades(chromium, theme):
    page = chromium.new_page()
    colours = [STILL, *(shade(STILL, light) for light in SHADES)]
    faces = "".join(f'<path style="fill:{css.colour((*to_rgb(colour), 1.0))}"/>' for colour in colours)
    page.set_content(f'<html data-theme="{theme}"><style>{LOOK}</style><div class="blocklab-panel"><svg>{faces}</svg>')
    whole, *shades = page.evaluate("[...document.querySelectorAll('path')].map(node => getComputedStyle(node).fill)")
    for light, mixed in zip(SHADES, shades, strict=True):
        got = [float(part) for part in mixed.removeprefix("color(srgb ").removesuffix(")").split()]
        np.testing.assert_allclose(got, np.multiply(light, parts(whole)), atol=1e-3)
    page.close()


@pytest.mark.parametrize(("theme", "paper", "full"), [("light", "#ffffff", "#dd7610"), ("dark", "#111418", "#d97410")])
@pytest.mark.parametrize("way", ["picture", "player"])
def test_heat_map_fades_into_the_page(chromium, theme, paper, full, way):
    """Its empty cells are not white in the dark, neither before its panel has loaded nor after."""

    def heat_map(figure):
        cells = figure.add_axes((0, 0, 1, 1)).imshow([[0.0, 1.0]], aspect="auto", cmap=TINT, vmin=0, vmax=1)
        cells.axes.axis("off")
        return "n = {n}".format

    panel = Panel(heat_map, size=(4, 2), n=Slider(0, 1, 1, value=0, label="n"))
    page = chromium.new_page(viewport={"width": 600, "height": 400})
    if way == "picture":
        drawn = svg(panel.canvas.strokes(), panel.canvas.records, 400, 200)
        page.set_content(f'<html data-theme="{theme}"><style>{LOOK}</style><div class="blocklab-panel">{drawn}</div>')
    else:
        states = json.dumps(encode({"en": panel}, [[0], [1]]))
        page.set_content(
            f'<html data-theme="{theme}"><style>{LOOK}</style><div id="here"></div><script type="module">{script()}\n'
            f'{READER}\nfrozen(document.getElementById("here"), statesFor({states}, "en"), {{}});</script>'
        )
    shot = page.locator(".blocklab-panel svg").screenshot()
    pixels = Image.open(io.BytesIO(shot)).convert("RGB")
    middle = pixels.height // 2
    shown = [to_hex(np.array(pixels.getpixel((pixels.width * part // 4, middle))) / 255) for part in (1, 3)]
    assert shown == [paper, full]
    page.close()
    panel.close()
