"""The project's files agree with each other, and the imports point one way."""

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import blocklab
from blocklab_course.lessons.catalog import LESSONS
from imports import imported

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))

AREAS = {  # the longest of these names that a module is or lies in says which area it belongs to
    "blocklab": "package",
    **dict.fromkeys(["blocklab._validation", "blocklab.normalization", "blocklab.moving_average"], "kernels"),
    **dict.fromkeys(["blocklab.batch_statistics", "blocklab.positional_encoding", "blocklab.feed_forward"], "kernels"),
    **dict.fromkeys(["blocklab.rope_scaling", "blocklab.attention", "blocklab.kv_cache"], "kernels"),
    **dict.fromkeys(["blocklab.transformer", "blocklab.norm_placement", "blocklab.fused"], "kernels"),
    **{
        f"blocklab.{name}": name
        for name in (
            *("language", "files", "timing", "real_models", "panel"),
            *("checks", "plugging", "report", "progress", "packages", "tables"),
        )
    },
    "blocklab_course.errors": "language",
    "blocklab.my_files": "files",
    "blocklab_course.pretrained.digits": "real_models",
    "blocklab_course.lessons": "lessons",
    **dict.fromkeys(["blocklab_course.lessons.manifest", "blocklab_course.lessons.catalog"], "order"),
    **{f"blocklab_course.lessons.{lesson.room}": f"room {lesson.room}" for lesson in LESSONS},
    "workshop": "workshop",
}
ROOMS = [area for area in AREAS.values() if area.startswith("room ")]
MAY_IMPORT = {  # which areas an area may import besides itself: arrows point one way, down
    "package": set(),
    "kernels": set(),
    "language": set(),
    "files": {"language"},
    "timing": {"kernels"},
    "packages": {"language"},
    "tables": set(),
    "real_models": {"kernels", "language", "packages", "tables"},
    "panel": {"language"},
    "checks": {"language", "package"},
    "plugging": {"checks", "kernels", "language", "packages", "real_models"},
    "order": {"checks", "language"},
    **{
        room: {"kernels", "panel", "checks", "language", "real_models", "packages", "timing", "order", "tables"}
        for room in ROOMS
    },
    "lessons": {"order", "checks", "plugging", "language", "packages", "panel", "files", "package"},
    "report": {"lessons", "order", "checks", "language", "files"},
    "progress": {"lessons", "order", "report", "checks", "language", "files"},
    "workshop": {
        "lessons",
        "order",
        "report",
        "progress",
        "files",
        "panel",
        "kernels",
        "language",
        "packages",
        "package",
    }
    | {"real_models", *ROOMS},
}
ONLY_IN = {
    "ipywidgets": "blocklab_course.panel",
    "anywidget": "blocklab_course.panel",
    "triton": "blocklab.fused",
    "safetensors": "blocklab_course.pretrained",
}
FROM_OUTSIDE = {  # what these areas may import beside Python's own modules
    "packages": set(),
    "kernels": {"torch", "triton"},
    # The packages with the weights are read, not imported; pillow reads two photos, psutil tells free memory.
    "real_models": {"torch", "numpy", "psutil", "safetensors", "PIL"},
}


# Imports


def lies_in(module: str, place: str) -> bool:
    return f"{module}.".startswith(f"{place}.")


def area_of(module: str) -> str:
    return AREAS[max((place for place in AREAS if lies_in(module, place)), key=len)]


def violations(sources: dict[str, str]) -> list[str]:
    """Every import among the modules `sources` (name: code) that points the wrong way, or round in a circle."""
    found, graph = [], {}
    for module, source in sources.items():
        is_package = any(other.startswith(f"{module}.") for other in sources)
        area = area_of(module)
        graph[module] = set()
        for name in sorted(imported(source, module, is_package)):
            first = name.split(".")[0]
            if first in ("blocklab", "workshop"):
                target = name if name in sources else name.rpartition(".")[0]
                graph[module] |= {target} - {module}
                if area_of(target) not in MAY_IMPORT[area] | {area}:
                    found.append(f"{module} imports {target}: {area} may not import {area_of(target)}")
            elif first in ONLY_IN and not lies_in(module, ONLY_IN[first]):
                found.append(f"{module} imports {name}: only {ONLY_IN[first]} may")
            elif area in FROM_OUTSIDE and first not in sys.stdlib_module_names | FROM_OUTSIDE[area]:
                found.append(f"{module} imports {name}: {area} import {' and '.join(sorted(FROM_OUTSIDE[area]))}")
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        found.append(f"circle: {' → '.join(error.args[1])}")
    return found


