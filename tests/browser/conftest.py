"""One JupyterLab in one page of a Chromium for all browser tests."""

import shutil
from pathlib import Path

import matplotlib
import nbformat
import pytest

from authoring import jupyter_lab
from authoring.cell_deps import bound_and_read, needed_cells
from authoring.jupyter_server import LAB, serve
from authoring.lesson_panels import SOURCES, STAND_INS, run_panels
from blocklab_course.i18n import LANGUAGES, set_language
from blocklab_course.panel import Panel
from blocklab_course.panel.live_view import AHEAD

ROOT = Path(__file__).parents[2]
STOOD_IN = """
from authoring.jupyter_server import LAB, serve
from authoring.lesson_panels import STAND_INS
globals().update(STAND_INS["{}"])"""
VIEWPORT = {"width": 1400, "height": 1000}
IN_MAKE_TEST = "00_start_here", "02_norm_axes"  # the other lessons are marked exhaustive
PICTURES = ROOT / "artifacts" / "browser"


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory) -> Path:
    """The folder that JupyterLab serves: copies of the built lessons, and files of the tests.

    whole/ has complete copies. Outside it, all lessons but the first only have the code that their panels need, with
    stand-ins for long training and without prefetching, which takes seconds per slider; nbval runs all cells.
    """
    folder = tmp_path_factory.mktemp("notebooks")
    shutil.copytree(ROOT / "notebooks", folder / "whole")
    shutil.copytree(ROOT / "notebooks", folder, dirs_exist_ok=True)
    for language in LANGUAGES:
        for source in SOURCES[1:]:
            keep_panels(folder / language / f"{source.stem}.ipynb")
    return folder


def keep_panels(lesson: Path) -> None:
    notebook = nbformat.read(lesson, 4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    wanted = [cell.id == "setup" or "panel" in cell.metadata.get("tags", []) for cell in code]
    spare = {number for number, kept in enumerate(wanted) if not kept}
    gone = spare - needed_cells([cell.source for cell in code], spare)
    notebook.cells = [cell for number, cell in enumerate(code) if number not in gone]
    for cell in notebook.cells:
        if bound_and_read(cell.source)[0] & STAND_INS.get(lesson.stem, {}).keys():
            cell.source += STOOD_IN.format(lesson.stem)
    setup = next(cell for cell in notebook.cells if cell.id == "setup")
    setup.source = f"%env {AHEAD}=0\n{setup.source}"
    nbformat.write(notebook, lesson)


def lesson(source: Path):
    """A lesson as a parameter, whose tests are one xdist group; most lessons are exhaustive."""
    group = pytest.mark.xdist_group(source.stem)
    marks = [group] if source.stem in IN_MAKE_TEST else [group, pytest.mark.exhaustive]
    return pytest.param(source, id=source.stem, marks=marks)


@pytest.fixture(scope="session", params=map(lesson, SOURCES))
def lesson_panels(request) -> dict[tuple[int, str], Panel]:
    """The panels of a lesson by cell and language. Tests may leave them in any state."""
    with matplotlib.rc_context():
        made = run_panels(request.param)
    set_language("en")
    return made


@pytest.fixture(scope="session")
def address(notebooks, tmp_path_factory):
    with serve(LAB, notebooks, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="session")
def desk(chromium, address):  # noqa: ARG001  the server must run while the page is open
    """The page of all tests, because loading JupyterLab takes as long as most tests."""
    page = chromium.new_page()
    page.set_default_timeout(60_000)
    yield page
    page.close()


@pytest.fixture
def kept(desk, request):
    """The page. If a test fails, a screenshot is saved under artifacts/browser."""
    desk.set_viewport_size(VIEWPORT)
    failed = request.session.testsfailed
    yield desk
    if request.session.testsfailed == failed:
        return
    PICTURES.mkdir(parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() else "_" for c in request.node.name.removeprefix("test_")).strip("_")
    desk.screenshot(path=PICTURES / f"{name}.png")


@pytest.fixture
def page(kept):
    """The page with nothing open in it."""
    jupyter_lab.close_all(kept)
    return kept
