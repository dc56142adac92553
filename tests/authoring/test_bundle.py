"""Self-contained lessons: they run alone, explain what stops them, and are small and reproducible."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from fontTools.ttLib import TTFont
from nbclient.exceptions import CellExecutionError

from authoring import bundle, bundle_unpacking, font, install_cell, notebook
from authoring.__main__ import main
from authoring.project import Project
from bare_python import COMMAND, bare_environment, run
from blocklab_course.dependencies import REQUIRED_MISSING
from blocklab_course.i18n import LANGUAGES
from blocklab_course.lessons.catalog import NOT_BUNDLED
from blocklab_course.session import FONT_MISSING

pytestmark = pytest.mark.exhaustive

PROJECT = Project(Path(__file__).parents[2])
STEMS = {"en": "00_start_here", "zh": "03_ema_momentum"}
BEGIN = "from blocklab_course import begin"
FOUND = "import blocklab; print(blocklab.__file__)"


def built(language, stem):
    return PROJECT.notebook(language, stem)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A bundle in each language."""
    out = tmp_path_factory.mktemp("single")
    paths = [str(built(language, stem)) for language, stem in STEMS.items()]
    assert main(["--root", str(PROJECT.root), "single", *paths, "--out", str(out)]) == 0
    return {language: out / language / f"{stem}.ipynb" for language, stem in STEMS.items()}


@pytest.fixture(scope="module")
def cells(files):
    """The first code cells of the bundles."""
    return {language: setup(nbformat.read(file, 4)).source for language, file in files.items()}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    return bare_environment(tmp_path_factory.mktemp("bare"))


def setup(lesson):
    return next(cell for cell in lesson.cells if cell.cell_type == "code")


class Begun:
    """The result of running a first cell in an empty folder, with an empty temporary folder."""

    def __init__(self, cell: str, folder: Path, before: str = "", **environment: str):
        for name in ("cell", "here", "temporary"):
            (folder / name).mkdir()
        file = folder / "cell" / "cell.py"
        file.write_text(f"{before}\n{cell}", "utf-8")
        settings = {"PYTHONUTF8": "1", "TMPDIR": str(folder / "temporary"), "PYTHONPATH": ""}
        done = subprocess.run(
            [*COMMAND, file],
            cwd=folder / "here",
            env=os.environ | settings | environment,
            capture_output=True,
            encoding="utf-8",
        )
        self.out, self.error = done.stdout.strip(), (done.stderr.splitlines() or [""])[-1].partition(": ")[2]
        self.left = sorted(path.name for name in ("here", "temporary") for path in (folder / name).iterdir())


# It runs


