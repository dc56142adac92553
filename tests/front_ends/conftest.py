"""Notebook 7, and Notebook 6.5 with Colab's ipywidgets 7, each with live and with fallback panels.

Notebook 7 is in `.venv-front-ends` and uses this environment's kernel; Notebook 6.5 and its kernel are in
`.venv-colab`. `make front-ends` creates both.
"""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from authoring import jupyter_lab, jupyter_server
from blocklab_course.panel import backend

ROOT = Path(__file__).parents[2]
SERVERS, COLAB = (ROOT / folder / "bin" / "python" for folder in (".venv-front-ends", ".venv-colab"))
LESSON = "10_positional_encoding.ipynb"  # six panels and no slow cell
PICTURES = ROOT / "artifacts" / "front_ends"

NOTEBOOK_6_IS_READY = "() => window.Jupyter?.notebook?.kernel?.is_connected() && Jupyter.notebook.kernel.widget_manager"
# ipywidgets 7 asks a new kernel for its widgets and then redraws all outputs. Wait for that.
WAIT_FOR_WIDGETS = """async () => {
    for (let trip = 0; trip < 3; trip++)
        await new Promise(done => Jupyter.notebook.kernel.execute('0', { shell: { reply: done } }));
}"""
NOTEBOOK_6_IS_IDLE = "() => !document.querySelector('.code_cell.running')"


def run_in_notebook_7(page: Page) -> None:
    jupyter_lab.wait_until(page, jupyter_lab.KERNEL_IS_IDLE)
    jupyter_lab.run_all(page)
    page.keyboard.press("Escape")


def run_in_notebook_6(page: Page) -> None:
    jupyter_lab.wait_until(page, NOTEBOOK_6_IS_READY)
    page.evaluate(WAIT_FOR_WIDGETS)
    page.evaluate("() => Jupyter.notebook.execute_all_cells()")
    jupyter_lab.wait_until(page, NOTEBOOK_6_IS_IDLE)
    page.keyboard.press("Escape")


@dataclass(frozen=True)
class FrontEnd:
    """A notebook server, the Pythons of server and kernel, and how to read cells from its pages."""

    program: jupyter_server.Program
    python: Path
    kernel: Path
    run: Callable[[Page], None]  # runs all cells, then goes back to command mode
    inputs: str  # selector of the cells' code
    cells: str  # an expression: the selected cell, the mode, and each cell's kind and code


FRONT_ENDS = {
    "notebook_7": FrontEnd(
        jupyter_server.NOTEBOOK_7,
        SERVERS,
        Path(sys.executable),
        run_in_notebook_7,
        ".jp-InputArea-editor",
        """(({ activeCellIndex, mode, widgets }) => [activeCellIndex, mode, widgets.map(({ model }) =>
            [model.type, model.sharedModel.source])])(window.jupyterapp.shell.currentWidget.content)""",
    ),
    "notebook_6": FrontEnd(
        jupyter_server.NOTEBOOK_6,
        COLAB,
        COLAB,
        run_in_notebook_6,
        ".input_area",
        """(notebook => [notebook.get_selected_index(), notebook.mode, notebook.get_cells().map(cell =>
            [cell.cell_type, cell.get_text()])])(Jupyter.notebook)""",
    ),
}

CELLS = [
    """
from blocklab_course.i18n import Text
from blocklab_course import begin
from blocklab_course.panel import Choice, Prediction, Panel, Slider
from blocklab_course.panel.drag import draggable

begin("en", panels="KIND")

def picture(figure):
    axes = figure.subplots()
    axes.set_ylim(-3, 13)
    line = axes.plot([0, 1], [0, 0], animated=True)[0]
    dot = axes.plot([0.5], [0], "o", markersize=12, animated=True)[0]
    draggable(dot, "height", lambda height: (0.5, height))
    def update(height, tilt):
        line.set_ydata([height - (tilt or 0), height + (tilt or 0)])
        dot.set_ydata([height])
        return f"height {height}, tilt {tilt}"
    return update

def panel(**asked):
    height = Slider(0, 10, 1, value=3, label=Text(en="how high the line lies", zh="这条线有多高"))
    tilt = Choice({Text(en="up", zh="向上"): 2, Text(en="down", zh="向下"): -2}, None)
    return Panel(picture, size=(6, 3), height=height, tilt=tilt, **asked)

def guess():
    options = {Text(en="it rises", zh="升高"): "rises", Text(en="it falls", zh="降低"): "falls"}
    return Prediction(options, right="rises", explanation=Text(en="It rises.", zh="它会升高。"))
""",
    "panel()",
    "panel(guess=guess())",
    "panel(guess=guess())",
]


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("notebooks")
    for kind in backend.KINDS:
        jupyter_lab.write_notebook(folder / f"{kind}.ipynb", [cell.replace("KIND", kind) for cell in CELLS])
    shutil.copy(ROOT / "notebooks" / "en" / LESSON, folder)
    return folder


@pytest.fixture(scope="session", params=FRONT_ENDS)
def front_end(request) -> FrontEnd:
    found = FRONT_ENDS[request.param]
    for python in (found.python, found.kernel):
        if not python.exists():
            pytest.skip(f"no {python.parents[1].name}: make front-ends")
    return found


@pytest.fixture(scope="session")
def address(front_end, notebooks, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with jupyter_server.serve(front_end.program, notebooks, home, front_end.python, front_end.kernel) as address:
        yield address


def opened(chromium, front_end, address, name: str) -> Page:
    """Open a notebook in a new page and run it."""
    page = chromium.new_page(viewport={"width": 1200, "height": 1000})
    page.set_default_timeout(60_000)
    page.goto(address.format(path=name))
    front_end.run(page)
    return page


@pytest.fixture(scope="session", params=backend.KINDS)
def kind(request) -> str:
    return request.param


@pytest.fixture(scope="session")
def page_of_kind(chromium, front_end, address, kind):
    page = opened(chromium, front_end, address, f"{kind}.ipynb")
    expect(page.locator(".blocklab-panel")).to_have_count(len(CELLS) - 1, timeout=60_000)
    yield page
    page.close()


@pytest.fixture
def page(page_of_kind, request):
    """The page of this kind of panels, with the first panel reset. Saves a screenshot after the test."""
    page_of_kind.locator(".blocklab-panel").first.get_by_role("button", name="Reset").click()
    yield page_of_kind
    keep(page_of_kind, request.node.name)


@pytest.fixture
def lesson(chromium, front_end, address, request):
    page = opened(chromium, front_end, address, LESSON)
    yield page
    keep(page, request.node.name)
    page.close()


def keep(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{''.join(c if c.isalnum() else '_' for c in name).strip('_')}.png")