def package_sources() -> dict[str, str]:
    files = sorted(file for package in ("blocklab", "workshop") for file in (ROOT / "lib" / package).rglob("*.py"))
    names = [".".join(file.relative_to(ROOT / "lib").with_suffix("").parts) for file in files]
    return {n.removesuffix(".__init__"): file.read_text("utf-8") for n, file in zip(names, files, strict=True)}


def test_every_module_belongs_to_an_area():
    unknown = {module for module in package_sources() if area_of(module) == "package"} - {"blocklab"}
    assert not unknown, f"say in AREAS of {Path(__file__).name} which area {', '.join(sorted(unknown))} belongs to"


def test_imports_point_one_way():
    assert violations(package_sources()) == []


def arrows(sources: dict[str, str]) -> dict[str, set[str]]:
    """Which areas each area imports; all rooms count as one."""
    found: dict[str, set[str]] = {}
    for module, source in sources.items():
        area = area_of(module)
        is_package = any(other.startswith(f"{module}.") for other in sources)
        for name in imported(source, module, is_package):
            if name.split(".")[0] in ("blocklab", "workshop"):
                target = area_of(name if name in sources else name.rpartition(".")[0])
                found.setdefault(area.split()[0], set()).update({target.split()[0]} - {area.split()[0]})
    return found


def test_every_arrow_that_is_allowed_is_there():
    allowed = {area.split()[0]: {target.split()[0] for target in targets} for area, targets in MAY_IMPORT.items()}
    used = arrows(package_sources())
    assert {
        area: targets - used.get(area, set()) for area, targets in allowed.items() if targets - used.get(area, set())
    } == {}


@pytest.mark.parametrize(
    ("sources", "violation"),
    [
        ({"blocklab.normalization": "import numpy"}, "kernels import torch and triton"),
        (
            {"blocklab_course.pretrained.minilm": "import transformers"},
            "real_models import PIL and numpy and psutil and safetensors",
        ),
        ({"blocklab_course.pretrained.glassllm": "from glassllm import load_pretrained"}, "real_models import PIL"),
        ({"blocklab_course.pretrained": "import blocklab_course.panel"}, "real_models may not import panel"),
        (
            {"blocklab.attention": "import blocklab_course.pretrained", "blocklab_course.pretrained": ""},
            "may not import real_m",
        ),
        ({"blocklab.normalization": "from blocklab_course.i18n import Text"}, "kernels may not import language"),
        (
            {
                "blocklab_course.panel.map": "from ..lessons.rms_norm import angles",
                "blocklab_course.lessons.rms_norm.angles": "",
            },
            "panel may not import room rms_norm",
        ),
        (
            {
                "blocklab_course.lessons.rms_norm.map": "from blocklab_course.lessons.attention import mask",
                "blocklab_course.lessons.attention.mask": "",
            },
            "room rms_norm may not import room attention",
        ),
        (
            {"blocklab_course.lessons.rms_norm.map": "def draw():\n    import ipywidgets"},
            "only blocklab_course.panel may",
        ),
        ({"blocklab_course.panel": "import blocklab.normalization"}, "panel may not import kernels"),
        ({"blocklab.attention": "import triton.language as tl"}, "only blocklab.fused may"),
        (
            {"authoring.build": "from blocklab_course import checks", "blocklab_course.checks": ""},
            "workshop may not import checks",
        ),
        ({"blocklab_course.lessons": "from authoring.copies import copy"}, "lessons may not import workshop"),
        ({"blocklab_course.benchmarking": "from .lessons import begin"}, "timing may not import lessons"),
        (
            {"blocklab_course.lessons.catalog": "from . import rms_norm", "blocklab_course.lessons.rms_norm": ""},
            "order may not import r",
        ),
        (
            {"blocklab_course.checks": "from .engine import run", "blocklab_course.checks.engine": "from . import run"},
            "circle: blocklab_course.checks",
        ),
    ],
)
def test_wrong_imports_are_caught(sources, violation):
    stubs = dict.fromkeys(
        ["blocklab_course.panel", "blocklab_course.i18n", "blocklab_course.lessons", "blocklab.normalization"], ""
    )
    found = violations(stubs | sources)
    assert len(found) == 1
    assert violation in found[0]


