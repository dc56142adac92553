"""Versions that pyproject.toml allows, that are pinned and that workflows run agree; both READMEs table them."""

import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


# What is allowed, and what is pinned


def requirements(*groups: str) -> dict[str, Requirement]:
    """What pyproject.toml asks for in these extras, "" being the package itself."""
    extras = PROJECT["optional-dependencies"] | {"": PROJECT["dependencies"]}
    wanted = [Requirement(line) for group in groups for line in extras[group]]
    return {canonicalize_name(r.name): r for r in wanted if r.name != PROJECT["name"]}


def bounds(requirement: Requirement, operator: str) -> list[str]:
    return [bound.version for bound in requirement.specifier if bound.operator == operator]


def pins(name: str, python: str) -> dict[str, str]:
    """The versions that a file names for this Python."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / name).read_text("utf-8").splitlines()]
    pinned = [Requirement(line) for line in lines if line]
    here = [r for r in pinned if r.marker is None or r.marker.evaluate({"python_version": python})]
    return {canonicalize_name(r.name): version for r in here for version in bounds(r, "==")}


# What runs


@dataclass(frozen=True)
class Run:
    """A command that a job of a workflow runs on a Python."""

    workflow: str
    job: str
    python: str
    command: str


def workflow(name: str) -> dict:
    return yaml.load((WORKFLOWS / name).read_text("utf-8"), yaml.BaseLoader)  # which leaves `on` a word


def runs() -> list[Run]:
    """All of them, once for each row of a job's matrix."""
    found = []
    for file in sorted(WORKFLOWS.glob("*.yml")):
        for name, job in workflow(file.name)["jobs"].items():
            for row in job.get("strategy", {}).get("matrix", {}).get("include", [{}]):
                filled = re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda key, row=row: row[key[1]], yaml.dump(job["steps"]))
                steps = yaml.load(filled, yaml.BaseLoader)
                [python] = [step["with"]["python-version"] for step in steps if "setup-python" in step.get("uses", "")]
                found += [Run(file.name, name, python, step["run"]) for step in steps if "run" in step]
    return found


def pythons(command: str) -> list[str]:
    """Those on which workflows run it, the oldest first."""
    return sorted({run.python for run in runs() if run.command == command}, key=minor)


def minor(python: str) -> int:
    return int(python.partition(".")[2])


[GATE], [COLAB] = pythons("make test"), pythons("make colab")


def test_constraints_pin_every_dependency_within_its_range():
    pinned = pins("constraints.txt", GATE)
    wanted = requirements("front-ends", "", "lessons", "dev", "real")
    assert wanted.keys() <= pinned.keys()
    assert [r for name, r in wanted.items() if not r.specifier.contains(pinned[name])] == []


def test_what_is_pinned_installs_on_the_first_python_of_its_line():
    """Debian 12 has Python 3.11.2: a pin that wants 3.11.5 ends `make lab` there."""
    wants = {}
    for name, version in pins("constraints.txt", GATE).items():
        with suppress(metadata.PackageNotFoundError):  # a tool of another environment
            if metadata.version(name) == version:  # as everywhere but among the newest and the oldest
                wants[name] = metadata.metadata(name).get("Requires-Python") or ""
    assert len(wants) > 50
    assert {name: asked for name, asked in wants.items() if f"{GATE}.0" not in SpecifierSet(asked)} == {}


@pytest.mark.parametrize("python", [GATE, COLAB])
def test_colab_pins_are_within_the_ranges_of_what_users_install(python):
    pinned = pins("colab-constraints.txt", python)
    wanted = requirements("", "lessons", "dev")
    assert requirements("").keys() <= pinned.keys()
    within = {name: r.specifier.contains(pinned[name]) for name, r in wanted.items() if name in pinned}
    tools = {"pytest", "nbval", "nbclient", "nbformat", "jupyterlab", "fonttools"}
    assert {name for name, right in within.items() if not right} <= tools


