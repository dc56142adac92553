"""A small panel in a real JupyterLab: keyboard, number box, choice, reset, an error, what a saved notebook shows."""

import nbclient
import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from blocklab.panel import front
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


@pytest.fixture(params=front.KINDS)
def shown(request, kept, address, notebooks):
    """The page with the panel in it, living or plain, made anew; its kernel stays from test to test."""
    file = notebooks / f"{request.param}.ipynb"
    if not file.exists():
        lab.write_notebook(file, [CELL.replace('"zh"', f'"zh", panels="{request.param}"')])
        lab.close_all(kept)
    lab.open_notebook(kept, address, file.name)
    lab.run_all(kept)
    assert lab.errors(kept) == []
    lab.wait_for_panels(kept)
    return kept


def line(page):
    return page.locator(".blocklab-panel:visible").get_by_role("status")


def parts(page):
    """The slider and its number box."""
    panel = page.locator(".blocklab-panel:visible")
    return panel.get_by_role("slider"), panel.get_by_role("spinbutton")


def after(page, move) -> None:
    """Do `move`; fails if the picture stays as it is."""
    slider, _ = parts(page)
    before = lab.seen(slider)
    move()
    page.wait_for_function(lab.CHANGED, arg=[slider.element_handle(), before])


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


def test_number_box_moves_the_slider_and_knows_its_range(shown):
    slider, box = parts(shown)
    box.fill("6")
    after(shown, lambda: box.press("Enter"))
    expect(line(shown)).to_have_text("height 6, tilt None")
    assert place(slider) == 6
    box.fill("99")
    box.press("Enter")
    expect(line(shown)).to_have_text("height 10, tilt None")
    expect(box).to_have_value("10")


def test_reset_takes_everything_back(shown):
    slider, box = parts(shown)
    slider.press("ArrowRight")
    expect(line(shown)).to_have_text("height 4, tilt None")
    after(shown, lambda: shown.get_by_role("button", name="向下").click())
    expect(line(shown)).to_have_text("height 4, tilt -2")
    shown.get_by_role("button", name="重置").click()
    expect(line(shown)).to_have_text("height 3, tilt None")
    expect(box).to_have_value("3")


def test_an_error_stands_under_the_picture_until_the_next_good_move(shown):
    _slider, box = parts(shown)
    box.fill("7")
    box.press("Enter")
    expect(line(shown)).to_contain_text("无法画出图像。ArithmeticError：seven never works")
    box.fill("8")
    after(shown, lambda: box.press("Enter"))
    expect(line(shown)).to_have_text("height 8, tilt None")


def test_labels_are_whole_and_nothing_sticks_out_of_a_narrow_page(shown):
    for width in (1400, 760):  # in the second JupyterLab leaves the output as much as a phone has
        shown.set_viewport_size({"width": width, "height": 1000})
        panel = shown.locator(".blocklab-panel:visible")
        for label in panel.locator(".widget-label, .blocklab-label").all():
            assert label.evaluate("node => node.scrollWidth <= node.clientWidth + 1"), label.inner_text()
        picture = panel.locator("img, .blocklab-picture > svg")
        box = picture.bounding_box()
        assert box["width"] == pytest.approx(2 * box["height"], abs=1.5)
        assert box["width"] <= 600
        assert panel.evaluate("node => node.scrollWidth <= node.clientWidth + 4")


def test_what_axe_finds_is_what_ipywidgets_cannot_name(shown):
    found = Axe().run(shown, context=".blocklab-panel").response["violations"]
    plain = {"aria-input-field-name", "image-alt", "label"}
    allowed = set() if shown.locator(".blocklab-picture:visible").count() else plain
    assert {finding["id"] for finding in found} <= allowed


def test_a_saved_notebook_shows_the_picture_before_any_cell_runs(page, address, notebooks):
    lab.write_notebook(notebooks / "saved.ipynb", [CELL])
    notebook = nbformat.read(notebooks / "saved.ipynb", 4)
    nbclient.NotebookClient(notebook, store_widget_state=False).execute()
    output = notebook.cells[0].outputs[0]
    assert output.data["text/plain"] == "height 3, tilt None"
    nbformat.write(notebook, notebooks / "saved.ipynb")
    lab.open_notebook(page, address, "saved.ipynb")
    image = page.locator(".jp-OutputArea-output img:visible")
    expect(image).to_be_visible()
    sizes = image.evaluate("image => [image.naturalWidth, image.clientWidth]")
    assert sizes == [1200, 600]
    lab.run_all(page)
    lab.wait_for_panels(page)
    expect(page.locator("[role=main] .blocklab-panel:visible").get_by_role("slider")).to_be_visible()
