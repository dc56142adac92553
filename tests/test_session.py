import gc
import io
import subprocess
import sys
import tomllib
import weakref
from contextlib import redirect_stdout
from importlib import metadata
from pathlib import Path

import matplotlib
import pytest
import torch
from matplotlib.figure import Figure

from blocklab_course import begin, i18n, progress_bar
from blocklab_course.dependencies import REQUIRED, MissingPackages
from blocklab_course.i18n import Text

UNFREEZE = gc.unfreeze  # the original; conftest.py replaces it
STEPS = Text(en="steps", zh="步数")


pytestmark = pytest.mark.usefixtures("lesson_undone")


def test_begin_sets_language_and_font():
    begin("zh")
    assert i18n.get_language() == "zh"
    assert matplotlib.rcParams["font.family"] == ["Blocklab Sans SC", "DejaVu Sans"]
    begin("en")
    assert i18n.get_language() == "en"
    assert matplotlib.rcParams["font.family"] == ["Blocklab Sans", "DejaVu Sans"]


def test_chinese_font_has_all_glyphs(tmp_path):
    begin("zh")
    figure = Figure()
    figure.suptitle("均值 μ、方差 σ² 与 −1，$\\sigma^2 + \\varepsilon$")
    figure.savefig(tmp_path / "figure.png")


def test_begin_sets_random_seed():
    begin("en")
    first = torch.randn(3)
    begin("zh")
    assert torch.equal(torch.randn(3), first)


def test_second_begin_collects_garbage(monkeypatch):
    monkeypatch.setattr(gc, "unfreeze", UNFREEZE)

    class Ring:
        pass

    ring = Ring()
    ring.itself = ring
    begin("en")  # freezes all objects
    gone = weakref.ref(ring)
    del ring
    gc.collect()
    assert gone() is not None
    begin("en")
    assert gone() is None


def test_unknown_language_changes_nothing():
    family = list(matplotlib.rcParams["font.family"])
    with pytest.raises(ValueError, match="got 'de'"):
        begin("de")
    assert matplotlib.rcParams["font.family"] == family


MISSING_HERE = """
import sys
from importlib import util
from importlib.abc import MetaPathFinder

gone = set({gone})
find = util.find_spec
util.find_spec = lambda name, package=None: None if name in gone else find(name, package)
class Gone(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in gone:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Gone())
from blocklab_course import begin
from blocklab_course.dependencies import MissingPackages
try:
    begin({language!r})
except MissingPackages as missing:
    print("\\n".join(missing._render_traceback_()))
"""


@pytest.mark.parametrize(
    ("gone", "language", "message"),
    [
        (
            {"torch"},
            "en",
            'This Python lacks what the lessons need: torch. Run %pip install "torch>=2.9" in a new cell, ',
        ),
        ({"PIL", "matplotlib"}, "zh", "这个 Python 里缺少课程需要的软件包：matplotlib、pillow。请在新单元格里运行 "),
    ],
)
def test_begin_reports_missing_packages_in_one_line(gone, language, message):
    program = MISSING_HERE.format(gone=sorted(gone), language=language)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8")
    assert (done.stdout.startswith(message), done.stdout.count("\n"), done.stderr) == (True, 1, "")


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "torch 2.9 or newer (2.4.1+cpu is here), pillow 11 or newer (9.5 is here). Run "),
        ("zh", "torch 2.9 或更新的版本（现在是 2.4.1+cpu）、pillow 11 或更新的版本（现在是 9.5）。请在新单元格里运行 "),
    ],
)
def test_begin_reports_old_packages_with_both_versions(language, message, monkeypatch):
    here = {"torch": "2.4.1+cpu", "pillow": "9.5", "numpy": "2.0.0rc1", "anywidget": "0.10"}
    monkeypatch.setattr(metadata, "version", lambda name: here.get(name, "99"))
    with pytest.raises(MissingPackages) as missing:
        begin(language)
    assert message in str(missing.value)
    assert '%pip install "torch>=2.9" "pillow>=11"' in str(missing.value)


def test_packages_without_metadata_are_accepted(monkeypatch):
    def unknown(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", unknown)
    begin("en")


def test_required_packages_are_the_dependencies_in_pyproject():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert {f"{package.name}{package.versions}" for package in REQUIRED} == {*project["dependencies"]}


def rendered(text: str) -> str:
    """The text that a notebook shows: a carriage return overwrites the line."""
    return "\n".join(line.rsplit("\r", 1)[-1] for line in text.split("\n"))


@pytest.mark.parametrize("every", [0.0, 1e9])
def test_progress_bar_output_does_not_depend_on_timing(every):
    out = io.StringIO()
    with redirect_stdout(out):
        seen = list(progress_bar(range(7), STEPS, every=every))
    assert seen == list(range(7))
    assert rendered(out.getvalue()) == "steps: 7 of 7\n"


def test_progress_bar_counts_finished_items():
    out = io.StringIO()
    with redirect_stdout(out):
        for _ in progress_bar(range(2), STEPS, every=0.0):
            pass
    assert out.getvalue().split("\r")[1:] == ["steps: 0 of 2", "steps: 1 of 2", "steps: 2 of 2\n"]


def test_progress_bar_requires_a_length():
    with pytest.raises(TypeError, match="len"):
        list(progress_bar(iter([1]), STEPS))