def test_the_gate_runs_colabs_versions_with_its_own_torch():
    assert pins("colab-constraints.txt", GATE)["torch"] == pins("constraints.txt", GATE)["torch"]


def test_conda_environment_is_held_to_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    *conda, pip = environment["dependencies"]
    assert environment["name"] == PROJECT["name"]
    assert environment["channels"] == ["conda-forge"]
    assert conda == ["python=3.11", "pytorch", "jupyterlab", "matplotlib", "ipywidgets", "nbval", "pip"]
    assert pip == {"pip": ["-e .[dev]"]}
    named = {"torch" if name == "pytorch" else name for name in conda} - {"python=3.11", "pip"}
    assert named <= requirements("", "lessons", "dev").keys()
    assert "3.11" in Requirement(f"python{PROJECT['requires-python']}").specifier


def test_what_the_gate_leaves_out_runs_on_every_push_too():
    assert pythons("make thorough") == [GATE]
    assert "push" in workflow("ci.yml")["on"]


def test_python_versions_agree_with_those_that_ci_runs():
    run = {run.python for run in runs() if run.job == "elsewhere"}
    oldest = min(run, key=minor)
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert {run.python for run in runs() if run.job in ("gate", "front-ends", "site", "single")} == {GATE} == {oldest}
    assert sorted(named) == sorted(run), "the classifiers in pyproject.toml"
    assert PROJECT["requires-python"] == f">={oldest}"
    assert f"py{oldest.replace('.', '')}" in (ROOT / "pyproject.toml").read_text("utf-8"), "ruff's target-version"
    for file in ("environment.yml", "README.md", "README.zh-CN.md", "lib/set_up.sh"):
        named = set(re.findall(r"(?i)python[ =](3\.\d+)", (ROOT / file).read_text("utf-8")))
        assert named == {oldest}, file


# What the READMEs say

WORDS = {
    "README.md": {
        "head": ["", "oldest", "Colab’s", "the gate’s", "newest"],
        "any": "any",
        "and": ", ",
        "below": "below {}",
        "run": "run by",
        "push": "`{}`, every push",
        "schedule": "`{}`, every week",
    },
    "README.zh-CN.md": {
        "head": ["", "最旧", "Colab 的", "常规检查用的", "最新"],
        "any": "不限",
        "and": "、",
        "below": "低于 {}",
        "run": "由谁运行",
        "push": "`{}`，每次推送",
        "schedule": "`{}`，每周",
    },
}


def told(readme: str) -> list[list[str]]:
    """The cells of the table, row by row."""
    text = (ROOT / readme).read_text("utf-8").partition("<!-- versions -->\n")[2]
    head, _line, *rows = re.match(r"(?:\|.*\n)*", text)[0].splitlines()
    return [[cell.strip() for cell in row[1:-1].split("|")] for row in (head, *rows)]


def when(command: str) -> str:
    """What starts the one workflow that runs the command: a push, or the clock."""
    [name] = {run.workflow for run in runs() if run.command == command}
    [trigger] = workflow(name)["on"].keys() & {"push", "schedule"}
    return trigger


@pytest.mark.parametrize("readme", WORDS)
def test_the_readme_says_which_versions_and_what_runs_them(readme):
    words = WORDS[readme]
    commands = ["make oldest", "make colab", "make test", "make newest"]
    colab, gate = pins("colab-constraints.txt", COLAB), pins("constraints.txt", GATE)
    needed = requirements("")
    assert told(readme) == [
        words["head"],
        ["Python", *(words["and"].join(pythons(command)) for command in commands)],
        *([r.name, *bounds(r, ">="), colab[name], gate[name], newest(r, words)] for name, r in needed.items()),
        [words["run"], *(words[when(command)].format(command) for command in commands)],
    ]


def newest(requirement: Requirement, words: dict) -> str:
    below = bounds(requirement, "<")
    return words["below"].format(*below) if below else words["any"]
