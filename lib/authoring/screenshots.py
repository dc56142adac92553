"""Take the README's screenshots of lessons in JupyterLab: `python -m authoring.screenshots FOLDER`."""

import shutil
import sys
import tempfile
from base64 import b64encode
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page

from blocklab_course.i18n import LANGUAGES

from . import jupyter_lab
from .chromium import chromium
from .font import FAMILY, FONT
from .jupyter_server import LAB, serve
from .solved_workspace import save_solutions

ROOT = Path(__file__).parents[2]
PUSH = "10"
CHAT = "= load_or_reference(", "def block(", "talk(prompts.FIRST"
"""Cells of lesson 15: the saved solutions, the layer built from them, and the first answer."""
PATIENCE = 300_000  # milliseconds; lesson 15 generates text
LOOK = f"""
    @font-face {{ font-family: "{FAMILY}"; src: url(data:font/otf;base64,{b64encode(FONT.read_bytes()).decode()}) }}
    .blocklab-panel {{ font-family: var(--jp-ui-font-family), "{FAMILY}"; padding: 8px !important }}
    .jp-cell-toolbar, .jp-Collapser {{ visibility: hidden }}
    .jp-CodeCell :is(pre, .cm-content) {{ font-family: var(--jp-code-font-family), "{FAMILY}" !important }}
"""
"""The lessons' font for Chinese, and a margin around the panel."""


def show_poked_panel(page: Page) -> list[Locator]:
    """The main panel of lesson 02, with one number changed."""
    cell = page.locator(".jp-CodeCell").filter(has_text="poke_one_number.panel()").first
    panel = cell.locator(".blocklab-panel:visible")  # a hidden still image is beside it
    jupyter_lab.skip_predictions(page)
    slider, box = panel.locator("input[type=range]").first, panel.locator("input[type=number]").first
    before = jupyter_lab.read_panel(slider)
    box.fill(PUSH)
    box.press("Enter")
    jupyter_lab.wait_for_change(page, slider, before)
    return [panel]


def show_chat(page: Page) -> list[Locator]:
    """The cells of lesson 15 from the saved solutions to an answer."""
    return [page.locator(".jp-CodeCell").filter(has_text=text).first for text in CHAT]


SHOTS = {"02_norm_axes": show_poked_panel, "15_your_model": show_chat}


def take_screenshots(folder: Path) -> None:
    """Write lesson_NN_LANGUAGE.png for each lesson and language, with all solutions saved."""
    with tempfile.TemporaryDirectory() as temporary:
        mine = Path(temporary) / "my"
        for language in LANGUAGES:
            shutil.copytree(ROOT / "notebooks" / language, mine / language)
        save_solutions(mine)
        with chromium() as browser, serve(LAB, mine, Path(temporary) / "home") as address:
            for lesson, show in SHOTS.items():
                for language in LANGUAGES:
                    page = browser.new_page(viewport={"width": 1360, "height": 1000}, device_scale_factor=2)
                    page.set_default_timeout(PATIENCE)
                    jupyter_lab.open_notebook(page, address, f"{language}/{lesson}.ipynb")
                    page.add_style_tag(content=LOOK)
                    page.evaluate(f"document.fonts.load('1em \"{FAMILY}\"')")  # text drawn earlier would keep its font
                    jupyter_lab.run_all(page)
                    jupyter_lab.wait_for_panels(page)
                    stack(show(page)).save(folder / f"lesson_{lesson[:2]}_{language}.png")
                    page.close()


def stack(shown: list[Locator]) -> Image.Image:
    """Screenshots of some places of a page, one below the other."""
    pictures = []
    for place in shown:
        place.evaluate("place => place.scrollIntoView({ block: 'center' })")
        pictures.append(Image.open(BytesIO(place.screenshot())))
    size = max(one.width for one in pictures), sum(one.height for one in pictures)
    together, top = Image.new("RGB", size, "white"), 0
    for one in pictures:
        together.paste(one, (0, top))
        top += one.height
    return together


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(f"usage: python -m authoring.screenshots FOLDER (which must exist), got {sys.argv[1:]}")
    take_screenshots(Path(sys.argv[1]))
