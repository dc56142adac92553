"""What pre-commit runs is there, and is what the gate asks for."""

import importlib.util
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
HOOKS = {hook["id"]: hook["entry"].split() for repository in CONFIG["repos"] for hook in repository["hooks"]}


def test_each_hook_runs_in_the_environment_that_the_gate_sets_up():
    for entry in HOOKS.values():
        assert entry[:2] == [".venv/bin/python", "-m"]
        assert importlib.util.find_spec(entry[2])


def test_the_style_is_the_gates():
    style = (ROOT / "Makefile").read_text("utf-8").partition("\nstyle:")[2]
    assert "-m ruff check --no-cache ." in style
    assert "-m ruff format --no-cache --check ." in style
    assert HOOKS["ruff-check"][2:5] == ["ruff", "check", "--no-cache"]
    assert HOOKS["ruff-format"][2:5] == ["ruff", "format", "--no-cache"]
    assert HOOKS["parity"][2:] == ["workshop", "check"]
