"""A question without a figure in JupyterLab: answered once, saved, and still to be read in the reopened notebook."""

import json

import pytest
from playwright.sync_api import expect

from authoring import jupyter_lab
from blocklab_course.panel import backend

pytestmark = pytest.mark.xdist_group("panel")

ASKED = (
    """predict("{kind}_sum", {{"it grows": True, "it stays": False}}, why="Squares are added.", question="The sum?")"""
)
NUMBER = """predict("{kind}_half", 6.6, within=0.1, why="It halves.")"""


@pytest.mark.parametrize("kind", backend.KINDS)
def test_answers_are_saved_and_the_notebook_keeps_the_question(page, address, notebooks, kind):
    path = f"asks/my/en/{kind}.ipynb"
    begin = f'from blocklab_course import begin, predict\nbegin("en", panels="{kind}")'
    jupyter_lab.write_notebook(notebooks / path, [begin, ASKED.format(kind=kind), NUMBER.format(kind=kind)])
    jupyter_lab.open_notebook(page, address, path)
    jupyter_lab.run_all(page)
    jupyter_lab.wait_for_panels(page)
    assert jupyter_lab.list_errors(page) == []
    expect(page.get_by_text("Run the cell to answer").first).to_be_hidden()
    choices, number = page.locator(".blocklab-alone:visible").all()
    choices.get_by_role("button", name="it stays").click()
    expect(choices).to_contain_text("“it stays”, is not right. Squares are added.")
    expect(choices.get_by_role("button", name="it grows")).to_be_disabled()
    number.get_by_role("spinbutton" if kind == "live" else "textbox").fill("6.5")
    number.get_by_role("button", name="Guess").click()
    expect(number).to_contain_text("“6.5”, is right. It halves.")
    jupyter_lab.save(page)
    lines = (notebooks / "asks/my/predictions.jsonl").read_text("utf-8").splitlines()
    assert [(line["panel"], line["right"]) for line in map(json.loads, lines[-2:])] == [
        (f"{kind}_sum", False),
        (f"{kind}_half", True),
    ]
    jupyter_lab.close_all(page)
    jupyter_lab.load_notebook(page, address, path)
    expect(page.locator(".blocklab-still:visible")).to_have_count(2)
    expect(page.get_by_text("○ it stays")).to_be_visible()
    expect(page.locator(".blocklab-still").get_by_text("Squares are added")).to_have_count(0)