# Docstrings


def public(module: str, source: str) -> list[tuple[str, int]]:
    """The public functions and classes of a module and how many lines each one's docstring has."""
    definitions = (n for n in ast.parse(source).body if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
    shown = [node for node in definitions if not node.name.startswith("_")]
    return [(f"{module}.{node.name}", len((ast.get_docstring(node) or "").splitlines())) for node in shown]


def test_kernels_have_docstrings_of_at_most_15_lines():
    sources = {module: code for module, code in package_sources().items() if area_of(module) == "kernels"}
    lines = dict(pair for module, source in sources.items() for pair in public(module, source))
    assert len(lines) > 10
    assert {name: count for name, count in lines.items() if not 1 <= count <= 15} == {}


# Version


def test_version_is_the_same_everywhere():
    assert CITATION["version"] == blocklab.__version__
    assert PROJECT["dynamic"] == ["version"]


def test_licences_are_named_and_there():
    assert CITATION["license"] in PROJECT["license"].split(" AND ")
    assert all((ROOT / file).read_text("utf-8").strip() for file in PROJECT["license-files"])


# Files

FOREIGN = [  # in pieces, so that this file itself is clean
    *("/wo" + "rk/", "/ro" + "ot/", "/tm" + "p/", "/opt/py" + "pi"),
    *("/ho" + r"me/\w", "/Us" + r"ers/\w", r"[A-Z]:\\+Us" + "ers"),
    *(
        "py" + r"pi\.",
        "python" + "hosted",
        r"download\.py" + "torch",
        "anacon" + r"da\.(org|com)",
        r"registry\.n" + "pm",
    ),
]


def kept_files() -> list[Path]:
    """What git tracks, or would if it were added."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return [path for name in listing.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def foreign(content: bytes) -> list[str]:
    """The paths of one machine, and the hosts of package registries, that a file's content names."""
    return [match.group().decode() for match in re.finditer("|".join(FOREIGN).encode(), content)]


def ignored(path: str) -> bool:
    return subprocess.run(["git", "check-ignore", "--quiet", "--no-index", path], cwd=ROOT).returncode == 0


def test_git_ignores_the_learners_copies_but_not_the_package():
    assert ignored("my/en/02_norm_axes.ipynb")
    assert ignored("notebooks/blocks/gelu.py")
    assert ignored("notebooks/predictions.jsonl")
    assert not ignored("lib/blocklab/__init__.py")
    assert not ignored("lib/blocklab_course/data/BlocklabSansSC.otf")


def test_no_file_names_a_machine_or_a_registry():
    named = {path.relative_to(ROOT).as_posix(): foreign(path.read_bytes()) for path in kept_files()}
    assert {path: names for path, names in named.items() if names} == {}


@pytest.mark.parametrize(
    "text", ["/ho" + "me/ada/x", "https://py" + "pi.org", "C:\\Us" + "ers\\Ada", "/wo" + "rk/main"]
)
def test_foreign_names_are_caught(text):
    assert foreign(text.encode())
    assert not foreign(text.replace("/", " ").replace("\\", " ").replace(".", " ").encode())


def test_files_are_small():
    sizes = {path.relative_to(ROOT).as_posix(): path.stat().st_size for path in kept_files()}
    assert {path: size for path, size in sizes.items() if size > 1.5e6} == {}
