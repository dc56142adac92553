"""What the wheel holds: all that a lesson imports, and nothing that only authors run."""

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
MODULES = {"pillow": "PIL"}
COME_ALONG = {"IPython", "traitlets", "contourpy", "nbclient", "nbformat", "psutil"}  # with matplotlib and with Jupyter
WHERE_INSTALLED = {
    "triton": "blocklab/fused",
    "liger_kernel": "blocklab_course/benchmarking",
    "glassllm": "blocklab_course/model_swap",
    "safetensors": "blocklab_course/pretrained",
}
PACKAGES = "blocklab", "blocklab_course"
TYPED = {Path(name, "py.typed") for name in PACKAGES}
ENDINGS = {".py", ".otf", ".txt", ".npz", ".jpg", ".csv", ".js", ".css"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this tree, built in a copy of it."""
    copy = tmp_path_factory.mktemp("source")
    for file in ("pyproject.toml", "README.md", *PROJECT["license-files"]):
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, copy / file)
    beside = shutil.ignore_patterns("__pycache__", "*.egg-info")  # of what another run may write
    shutil.copytree(ROOT / "lib", copy / "lib", dirs_exist_ok=True, ignore=beside)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist", copy]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(built) as opened:
        yield opened


def test_the_package_and_nothing_beside_it(wheel):
    inside = {Path(name) for name in wheel.namelist() if ".dist-info/" not in name}
    assert {path.parts[0] for path in inside} == {*PACKAGES}
    assert {path.suffix for path in inside - TYPED} == ENDINGS
    modules = {
        path.relative_to(ROOT / "lib")
        for name in ("blocklab", "blocklab_course")
        for path in (ROOT / "lib" / name).rglob("*.py")
    }
    data = {path.relative_to(ROOT / "lib") for path in (ROOT / "lib/blocklab_course/data").rglob("*.*")}
    player = {Path("blocklab_course/panel") / name for name in ("panel.js", "touch.js", "panel.css")}
    assert inside == modules | data | player | TYPED


def test_it_imports_only_what_users_install(wheel):
    wanted = {Requirement(line).name for line in PROJECT["dependencies"]}
    allowed = (
        {MODULES.get(name, name) for name in wanted}
        | COME_ALONG
        | {"blocklab", "blocklab_course"}
        | sys.stdlib_module_names
    )
    for name in wheel.namelist():
        if name.endswith(".py"):
            found = {module.split(".")[0] for module in imported(wheel.read(name).decode())} - allowed
            assert {m for m in found if not name.startswith(f"{WHERE_INSTALLED.get(m, '-')}/")} == set(), name


def imported(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def test_its_list_of_contents_names_no_extra_of_authors(wheel):
    (metadata,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    lines = re.findall(r"^Requires-Dist: (.*)$", wheel.read(metadata).decode(), re.MULTILINE)
    plain = {Requirement(line).name for line in lines if "extra ==" not in line}
    assert not plain & {"playwright", "fonttools", "nbclient", "latex2mathml"}
