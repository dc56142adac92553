"""Fixtures and settings for all tests; with --fail-on-skip, skipped tests fail."""

import gc
import linecache
import os
from collections.abc import Callable
from itertools import count

import matplotlib
import pytest
from hypothesis import settings
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# One thread, also in subprocesses: on a busy machine, threads wait for each other. torch reads this when imported.
os.environ["OMP_NUM_THREADS"] = "1"

# The same examples in every run, without a time limit, because a shared machine can be slow.
settings.register_profile("blocklab", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("blocklab")

GPU = "needs a CUDA device"  # start of the skip reason that --fail-on-skip allows


def pytest_addoption(parser):
    parser.addoption("--fail-on-skip", action="store_true", help="fail skipped tests, except those that need a GPU")
    parser.addoption("--site", metavar="DIR", help="the built site to test; otherwise one is written first")


def pytest_collection_finish():
    """Keep the garbage collector from scanning thousands of collected tests."""
    gc.collect()
    gc.freeze()
    gc.unfreeze = lambda: None  # `begin` would undo it
    gc.set_threshold(50_000, 20, 100)


def pytest_collection_modifyitems(items):
    """Run browser tests last: Playwright's event loop keeps running, and some other tests start their own."""
    items.sort(key=lambda item: "chromium" in getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    return fail_on_skip((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return fail_on_skip((yield), collector.config)


def fail_on_skip(report, config):
    if report.skipped and not hasattr(report, "wasxfail") and config.getoption("--fail-on-skip"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith(GPU):
            report.outcome, report.longrepr = "failed", f"skipped despite --fail-on-skip: {reason}"
    return report


@pytest.fixture(scope="session")
def chromium():
    """A real browser. Tests that need it are skipped without one."""
    from authoring import chromium  # playwright is not installed everywhere

    if reason := chromium.reason_without_chromium():
        pytest.skip(reason)
    with chromium.chromium() as browser:
        yield browser


@pytest.fixture
def rng():
    import torch

    return torch.Generator().manual_seed(0)


@pytest.fixture
def figure() -> Figure:
    figure = Figure(figsize=(10, 5))
    FigureCanvasAgg(figure)
    return figure


@pytest.fixture
def lesson_undone():
    """Undo what `begin` sets: language, font, threads."""
    import torch

    from blocklab_course import i18n  # some tests replace the package

    threads = torch.get_num_threads()
    with matplotlib.rc_context():
        yield
    i18n.set_language("en")
    torch.set_num_threads(threads)


@pytest.fixture
def english_again():
    """Reset the language after the test."""
    from blocklab_course import i18n

    yield
    i18n.set_language("en")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A learner's folder. The working directory is its folder of English lessons."""
    folder = tmp_path / "my"
    for language in ("en", "zh"):
        (folder / language).mkdir(parents=True)
    monkeypatch.chdir(folder / "en")
    return folder


@pytest.fixture
def notebook(mine) -> Callable[[str], dict]:  # noqa: ARG001
    """A function that runs the code of a cell, as in a learner's notebook, and returns its global names."""
    names, numbers = {"__name__": "__main__"}, count()

    def run(source: str) -> dict:
        file = f"<cell {next(numbers)}>"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        exec(compile(source, file, "exec", dont_inherit=True), names)
        return names

    return run