@pytest.mark.parametrize("language", LANGUAGES)
def test_bundle_runs_without_other_packages(language, files, bare, tmp_path, monkeypatch):
    for name, value in bare.items():
        monkeypatch.setenv(name, value)
    program = "from importlib.util import find_spec; print([*map(find_spec, ('blocklab', 'sklearn', 'glassllm'))])"
    there = subprocess.run([*COMMAND, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert there.stdout == "[None, None, None]\n"
    assert run(files[language], tmp_path) == []
    assert [*tmp_path.iterdir()] == []


def test_bundle_precedes_an_installed_package_and_may_run_twice(cells, tmp_path):
    (tmp_path / "blocklab").mkdir()
    (tmp_path / "blocklab" / "__init__.py").touch()
    cell = cells["en"].replace(BEGIN, FOUND).partition("\nbegin(")[0]
    begun = Begun(f"{cell}\n{cell}", tmp_path, PYTHONPATH=str(tmp_path))
    first, second = begun.out.splitlines()
    assert first == second
    assert Path(first).parents[2] == tmp_path / "temporary"
    assert (begun.error, begun.left) == ("", [])


def test_another_loaded_blocklab_is_reported_with_its_path(cells, tmp_path):
    (tmp_path / "blocklab").mkdir()
    (tmp_path / "blocklab" / "__init__.py").touch()
    begun = Begun(cells["zh"], tmp_path, "import blocklab", PYTHONPATH=str(tmp_path))
    assert begun.error == bundle.OTHER_VERSION_LOADED.zh.format(there=tmp_path / "blocklab" / "__init__.py")
    assert (begun.out, begun.left) == ("", [])


# What stops it

FULL_DISK = """
import errno, tarfile
def write_half(self, folder):
    open(folder + "/half", "w").close()
    raise OSError(errno.ENOSPC, "full")
tarfile.TarFile.extractall = write_half
"""


def line(text, language):
    """The text up to the first field."""
    return getattr(text, language).partition("{")[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_full_disk_is_reported_in_one_line_and_leaves_no_files(language, cells, tmp_path):
    begun = Begun(cells[language], tmp_path, FULL_DISK)
    assert begun.error.startswith(line(bundle.CANNOT_UNPACK, language))
    assert "{" not in begun.error
    assert (begun.out, begun.left) == ("", [])
    assert bundle_unpacking.CannotStart("Why.")._render_traceback_() == ["Why."]


def test_old_python_can_parse_the_cell_and_is_reported(cells, tmp_path):
    begun = Begun(cells["en"], tmp_path, "import sys; sys.version_info = (3, 9); sys.version = '3.9.1 (old)'")
    assert begun.error == "This lesson needs Python 3.11 or newer, this is Python 3.9.1."
    for cell in cells.values():
        ast.parse(cell, feature_version=(3, 7))


@pytest.mark.parametrize("damage", ["changed", "cut"])
def test_damaged_payload_is_reported_and_leaves_no_files(damage, cells, tmp_path):
    head, quotes, rest = cells["zh"].partition("payload='''\n")
    payload, end, tail = rest.partition("\n'''")
    middle = len(payload) // 2
    changed = payload[:middle] + ("A" if payload[middle] != "A" else "B") + payload[middle + 1 :]
    payload = changed if damage == "changed" else payload[:middle]
    begun = Begun(head + quotes + payload + end + tail, tmp_path)
    assert begun.error.startswith(line(bundle.CANNOT_UNPACK, "zh"))
    assert (begun.out, begun.left) == ("", [])


@pytest.mark.parametrize("language", LANGUAGES)
def test_missing_package_is_reported_with_the_install_command(language, cells, tmp_path):
    begun = Begun(cells[language], tmp_path)  # of a Python that has none
    assert begun.error.startswith(line(REQUIRED_MISSING, language))
    assert '%pip install "torch>=2.9" "matplotlib>=3.10"' in begun.error
    assert begun.left == []


NEEDED = """  # pretend that the needed packages are installed
import importlib.util
from unittest.mock import Mock
find = importlib.util.find_spec
importlib.util.find_spec = lambda name: find(name) if "blocklab" in name else Mock()
"""


def test_chinese_in_an_english_bundle_reports_the_missing_font(cells, tmp_path):
    begun = Begun(cells["en"].replace('begin("en")', 'begin("zh")'), tmp_path, NEEDED)
    assert begun.error == FONT_MISSING.zh
    assert begun.left == []


def test_exercise_of_another_lesson_names_that_lesson(files, bare, tmp_path, monkeypatch):
    for name, value in bare.items():
        monkeypatch.setenv(name, value)
    for language, file in files.items():
        lesson = nbformat.read(file, 4)
        asked = nbformat.v4.new_code_cell('from blocklab_course import check\n\ncheck("layer_norm", lambda x: x)')
        lesson.cells = [setup(lesson), asked]
        nbformat.write(lesson, tmp_path / "asks.ipynb")
        with pytest.raises(CellExecutionError) as stopped:
            run(tmp_path / "asks.ipynb", tmp_path)
        assert stopped.value.evalue == getattr(NOT_BUNDLED, language).format(lesson="05_layer_norm")
        assert stopped.value.traceback.endswith(f"\n{stopped.value.evalue}\n")
        assert "File" not in stopped.value.traceback


# What stands in the file


def test_the_same_lesson_gives_the_same_bytes(files, tmp_path):
    lesson = str(built("zh", STEMS["zh"]))
    command = [sys.executable, "-m", "authoring", "--root", str(PROJECT.root), "single", lesson, "--out", str(tmp_path)]
    subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": "5"}, check=True, capture_output=True)
    assert (tmp_path / "zh" / files["zh"].name).read_bytes() == files["zh"].read_bytes()


@pytest.mark.parametrize("language", LANGUAGES)
def test_bundle_differs_from_a_learner_copy_only_in_the_first_cell(language, files):
    alone, lesson = nbformat.read(files[language], 4), notebook.read(built(language, STEMS[language]))
    assert files[language].stat().st_size <= bundle.MAX_BYTES
    assert [cell.source for cell in alone.cells if cell.id != install_cell.CELL_ID] == [
        cell.source for cell in lesson.cells if cell.id != install_cell.CELL_ID
    ]
    assert setup(alone).id == install_cell.CELL_ID
    assert setup(alone).source.startswith(f"#@title {getattr(bundle.TITLE, language)}\n")
    assert setup(alone).metadata == {"jupyter": {"source_hidden": True}, "cellView": "form"}
    assert "widget-view" not in files[language].read_text("utf-8")


def test_page_without_code_is_unchanged(tmp_path):
    page = built("en", "glossary")
    assert bundle.write_bundles(PROJECT, [page], tmp_path, say=[].append) == []
    assert nbformat.read(tmp_path / "en" / page.name, 4).cells == nbformat.read(page, 4).cells


@pytest.mark.parametrize(
    ("stem", "packages"),
    [
        ("10_positional_encoding", {"positional_encoding"}),
        ("06_rms_norm", {"rms_norm"}),
        ("five_notes", set()),
        ("00_start_here", {"start_here", "rms_norm"}),
        (
            "15_your_model",
            {"your_model", "rms_norm", "rotary_positions", "attention", "kv_cache", "activations_and_gates"},
        ),
    ],
)
def test_bundle_has_the_lesson_packages_of_its_exercises(stem, packages):
    files = bundle.collect_files(PROJECT, notebook.read(built("en", stem)))
    found = {name.split("/")[2] for name in files if re.match(r"blocklab_course/lessons/\w+/exercises", name)}
    assert found == packages
    assert {
        "LICENSE",
        "blocklab/__init__.py",
        "blocklab_course/panel/panel.js",
        "blocklab_course/data/OFL.txt",
    } <= files.keys()


def test_bundle_has_the_lesson_package_of_an_imported_figure():
    lesson = notebook.read(built("en", "five_notes"))
    lesson.cells[-1] = nbformat.v4.new_code_cell("from blocklab_course.lessons.attention import saturation")
    files = bundle.collect_files(PROJECT, lesson)
    assert "blocklab_course/lessons/attention/saturation.py" in files
    assert "blocklab_course/lessons/rms_norm/exercises/__init__.py" not in files
    assert f"blocklab_course/data/{font.FONT.name}" not in files
    assert f"blocklab_course/data/{font.LATIN_FONT.name}" in files


def test_bundle_font_has_the_letters_of_the_lesson(tmp_path):
    lesson = notebook.read(built("zh", "10_positional_encoding"))
    otf = bundle.collect_files(PROJECT, lesson)[f"blocklab_course/data/{font.FONT.name}"]
    (tmp_path / "cut.otf").write_bytes(otf)
    held, whole = font.read_characters(tmp_path / "cut.otf"), font.read_characters(font.FONT)
    assert {*"".join(cell.source for cell in lesson.cells)} & whole <= held
    assert font.symbols() & whole <= held
    assert len(otf) < font.FONT.stat().st_size / 4
    with TTFont(tmp_path / "cut.otf") as opened:
        assert opened["name"].getDebugName(1) == font.FAMILY
        assert "Open Font License" in opened["name"].getDebugName(13)


# The command


def test_other_files_and_large_lessons_are_reported(tmp_path, capsys, monkeypatch):
    strange = tmp_path / "strange.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), strange)
    paths = [strange, tmp_path / "none.ipynb", built("zh", "five_notes"), built("en", "glossary")]
    monkeypatch.setattr(bundle, "MAX_BYTES", 100_000)
    command = ["--root", str(PROJECT.root), "single", *map(str, paths), "--out", str(tmp_path / "out")]
    assert main(command) == 1
    said = capsys.readouterr()
    assert said.out == "en/glossary.ipynb  0.02 MB\n"
    errors = said.err.splitlines()
    wanted = "expected a built lesson", "cannot be read", "expected at most 0.1 MB"
    assert all(what in error for error, what in zip(errors, wanted, strict=True))
    assert [path.name for path in (tmp_path / "out").rglob("*.ipynb")] == ["glossary.ipynb"]
