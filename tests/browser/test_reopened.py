"""Reopening a saved lesson without its kernel, and panels whose kernel restarts."""

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from authoring import jupyter_lab
from authoring.learner_copies import copy_lessons
from authoring.project import Project
from blocklab_course.i18n import LANGUAGES

pytestmark = pytest.mark.xdist_group("reopened")

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSON, PICTURES = "05_layer_norm.ipynb", 3
ALSO_IN_CHINESE = "en", pytest.param("zh", marks=pytest.mark.exhaustive)
HINT = {"en": "Run the cell to move it.", "zh": "运行这个单元格，就可以移动滑块。"}
RUN_FIRST = {"en": "Run this cell (Shift + Enter), then", "zh": "先运行这个单元格（Shift + Enter），再"}

SHUT_DOWN = "() => window.jupyterapp.serviceManager.sessions.shutdownAll()"
RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
IS_CHANGED = "() => window.jupyterapp.shell.currentWidget.context.model.dirty"
IS_TRUSTED = """() => {
    const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
    return cells.filter(cell => cell.type === 'code').every(cell => cell.trusted);
}"""
TRUST = """() => {
    for (const cell of window.jupyterapp.shell.currentWidget.content.model.cells) cell.trusted = true;
}"""
# ipywidgets looks for a widget for two seconds before it reports that there is none.
WIDGETS_ARE_LOOKED_FOR = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.widgets;
    const outputs = cells.flatMap(cell => [...cell.node.querySelectorAll('.jp-OutputArea-output')]);
    return outputs.length > 0 && !outputs.some(output => output.textContent === 'Loading widget...');
}"""


@pytest.fixture(scope="session")
def copied(notebooks, tmp_path_factory):
    """A lesson in both languages, copied as by `make lab`."""
    root = tmp_path_factory.mktemp("project")
    for language in LANGUAGES:
        (root / "notebooks" / language).mkdir(parents=True)
        shutil.copy(NOTEBOOKS / language / LESSON, root / "notebooks" / language)
    copy_lessons(Project(root))
    return shutil.copytree(root / "my", notebooks / "my")


@pytest.fixture(scope="session", params=ALSO_IN_CHINESE)
def ran(request, desk, address, copied):
    """A language and the lesson's file in it, after running, saving and shutting down the kernel."""
    language = request.param
    jupyter_lab.close_all(desk)
    jupyter_lab.open_notebook(desk, address, f"my/{language}/{LESSON}")
    jupyter_lab.run_all(desk)
    jupyter_lab.wait_for_panels(desk)
    for still in stills(desk).all():
        expect(still).to_be_hidden()
    jupyter_lab.save(desk)
    jupyter_lab.close_all(desk)
    return language, copied / language / LESSON


def reopen(page, address, path):
    jupyter_lab.load_notebook(page, address, path)
    page.evaluate("() => jupyterapp.commands.execute('notebook:expand-all-headings')")
    jupyter_lab.wait_until(page, WIDGETS_ARE_LOOKED_FOR)


def stills(page):
    return page.locator(".blocklab-still")


