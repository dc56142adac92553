"""The browser's rendering of a panel looks like matplotlib's, for one panel per lesson and language."""

import io

import numpy as np
from PIL import Image

from authoring.lesson_panels import default_and_extreme
from authoring.site.svg import svg
from blocklab_course.panel.canvas import DPI

FAR, SHARE = 96, 0.01
"""A pixel is far off if one of its colours is off by more than this; and the share of pixels that may be.

Agg fits each letter to whole pixels, a browser does not: of a letter's edges about one pixel in five is far off, and
letters cover the most of a picture in 11.5. A stroke that is missing, in another colour or a pixel off is more.
"""


def shown(browser, panel) -> np.ndarray:
    """The panel's strokes in a page, as pixels."""
    width, height = (round(side * DPI) for side in panel.size)
    drawing = panel.canvas.strokes()
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_content(f'<body style="margin: 0">{svg(drawing, panel.canvas.records, width, height)}')
    pixels = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    page.close()
    return pixels


def test_strokes_in_a_browser_look_like_aggs_picture(lesson_panels, chromium):
    first = {language: panel for (_cell, language), panel in reversed(lesson_panels.items())}
    for language, panel in first.items():
        for values in default_and_extreme(panel):
            panel.move(**values)
            wanted = panel.canvas.frame()[..., :3].astype(int)
            off = np.abs(shown(chromium, panel)[-len(wanted) :] - wanted).max(2)  # 4.6 inches are 459 pixels of Agg's
            assert (off > FAR).mean() < SHARE, (language, values)
