"""What Codespaces and VS Code are told to set up is there."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
CONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
MAKE, WORKSHOP = CONTAINER["postCreateCommand"].split(" && ")


def test_its_python_is_one_that_the_package_allows():
    version = re.fullmatch(r"python:(\d+\.\d+)", CONTAINER["image"])[1]
    allowed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert version in SpecifierSet(allowed)


def test_what_it_runs_first_is_a_target_and_a_command():
    found = subprocess.run(["make", "--dry-run", *MAKE.split()[1:]], cwd=ROOT, capture_output=True, text=True)
    assert (MAKE.split()[0], found.returncode) == ("make", 0), found.stderr
    _, *command = WORKSHOP.split()
    assert subprocess.run([sys.executable, *command, "--help"], capture_output=True).returncode == 0


def test_notebooks_run_in_the_environment_that_was_set_up():
    python = CONTAINER["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert python == "${containerWorkspaceFolder}/" + WORKSHOP.split()[0]