def expect_stills(page, language, saved):
    """Every panel shows its picture, its line and an instruction, unless it cannot move; every question its options."""
    shown = [
        (output["data"], ".still(" not in "".join(cell["source"]))
        for cell in json.loads(saved.read_text("utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if "blocklab-still" in "".join(output.get("data", {}).get("text/html", ""))
    ]
    assert any(moves for _, moves in shown)
    expect(stills(page)).to_have_count(len(shown))
    for (data, moves), still in zip(shown, stills(page).all(), strict=True):
        for line in "".join(data["text/plain"]).splitlines():
            expect(still).to_contain_text(line.strip())
        if "data-question" in "".join(data["text/html"]):
            continue
        expect(still.get_by_text(RUN_FIRST[language])).to_have_count(int(moves))
        expect(still.get_by_role("img")).to_be_visible()
        width, shown_width = still.get_by_role("img").evaluate("image => [image.naturalWidth, image.clientWidth]")
        assert width >= 2 * shown_width > 1000
    for text in ("Error displaying widget", "Loading widget"):
        for said in page.get_by_text(text).all():
            expect(said).to_be_hidden()
    assert page.get_by_role("slider").count() == 0


def test_copy_opens_without_a_change(page, address, copied):
    shutil.copy(copied / "en" / LESSON, copied / "en" / "opened.ipynb")
    jupyter_lab.open_notebook(page, address, "my/en/opened.ipynb")
    assert page.evaluate(IS_CHANGED) is False


@pytest.mark.exhaustive
def test_trusted_lesson_shows_pictures_before_it_runs(page, address, copied):
    shutil.copy(copied / "en" / LESSON, copied / "en" / "untouched.ipynb")
    jupyter_lab.open_notebook(page, address, "my/en/untouched.ipynb")
    page.evaluate(TRUST)
    jupyter_lab.save(page)
    page.evaluate(SHUT_DOWN)
    reopen(page, address, "my/en/untouched.ipynb")
    assert page.evaluate(IS_TRUSTED)
    expect(page.locator(".jp-RenderedImage img")).to_have_count(PICTURES)
    expect(page.get_by_text("Error displaying widget")).to_have_count(0)


@pytest.mark.parametrize(
    "trusted", [pytest.param(True, id="trusted"), pytest.param(False, id="untrusted", marks=pytest.mark.exhaustive)]
)
def test_reopened_lesson_shows_every_panel_and_an_instruction(page, address, ran, trusted):
    language, saved = ran
    if not trusted:  # a change from outside, and the signature that JupyterLab gave it is void
        notebook = json.loads(saved.read_text("utf-8"))
        notebook["metadata"]["changed"] = True
        saved = saved.with_name("untrusted.ipynb")
        saved.write_text(json.dumps(notebook), "utf-8")
    reopen(page, address, f"my/{language}/{saved.name}")
    assert page.evaluate(IS_TRUSTED) is trusted
    expect_stills(page, language, saved)
    stills(page).first.scroll_into_view_if_needed()  # for the picture that the fixture keeps


SMALL = """
from blocklab_course import begin
from blocklab_course.panel import Panel, Slider

begin({!r})

def picture(figure):
    line = figure.subplots().plot([0, 1], [0, 0], animated=True)[0]
    line.axes.set_ylim(-1, 11)
    def update(height):
        line.set_ydata([height, height])
        return f"height {{height}}"
    return update

Panel(picture, size=(6, 3), height=Slider(0, 10, 1, value=3))
"""


@pytest.fixture
def small(request, page, address, notebooks):
    """The language of a small notebook, which stands in the page and has run, and its file."""
    saved = notebooks / f"small_{request.param}.ipynb"
    jupyter_lab.write_notebook(saved, [SMALL.format(request.param)])
    jupyter_lab.open_notebook(page, address, saved.name)
    jupyter_lab.run_all(page)
    jupyter_lab.wait_for_panels(page)
    expect_alive(page)
    return request.param, saved


def expect_alive(page):
    """One panel, which answers; no still, no hint."""
    expect(page.locator(".blocklab-panel")).to_be_visible()
    expect(page.locator(".blocklab-unanswered")).to_be_hidden()
    expect(stills(page)).to_be_hidden()
    slider = jupyter_lab.find_sliders(page)
    before = jupyter_lab.read_panel(slider)
    jupyter_lab.press_arrow(slider)
    jupyter_lab.wait_for_change(page, slider, before)


@pytest.mark.parametrize("small", ["en"], indirect=True)
def test_saving_again_keeps_the_picture_and_running_makes_it_live(page, address, small):
    language, saved = small
    for _ in range(2):  # the second time nothing is alive that could be saved
        jupyter_lab.save(page)
        page.evaluate(SHUT_DOWN)
        reopen(page, address, saved.name)
        expect_stills(page, language, saved)
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:insert-cell-below')")
    jupyter_lab.run_all(page)
    expect_alive(page)


@pytest.mark.parametrize("small", ["en"], indirect=True)
def test_reloaded_page_with_a_live_kernel_has_its_panel(page, address, small):
    _language, saved = small
    jupyter_lab.save(page)
    reopen(page, address, saved.name)
    expect_alive(page)


@pytest.mark.parametrize("small", ALSO_IN_CHINESE, indirect=True)
def test_panel_asks_to_run_the_cell_after_a_restart(page, small):
    language, _saved = small
    page.evaluate(RESTART)
    expect(page.locator(".blocklab-unanswered")).to_be_visible()
    expect(page.locator(".blocklab-unanswered")).to_have_text(HINT[language])
    expect(stills(page)).to_be_hidden()
    jupyter_lab.run_all(page)
    expect_alive(page)
