"""Every benchmark runs with small sizes; its results are not checked."""

import subprocess
import sys
from importlib import import_module

import pytest
import torch

from authoring.benchmarks.__main__ import BENCHMARKS


@pytest.mark.usefixtures("lesson_undone")
@pytest.mark.parametrize("name", sorted(set(BENCHMARKS) - {"panel"}))
def test_benchmark_runs_with_small_sizes(name, monkeypatch, capsys):
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)  # saves a minute
    benchmark = import_module(f"authoring.benchmarks.{name}")
    benchmark.main(**benchmark.TINY)
    assert "goal" in capsys.readouterr().out


def test_panel_benchmark_runs_from_the_command_line():
    command = [sys.executable, "-m", "authoring.benchmarks", "--tiny", "panel"]
    run = subprocess.run(command, capture_output=True, text=True)
    if "Executable doesn't exist" in run.stderr:
        pytest.skip("no Chromium")
    assert run.returncode == 0, run.stderr
    assert "empty round trips" in run.stdout


def test_command_line_reports_a_failed_benchmark():
    code = "from authoring.benchmarks import __main__ as m; m.BENCHMARKS = ['no_such_module']; m.main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    assert "failed: no_such_module" in run.stderr
