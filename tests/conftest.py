"""What all tests share: one thread, the same examples each time, and in the whole gate nothing skipped."""

import gc
import os

import matplotlib
import pytest
from hypothesis import settings
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# One thread in this process and in those that tests start: on a busy machine two wait for each other. torch reads it
# when it is imported, which the processes that only hand out tests never do.
os.environ["OMP_NUM_THREADS"] = "1"

# Same examples in every run, and no time limit on one of them: a shared machine is slow at times.
settings.register_profile("blocklab", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("blocklab")

GPU = "wants a CUDA device"  # how the reason begins of the only tests that the whole gate may skip


def pytest_addoption(parser):
    parser.addoption("--whole-gate", action="store_true", help="a test that is skipped fails, but for want of a GPU")
    parser.addoption("--site", metavar="DIR", help="the built site to look through; else one is written first")


def pytest_collection_finish(session):
    """The thousands of tests stay to the end: the garbage collector need not look through them, and less often at all.

    Nor when a lesson begins, which has it look again at what an earlier lesson has left: a second of work each time.

    Tests that share a page or a lesson are one group, which pytest-xdist keeps in one process: it tells by the test's
    name, to which it adds the group's, in vain from pytest 9.2 on.
    """
    gc.collect()
    gc.freeze()
    gc.unfreeze = lambda: None
    gc.set_threshold(50_000, 20, 100)
    grouped = [item for item in session.items if item.get_closest_marker("xdist_group")]
    if getattr(session.config.option, "loadgroup", False) and not all("@" in item.nodeid for item in grouped):
        raise pytest.UsageError(f"pytest-xdist does not group tests with pytest {pytest.__version__}; 9.1 would do")


def pytest_collection_modifyitems(items):
    """Those in a browser come last: its event loop goes on to the end, and some of the others start their own."""
    items.sort(key=lambda item: "chromium" in getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    return held_to_the_whole_gate((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return held_to_the_whole_gate((yield), collector.config)


def held_to_the_whole_gate(report, config):
    """The report of a test or a file, failed if it was skipped where nothing may be."""
    if report.skipped and not hasattr(report, "wasxfail") and config.getoption("--whole-gate"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith(GPU):
            report.outcome, report.longrepr = "failed", f"skipped, which the whole gate may not: {reason}"
    return report


@pytest.fixture(scope="session")
def chromium():
    """A real browser. Where there is none, what wants one is skipped."""
    from workshop import chromium  # here, for playwright is not everywhere where tests run

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
    """Takes back what `lesson.begin` sets: language, font, threads."""
    import torch

    from blocklab import language  # here, for some tests put another package of that name in its place

    threads = torch.get_num_threads()
    with matplotlib.rc_context():
        yield
    language.choose("en")
    torch.set_num_threads(threads)


@pytest.fixture
def english_again():
    """Takes back the language that a test has chosen."""
    from blocklab import language

    yield
    language.choose("en")
