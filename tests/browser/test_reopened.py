"""A lesson that a learner ran, saved, and opens again after its kernel has gone; and panels whose kernel went away."""

import shutil

import lab
import nbformat
import pytest
from playwright.sync_api import expect

from blocklab.language import LANGUAGES
from blocklab.publish.copies import copy_lessons
from blocklab.publish.project import Project

LESSON = "06_rms_norm.ipynb"
HINT = {"en": "Run the cell to move it.", "zh": "运行这个单元格，就可以移动滑块。"}

SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"
SHUT_DOWN = "() => window.jupyterapp.serviceManager.sessions.shutdownAll()"
RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
WIDGETS_ARE_SETTLED = "() => !document.body.textContent.includes('Loading widget')"


@pytest.fixture(scope="module")
def saved(chromium, address, notebooks, tmp_path_factory):
    """A lesson in both languages, copied as `make lab` copies it, run, saved, its kernel shut down."""
    root = tmp_path_factory.mktemp("project")
    for language in LANGUAGES:
        (root / "notebooks" / language).mkdir(parents=True)
        shutil.copy(lab.NOTEBOOKS / language / LESSON, root / "notebooks" / language)
    copy_lessons(Project(root))
    shutil.copytree(root / "my", notebooks / "my")
    for language in LANGUAGES:
        page = chromium.new_page(viewport={"width": 1400, "height": 1000})
        lab.open_notebook(page, address, f"my/{language}/{LESSON}")
        lab.run_all(page)
        lab.wait_for_panels(page)
        save(page)
        page.close()
    return notebooks / "my"


def save(page):
    page.evaluate(SAVE)
    page.evaluate(SHUT_DOWN)


def lines(file):
    """The line of every panel that a saved notebook holds."""
    outputs = [output for cell in nbformat.read(file, 4).cells for output in cell.get("outputs", [])]
    return [o.data["text/plain"] for o in outputs if "blocklab-still" in o.get("data", {}).get("text/html", "")]


def expect_stills(page, language, file):
    """Every panel is there as a picture, its line, and what to do; nothing else speaks of widgets."""
    page.wait_for_timeout(5000)
    body = page.locator("[role=main]")
    for said in lines(file):
        expect(body.get_by_text(said, exact=True)).to_be_visible()
