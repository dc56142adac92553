"""A small panel in JupyterLab: keyboard, number box, choice, reset, an error, and a saved notebook."""

import re

import nbclient
import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from authoring import jupyter_lab
from blocklab_course.panel import backend

pytestmark = pytest.mark.xdist_group("panel")

CELL = """
from blocklab_course import begin
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Slider

begin("zh")

def picture(figure):
    line = figure.subplots().plot([0, 1], [0, 0], animated=True)[0]
    line.axes.set_ylim(-1, 11)
    def update(height, tilt):
        line.set_ydata([height, height + (tilt or 0)])
        if height == 7:
            raise ArithmeticError("seven never works")
        return f"height {height}, tilt {tilt}"
    return update

height = Slider(0, 10, 1, value=3, label=Text(en="how high the line lies", zh="这条线有多高"))
tilt = Choice({Text(en="up", zh="向上"): 2, Text(en="down", zh="向下"): -2}, None, label=Text(en="tilt", zh="倾斜"))
Panel(picture, size=(6, 3), height=height, tilt=tilt)
"""


ASKING = """
from blocklab_course.panel import Prediction
from blocklab_course.panel.drag import draggable

def held(figure):
    update = picture(figure)
    draggable(figure.axes[0].lines[0], "height", lambda height: (0.5, height))
    return lambda height: update(height, 0)

guess = Prediction({"it rises": 1, "it sinks": 0}, right=1, explanation="It rises.")
Panel(held, size=(6, 3), height=Slider(0, 10, 1, value=3, label="height"), guess=guess)
"""
ADD = "cells => window.jupyterapp.shell.currentWidget.content.model.sharedModel.insertCells(1, cells)"
TAKE_BACK = """() => {
    const { content } = window.jupyterapp.shell.currentWidget, cells = content.model.sharedModel;
    content.notebookConfig = { ...content.notebookConfig, windowingMode: "none" };
    while (cells.getCell(0).cell_type !== "code") cells.deleteCell(0);  // the panel's has moved down
    cells.deleteCellRange(1, cells.cells.length);
}"""
WINDOWED = """() => {
    const { content } = window.jupyterapp.shell.currentWidget;
    content.notebookConfig = { ...content.notebookConfig, windowingMode: "full" };
}"""
SCROLL_TO = "cell => window.jupyterapp.shell.currentWidget.content.scrollToItem(cell, 'start')"
MOVE_DOWN = """() => {
    window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0;
    return window.jupyterapp.commands.execute("notebook:move-cell-down");
}"""
LIVING = "[role=main] .blocklab-panel:has(.blocklab-picture)"
IS_AWAY = f"() => !document.querySelector('{LIVING}')?.checkVisibility({{ checkOpacity: true }})"
HEAR = """() => {  // the states that the page requests
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    window.asked = [];
    kernel.anyMessage.connect((_, { direction, msg }) => {
        if (direction === "send" && msg.content?.data?.method === "custom") asked.push(msg.content.data.content.at[0]);
    });
}"""


@pytest.fixture(params=backend.KINDS)
def shown(request, kept, address, notebooks):
    """The page with a new live or fallback panel. The kernel is shared by the tests."""
    file = notebooks / f"{request.param}.ipynb"
    if not file.exists():
        jupyter_lab.write_notebook(file, [CELL.replace('"zh"', f'"zh", panels="{request.param}"')])
        jupyter_lab.close_all(kept)
    jupyter_lab.open_notebook(kept, address, file.name)
    jupyter_lab.run_all(kept)
    assert jupyter_lab.list_errors(kept) == []
    jupyter_lab.wait_for_panels(kept)
    return kept


def line(page):
    return page.locator(".blocklab-panel:visible").get_by_role("status")


def parts(page):
    """The slider and its number box."""
    panel = page.locator(".blocklab-panel:visible")
    return panel.get_by_role("slider"), panel.get_by_role("spinbutton")


def after(page, move) -> None:
    """Call `move` and wait until the picture changes."""
    slider, _ = parts(page)
    before = jupyter_lab.read_panel(slider)
    move()
    jupyter_lab.wait_for_change(page, slider, before)


def place(slider) -> float:
    return slider.evaluate("node => Number(node.getAttribute('aria-valuenow') ?? node.value)")


def test_keyboard_moves_slider_box_picture_and_line(shown):
    slider, box = parts(shown)
    slider.focus()
    after(shown, lambda: slider.press("ArrowRight"))
    expect(line(shown)).to_have_text("height 4, tilt None")
    expect(box).to_have_value("4")
    after(shown, lambda: slider.press("ArrowLeft"))
    expect(line(shown)).to_have_text("height 3, tilt None")


def test_number_box_moves_the_slider_and_clamps(shown):
    slider, box = parts(shown)
    box.fill("6")
    after(shown, lambda: box.press("Enter"))
    expect(line(shown)).to_have_text("height 6, tilt None")
    assert place(slider) == 6
    box.fill("99")
    box.press("Enter")
    expect(line(shown)).to_have_text("height 10, tilt None")
    expect(box).to_have_value("10")


def test_reset_restores_the_defaults(shown):
    slider, box = parts(shown)
    slider.press("ArrowRight")
    expect(line(shown)).to_have_text("height 4, tilt None")
    after(shown, lambda: shown.get_by_role("button", name="向下").click())
    expect(line(shown)).to_have_text("height 4, tilt -2")
    shown.get_by_role("button", name="重置").click()
    expect(line(shown)).to_have_text("height 3, tilt None")
    expect(box).to_have_value("3")


