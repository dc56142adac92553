"""The wheel contains every module and data file of both packages, and nothing that only authors use."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGES = "blocklab", "blocklab_course"
TRANSITIVE = {"IPython", "traitlets", "contourpy", "nbclient", "nbformat", "psutil"}  # come with matplotlib and Jupyter
OPTIONAL = {  # imported only in these folders, where installed
    "triton": "blocklab/fused",
    "liger_kernel": "blocklab_course/benchmarking",
    "glassllm": "blocklab_course/model_swap",
    "safetensors": "blocklab_course/pretrained",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built in a copy of the sources."""
    copy = tmp_path_factory.mktemp("source")
    for file in ("pyproject.toml", "README.md", *PROJECT["license-files"]):
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, copy / file)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "lib", copy / "lib", dirs_exist_ok=True, ignore=ignored)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist", copy]
    subprocess.run(command, check=True, capture_output=True)
    [path] = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(path) as file:
        yield file


def test_wheel_contains_both_packages_and_nothing_else(wheel):
    contents = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = [path for name in PACKAGES for path in (ROOT / "lib" / name).rglob("*.*") if path.suffix != ".pyc"]
    assert {file.suffix for file in files} == {".py", ".typed", ".otf", ".txt", ".npz", ".jpg", ".csv", ".js", ".css"}
    assert contents == {file.relative_to(ROOT / "lib").as_posix() for file in files}


def imported_packages(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module)
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names


def test_wheel_imports_only_requirements(wheel):
    required = {Requirement(line).name.replace("pillow", "PIL") for line in PROJECT["dependencies"]}
    for name in wheel.namelist():
        if name.endswith(".py"):
            allowed = {"blocklab", "torch"} if name.startswith("blocklab/") else required | TRANSITIVE | set(PACKAGES)
            unexpected = imported_packages(wheel.read(name).decode()) - allowed
            assert {package for package in unexpected if not name.startswith(f"{OPTIONAL.get(package)}/")} == set(), (
                name
            )


def test_wheel_requires_no_packages_of_authors(wheel):
    [metadata] = (name for name in wheel.namelist() if name.endswith("METADATA"))
    lines = re.findall(r"^Requires-Dist: (.*)$", wheel.read(metadata).decode(), re.MULTILINE)
    assert {line for line in lines if "extra ==" not in line} == set(
        map(str, map(Requirement, PROJECT["dependencies"]))
    )
