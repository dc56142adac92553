"""The README's pictures of a lesson at work in a real JupyterLab: `python -m workshop.screenshots FOLDER`."""

import shutil
import sys
import tempfile
from pathlib import Path

from . import lab
from .chromium import chromium

ROOT = Path(__file__).parents[2]
LESSON = "02_norm_axes.ipynb"
PUSH = "10"


def shoot(folder: Path) -> None:
    """Push one number in lesson 02's main panel and write lesson_02_LANGUAGE.png, once in each language."""
    with tempfile.TemporaryDirectory() as temporary:
        notebooks = Path(temporary) / "notebooks"
        for language in ("en", "zh"):
            shutil.copytree(ROOT / "notebooks" / language, notebooks / language)
        with chromium() as browser, lab.jupyter_lab(notebooks, Path(temporary) / "home") as address:
            for language in ("en", "zh"):
                page = browser.new_page(viewport={"width": 1280, "height": 1000}, device_scale_factor=1.5)
                lab.open_notebook(page, address, f"{language}/{LESSON}")
                lab.run_all(page)
                output = (
                    page.locator(".jp-CodeCell")
                    .filter(has_text="poke_one_number.panel()")
                    .locator(".jp-OutputArea-output")
                )
                lab.skip_guesses(page)
                slider, box = lab.sliders(page).first, output.locator("input[type=number]").first
                before = lab.seen(slider)
                box.fill(PUSH)
                box.press("Enter")
                lab.wait_for_change(page, slider, before)
                output.first.screenshot(path=folder / f"lesson_02_{language}.png")
                page.close()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(f"usage: python -m workshop.screenshots FOLDER (an existing one), got {sys.argv[1:]}")
    shoot(Path(sys.argv[1]))