def test_error_shows_under_the_picture_until_the_next_good_move(shown):
    _slider, box = parts(shown)
    box.fill("7")
    box.press("Enter")
    expect(line(shown)).to_contain_text("无法画出图像。ArithmeticError：seven never works")
    box.fill("8")
    after(shown, lambda: box.press("Enter"))
    expect(line(shown)).to_have_text("height 8, tilt None")


def test_narrow_page_cuts_off_nothing(shown):
    for width in (1400, 760):  # the second leaves the output as little width as a phone has
        shown.set_viewport_size({"width": width, "height": 1000})
        panel = shown.locator(".blocklab-panel:visible")
        for label in panel.locator(".widget-label, .blocklab-label").all():
            assert label.evaluate("node => node.scrollWidth <= node.clientWidth + 1"), label.inner_text()
        picture = panel.locator("img, .blocklab-picture > svg")
        box = picture.bounding_box()
        assert box["width"] == pytest.approx(2 * box["height"], abs=1.5)
        assert box["width"] <= 600
        assert panel.evaluate("node => node.scrollWidth <= node.clientWidth + 4")


def test_axe_finds_only_known_ipywidgets_problems(shown):
    found = Axe().run(shown, context=".blocklab-panel").response["violations"]
    plain = {"aria-input-field-name", "image-alt", "label"}
    allowed = set() if shown.locator(".blocklab-picture:visible").count() else plain
    assert {finding["id"] for finding in found} <= allowed


@pytest.fixture
def more(shown):
    """A function that adds cells to the notebook; removes them after the test."""
    yield lambda *cells: shown.evaluate(ADD, [{"cell_type": kind, "source": source} for kind, source in cells])
    shown.evaluate(TAKE_BACK)


living = pytest.mark.parametrize("shown", ["live"], indirect=True)


@living
def test_panel_keeps_its_state_when_scrolled_away_or_recreated(shown, more):
    more(*[("markdown", "one line\n\n" * 30)] * 40)
    shown.evaluate(WINDOWED)
    shown.evaluate(HEAR)
    slider, _ = parts(shown)
    for _ in range(2):
        slider.press("ArrowRight")
    expect(line(shown)).to_have_text("height 5, tilt None")
    shown.wait_for_function("asked.length === 10")
    shown.evaluate(SCROLL_TO, 40)
    shown.wait_for_function(IS_AWAY)
    shown.evaluate(SCROLL_TO, 0)
    expect(line(shown)).to_have_text("height 5, tilt None")
    slider.press("ArrowRight")
    assert line(shown).inner_text() == "height 6, tilt None"
    panel = shown.query_selector(LIVING)
    shown.evaluate(MOVE_DOWN)
    panel.wait_for_element_state("hidden")  # a new one replaces it
    expect(line(shown)).to_have_text("height 6, tilt None")
    slider.press("ArrowLeft")
    assert line(shown).inner_text() == "height 5, tilt None"
    assert sorted(shown.evaluate("asked")) == [0, 1, 2, *range(4, 11)]


@living
def test_whole_panel_by_keyboard(shown, more):
    more(("code", ASKING.strip()))
    jupyter_lab.run_all(shown)
    panel = shown.locator(LIVING).last
    line, reset = panel.get_by_role("status"), panel.get_by_role("button", name="重置")

    def goes_to(target, key="Tab"):
        for _ in range(40):
            shown.keyboard.press(key)
            if target.evaluate("node => node === document.activeElement"):
                return
        raise AssertionError(f"{key} does not lead to {target}")

    def presses(*keys, says):
        for key in keys:
            shown.keyboard.press(key)
        expect(line).to_have_text(says)

    shown.keyboard.press("Escape")
    goes_to(panel.get_by_role("button", name="it rises"))
    presses("Enter", says="height 3, tilt 0")
    expect(panel.get_by_text("It rises.")).to_be_visible()
    expect(panel.locator("input[type=range]")).to_be_focused()
    presses("ArrowRight", "PageUp", says="height 5, tilt 0")
    presses("Home", says="height 0, tilt 0")
    goes_to(panel.get_by_role("button", name="播放: height"))
    presses("Enter", says=re.compile("height [3-6]"))
    shown.keyboard.press("Enter")
    goes_to(reset)
    presses("Enter", says="height 3, tilt 0")
    goes_to(panel.locator("svg").get_by_role("slider", name="height"))
    presses("ArrowUp", "ArrowUp", says="height 5, tilt 0")
    goes_to(reset, "Shift+Tab")
    presses(" ", says="height 3, tilt 0")


def test_saved_notebook_shows_the_picture_before_cells_run(page, address, notebooks):
    jupyter_lab.write_notebook(notebooks / "saved.ipynb", [CELL])
    notebook = nbformat.read(notebooks / "saved.ipynb", 4)
    nbclient.NotebookClient(notebook, store_widget_state=False).execute()
    output = notebook.cells[0].outputs[0]
    assert output.data["text/plain"] == "height 3, tilt None"
    nbformat.write(notebook, notebooks / "saved.ipynb")
    jupyter_lab.open_notebook(page, address, "saved.ipynb")
    image = page.locator(".jp-OutputArea-output img:visible")
    expect(image).to_be_visible()
    sizes = image.evaluate("image => [image.naturalWidth, image.clientWidth]")
    assert sizes == [1200, 600]
    jupyter_lab.run_all(page)
    jupyter_lab.wait_for_panels(page)
    expect(page.locator("[role=main] .blocklab-panel:visible").get_by_role("slider")).to_be_visible()
