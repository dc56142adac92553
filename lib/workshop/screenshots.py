"""The README's pictures of a lesson at work in a real JupyterLab: `python -m workshop.screenshots FOLDER`."""

import shutil
import sys
import tempfile
from base64 import b64encode
from pathlib import Path

from . import lab
from .chromium import chromium
from .font import FAMILY, FONT

ROOT = Path(__file__).parents[2]
LESSON = "02_norm_axes.ipynb"
PUSH = "10"
LOOK = f"""
    @font-face {{ font-family: "{FAMILY}"; src: url(data:font/otf;base64,{b64encode(FONT.read_bytes()).decode()}) }}
    .blocklab-panel {{ font-family: var(--jp-ui-font-family), "{FAMILY}"; padding: 8px !important }}
"""
"""The lessons' own font for Chinese words, wherever the picture is taken, and a little air around the panel."""


def shoot(folder: Path) -> None:
    """Push one number in lesson 02's main panel and write lesson_02_LANGUAGE.png, once in each language."""
    with tempfile.TemporaryDirectory() as temporary:
        notebooks = Path(temporary) / "notebooks"
        for language in ("en", "zh"):
            shutil.copytree(ROOT / "notebooks" / language, notebooks / language)
        with chromium() as browser, lab.jupyter_lab(notebooks, Path(temporary) / "home") as address:
            for language in ("en", "zh"):
                page = browser.new_page(viewport={"width": 1280, "height": 1000}, device_scale_factor=2)
                lab.open_notebook(page, address, f"{language}/{LESSON}")
                page.add_style_tag(content=LOOK)
                page.evaluate(f"document.fonts.load('1em \"{FAMILY}\"')")  # words drawn before would stay as they are
                lab.run_all(page)
                cell = page.locator(".jp-CodeCell").filter(has_text="poke_one_number.panel()")
                panel = cell.locator(".blocklab-panel:visible")  # its still is hidden beside it
                lab.skip_guesses(page)
                slider, box = panel.locator("input[type=range]").first, panel.locator("input[type=number]").first
                before = lab.seen(slider)
                box.fill(PUSH)
                box.press("Enter")
                lab.wait_for_change(page, slider, before)
                panel.evaluate("panel => panel.scrollIntoView({ block: 'center' })")
                panel.screenshot(path=folder / f"lesson_02_{language}.png")
                page.close()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(f"usage: python -m workshop.screenshots FOLDER (an existing one), got {sys.argv[1:]}")
    shoot(Path(sys.argv[1]))
