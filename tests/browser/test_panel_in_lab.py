"""A small panel in a real JupyterLab: keyboard, number box, choice, reset, an error, what a saved notebook shows."""

import nbclient
import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from workshop import lab

pytestmark = pytest.mark.xdist_group("panel")

CELL = """
from blocklab.lessons import begin
from blocklab.language import Text
from blocklab.panel import Choice, Panel, Slider

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


@pytest.fixture
def live(kept, address, notebooks):
    """The page with the panel alive in it, made anew; its kernel stays from test to test."""
    if not (notebooks / "panel.ipynb").exists():
        lab.write_notebook(notebooks / "panel.ipynb", [CELL])
        lab.close_all(kept)
    lab.open_notebook(kept, address, "panel.ipynb")
    lab.run_all(kept)
    assert lab.errors(kept) == []
    lab.wait_for_panels(kept)
    return kept


def line(page):
    return page.get_by_role("status")


def picture_after(page, move) -> str:
    """Do `move` and return the new picture's address; fails if there is none."""
    image = page.locator(".blocklab-panel img")
    old = image.get_attribute("src")
    move()
    expect(image).not_to_have_attribute("src", old)
    return image.get_attribute("src")


def test_keyboard_moves_slider_box_picture_and_line(live):
    slider, box = live.get_by_role("slider"), live.get_by_role("spinbutton")
    slider.focus()
    picture_after(live, lambda: slider.press("ArrowRight"))
    expect(line(live)).to_have_text("height 4, tilt None")
    expect(box).to_have_value("4")
    picture_after(live, lambda: slider.press("ArrowLeft"))
    expect(line(live)).to_have_text("height 3, tilt None")


def test_number_box_moves_the_slider_and_knows_its_range(live):
    slider, box = live.get_by_role("slider"), live.get_by_role("spinbutton")
    box.fill("6")
    picture_after(live, lambda: box.press("Enter"))
    expect(line(live)).to_have_text("height 6, tilt None")
    expect(slider).to_have_attribute("aria-valuenow", "6.0")
    box.fill("99")
    box.press("Enter")
    expect(line(live)).to_have_text("height 10, tilt None")
    expect(box).to_have_value("10")


def test_reset_takes_everything_back(live):
    live.get_by_role("slider").press("ArrowRight")
    expect(line(live)).to_have_text("height 4, tilt None")
    picture_after(live, lambda: live.get_by_role("button", name="向下").click())
    expect(line(live)).to_have_text("height 4, tilt -2")
    live.get_by_role("button", name="重置").click()
    expect(line(live)).to_have_text("height 3, tilt None")
    expect(live.get_by_role("spinbutton")).to_have_value("3")


def test_an_error_stands_under_the_picture_until_the_next_good_move(live):
    box = live.get_by_role("spinbutton")
    box.fill("7")
    box.press("Enter")
    expect(line(live)).to_contain_text("无法画出图像。ArithmeticError：seven never works")
    box.fill("8")
    picture_after(live, lambda: box.press("Enter"))
    expect(line(live)).to_have_text("height 8, tilt None")


def test_labels_are_whole_and_nothing_sticks_out_of_a_narrow_page(live):
    for width in (1400, 520):
        live.set_viewport_size({"width": width, "height": 1000})
        for label in live.locator(".blocklab-panel .widget-label").all():
            assert label.evaluate("node => node.scrollWidth <= node.clientWidth"), label.inner_text()
        image = live.locator(".blocklab-panel img").evaluate("n => [n.clientWidth, n.clientHeight, n.naturalWidth]")
        assert image[0] == pytest.approx(2 * image[1], abs=1.5)
        assert image[0] <= 600
    assert image[0] < 520


def test_what_axe_finds_is_what_ipywidgets_cannot_name(live):
    found = Axe().run(live.locator(".blocklab-panel").page, context=".blocklab-panel").response["violations"]
    assert {finding["id"] for finding in found} <= {"aria-input-field-name", "image-alt", "label"}


def test_a_saved_notebook_shows_the_picture_before_any_cell_runs(page, address, notebooks):
    lab.write_notebook(notebooks / "saved.ipynb", [CELL])
    notebook = nbformat.read(notebooks / "saved.ipynb", 4)
    nbclient.NotebookClient(notebook, store_widget_state=False).execute()
    output = notebook.cells[0].outputs[0]
    assert output.data["text/plain"] == "height 3, tilt None"
    nbformat.write(notebook, notebooks / "saved.ipynb")
    lab.open_notebook(page, address, "saved.ipynb")
    image = page.locator(".jp-OutputArea-output img")
    expect(image).to_be_visible()
    sizes = image.evaluate("image => [image.naturalWidth, image.clientWidth]")
    assert sizes == [1200, 600]
    lab.run_all(page)
    lab.wait_for_panels(page)
    expect(page.get_by_role("slider")).to_be_visible()
