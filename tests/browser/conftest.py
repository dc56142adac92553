"""One JupyterLab in one page of a Chromium for all browser tests. Without a Chromium they are skipped."""

import shutil
from pathlib import Path

import pytest

from workshop import chromium as browser_of
from workshop import lab

ROOT = Path(__file__).parents[2]
VIEWPORT = {"width": 1400, "height": 1000}
PICTURES = ROOT / "artifacts" / "browser"


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory) -> Path:
    """The folder that JupyterLab serves: copies of the built lessons, and whatever a test puts there."""
    folder = tmp_path_factory.mktemp("notebooks")
    for language in ("en", "zh"):
        shutil.copytree(ROOT / "notebooks" / language, folder / language)
    return folder


@pytest.fixture(scope="session")
def chromium():
    if reason := browser_of.reason_without_chromium():
        pytest.skip(reason)
    with browser_of.chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def address(notebooks, tmp_path_factory):
    with lab.jupyter_lab(notebooks, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="session")
def desk(chromium, address):  # noqa: ARG001  the server has to run while the page is open
    """The page of all tests: to load JupyterLab takes as long as most of them."""
    page = chromium.new_page()
    page.set_default_timeout(60_000)
    yield page
    page.close()


@pytest.fixture
def kept(desk, request):
    """The page; what it shows in the end is kept under artifacts/browser."""
    desk.set_viewport_size(VIEWPORT)
    yield desk
    PICTURES.mkdir(parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() else "_" for c in request.node.name.removeprefix("test_")).strip("_")
    desk.screenshot(path=PICTURES / f"{name}.png")


@pytest.fixture
def page(kept):
    """The page with nothing open in it."""
    lab.close_all(kept)
    return kept
