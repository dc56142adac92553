"""The versions that pyproject.toml allows, that are pinned, that CI runs and that the READMEs name agree."""

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
OLDEST, COLAB = "3.11", "3.13"  # Pythons: the oldest one also runs `make test`


def requirements(*extras: str) -> dict[str, Requirement]:
    """What pyproject.toml requires, by name; "" stands for the package itself."""
    wanted = [Requirement(line) for extra in extras for line in EXTRAS[extra]]
    return {canonicalize_name(r.name): r for r in wanted if r.name != PROJECT["name"]}


def pins(file: str, python: str) -> dict[str, str]:
    """The versions that a file pins for a Python, by name."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / file).read_text("utf-8").splitlines()]
    pinned = [Requirement(line) for line in lines if line]
    here = [r for r in pinned if r.marker is None or r.marker.evaluate({"python_version": python})]
    return {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in here}


def pythons(workflow: str) -> set[str]:
    """The Pythons that a workflow runs on."""
    text = (ROOT / ".github" / "workflows" / workflow).read_text("utf-8")
    return set(re.findall(r'python(?:-version)?: "(3\.\d+)"', text))


def test_constraints_pin_every_dependency_within_its_range():
    pinned = pins("constraints.txt", OLDEST)
    wanted = requirements(*EXTRAS)
    assert wanted.keys() <= pinned.keys()
    assert [r for name, r in wanted.items() if not r.specifier.contains(pinned[name])] == []


def test_pinned_versions_install_on_the_first_release_of_the_oldest_python():
    """Debian 12 has Python 3.11.2: a pin that requires 3.11.5 breaks `make lab` there."""
    required = {}
    for name, version in pins("constraints.txt", OLDEST).items():
        with suppress(metadata.PackageNotFoundError):
            if metadata.version(name) == version:
                required[name] = metadata.metadata(name).get("Requires-Python") or ""
    assert len(required) > 50
    assert {name: python for name, python in required.items() if f"{OLDEST}.0" not in SpecifierSet(python)} == {}


@pytest.mark.parametrize("python", [OLDEST, COLAB])
def test_colab_pins_are_within_the_ranges_of_users(python):
    pinned, wanted = pins("colab-constraints.txt", python), requirements("", "real")
    assert wanted.keys() <= pinned.keys()
    assert [r for name, r in wanted.items() if not r.specifier.contains(pinned[name])] == []


def test_colab_environment_has_our_torch_on_our_python():
    """CI finds the CPU wheel of this version on its disk."""
    assert pins("colab-constraints.txt", OLDEST)["torch"] == pins("constraints.txt", OLDEST)["torch"]


def test_python_versions_agree():
    ci = pythons("ci.yml")
    assert set(re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))) == ci
    assert COLAB in ci
    assert pythons("pages.yml") == {OLDEST}
    assert pythons("weekly.yml") <= ci
    assert PROJECT["requires-python"] == f">={OLDEST}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{OLDEST.replace('.', '')}"
    assert json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))["image"] == f"python:{OLDEST}"
    assert f"sys.version_info < ({OLDEST.replace('.', ', ')})" in (ROOT / "lib/set_up.sh").read_text("utf-8")
    for readme in ("README.md", "README.zh-CN.md"):
        assert f"Python {OLDEST}" in (ROOT / readme).read_text("utf-8")


def test_conda_environment_names_what_the_package_requires():
    *conda, pip = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    assert f"python={OLDEST}" in conda
    assert pip == {"pip": ["-e .[dev]"]}
    named = {name.replace("pytorch", "torch") for name in conda} - {f"python={OLDEST}", "pip"}
    assert named <= requirements("", "lessons", "dev").keys()


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_the_readme_has_the_versions(readme):
    table = (ROOT / readme).read_text("utf-8").partition("<!-- versions -->\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    shown = {row[0]: row[1:4] for row in rows}
    colab, ours = pins("colab-constraints.txt", COLAB), pins("constraints.txt", OLDEST)
    for name, requirement in requirements("").items():
        [oldest] = (bound.version for bound in requirement.specifier if bound.operator == ">=")
        assert shown[name] == [oldest, colab[name], ours[name]]
