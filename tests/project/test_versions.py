"""Versions agree between pyproject.toml, the constraints files, the CI workflows and the READMEs."""

import json
import re
import tomllib
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"] | {"": PROJECT["dependencies"]}
OLDEST, COLAB = "3.11", "3.13"  # Python versions; `make test` uses the oldest


def requirements(*extras: str) -> dict[str, Requirement]:
    """The requirements of these extras by package name; "" is the package itself."""
    requirements = [Requirement(line) for extra in extras for line in EXTRAS[extra]]
    return {canonicalize_name(r.name): r for r in requirements if r.name != PROJECT["name"]}


def read_pins(file: str, python: str) -> dict[str, str]:
    """The versions that a constraints file pins for a version of Python, by package name."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / file).read_text("utf-8").splitlines()]
    pins = [Requirement(line) for line in lines if line]
    pins = [r for r in pins if r.marker is None or r.marker.evaluate({"python_version": python})]
    return {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in pins}


def python_versions(workflow: str) -> set[str]:
    text = (ROOT / ".github" / "workflows" / workflow).read_text("utf-8")
    return set(re.findall(r'python(?:-version)?: "(3\.\d+)"', text))


def test_constraints_pin_every_dependency_within_its_range():
    pinned = read_pins("constraints.txt", OLDEST)
    required = requirements(*EXTRAS)
    assert required.keys() <= pinned.keys()
    assert [r for name, r in required.items() if not r.specifier.contains(pinned[name])] == []


def test_pins_install_on_the_first_release_of_the_oldest_python():
    """Debian 12 has Python 3.11.2: a pin that requires 3.11.5 breaks `make lab` there."""
    pythons = {}
    for name, version in read_pins("constraints.txt", OLDEST).items():
        with suppress(metadata.PackageNotFoundError):
            if metadata.version(name) == version:
                pythons[name] = metadata.metadata(name).get("Requires-Python") or ""
    assert len(pythons) > 50
    assert {name: python for name, python in pythons.items() if f"{OLDEST}.0" not in SpecifierSet(python)} == {}


@pytest.mark.parametrize("python", [OLDEST, COLAB])
def test_colab_pins_are_within_the_ranges(python):
    pinned, required = read_pins("colab-constraints.txt", python), requirements("", "real")
    assert required.keys() <= pinned.keys()
    assert [r for name, r in required.items() if not r.specifier.contains(pinned[name])] == []


def test_colab_environment_pins_the_same_torch_for_the_oldest_python():
    """`make test` runs both environments, and pip caches only one build of torch."""
    assert read_pins("colab-constraints.txt", OLDEST)["torch"] == read_pins("constraints.txt", OLDEST)["torch"]


def test_python_versions_agree():
    ci = python_versions("ci.yml")
    assert set(re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))) == ci
    assert COLAB in ci
    assert python_versions("pages.yml") == {OLDEST}
    assert python_versions("weekly.yml") <= ci
    assert PROJECT["requires-python"] == f">={OLDEST}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{OLDEST.replace('.', '')}"
    assert json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))["image"] == f"python:{OLDEST}"
    assert f"sys.version_info < ({OLDEST.replace('.', ', ')})" in (ROOT / "lib/set_up.sh").read_text("utf-8")
    for readme in ("README.md", "README.zh-CN.md"):
        assert f"Python {OLDEST}" in (ROOT / readme).read_text("utf-8")


def test_conda_environment_lists_only_requirements():
    *conda, pip = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    assert f"python={OLDEST}" in conda
    assert pip == {"pip": ["-e .[dev]"]}
    named = {name.replace("pytorch", "torch") for name in conda} - {f"python={OLDEST}", "pip"}
    assert named <= requirements("", "lessons", "dev").keys()


@pytest.mark.parametrize("page", ["INSTALL.md", "INSTALL.zh-CN.md"])
def test_installation_lists_the_versions(page):
    table = (ROOT / page).read_text("utf-8").partition("<!-- versions -->\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    listed = {row[0]: row[1:4] for row in rows}
    colab, constraints = read_pins("colab-constraints.txt", COLAB), read_pins("constraints.txt", OLDEST)
    for name, requirement in requirements("").items():
        [oldest] = (bound.version for bound in requirement.specifier if bound.operator == ">=")
        assert listed[name] == [oldest, colab[name], constraints[name]]
