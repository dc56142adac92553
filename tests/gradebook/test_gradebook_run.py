"""`--run`: every notebook runs in its own process, which ends whatever the code does."""

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from blocklab_course.checks.verdict import MIME
from blocklab_course.gradebook.__main__ import main
from blocklab_course.gradebook.signals import SIGNALS
from saved_notebooks import cell, hand_in, verdict

pytestmark = pytest.mark.usefixtures("english_again")


def showing(data: dict) -> str:
    """Code that displays a verdict without importing torch, which takes long."""
    return f"display({{{MIME!r}: {data!r}}}, raw=True)"


def code(*sources: str, kernel: str = "python3", **more: object) -> dict:
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel}}
    return new_notebook(cells=[new_code_cell(source) for source in sources], metadata=metadata) | more


SOLVED, WRONG = verdict("swish", passed=True), verdict("swish", "a-mistake")
SLEEPERS = """
import subprocess, sys
sleeper = [sys.executable, "-c", "import time; time.sleep(600)", {mark!r}]
subprocess.Popen(sleeper)
subprocess.Popen(sleeper, start_new_session=True)
subprocess.Popen(sleeper, start_new_session=True, env={{}})
subprocess.run([sys.executable, "-c", f"import subprocess; subprocess.Popen({{sleeper}}, start_new_session=True)"])
"""
ENDLESS = """
import signal, time
for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(name, signal.SIG_IGN)
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""


def sleepers(mark: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if mark in (process.info["cmdline"] or ())]


def contents(folder: Path) -> dict[str, object]:
    return {
        str(path): path.readlink() if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def marks(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row.pop("student"): {name: mark for name, mark in row.items() if mark} for row in csv.DictReader(file)}


def test_runs_notebooks_whose_kernels_die(tmp_path, capsys):
    mark = f"{tmp_path}-sleeper"
    ordinary = code(
        "1 / 0",
        '"\ud800"',
        "words = open('words.txt').read()",
        "open('words.txt', 'w')",
        f"words and {showing(WRONG)}",
        "from blocklab_course import check",
        'check("one_mean_axes", (0,))',
        kernel="conda-env-myenv-py",
    )
    ordinary["cells"] += [
        cell(
            SOLVED, verdict("glu", passed=True), source=""
        ),  # claims: the first is wrong when run, the second does not run
        cell(source=showing(verdict("gelu", passed=True)), tags=["solution"]),
    ]
    folder = hand_in(
        tmp_path / "class",
        **{
            "dies.ipynb": code(showing(WRONG), "import os; os._exit(1)", showing(SOLVED)),
            "kills.ipynb": code(SLEEPERS.format(mark=mark), showing(WRONG), "import os; os.kill(os.getppid(), 9)"),
            "no-list.ipynb": {"cells": None},
        },
    )
    (folder / "ordinary.ipynb").write_text(json.dumps(ordinary), "utf-16")
    (folder / "words.txt").write_text("kept")
    (folder / "link.ipynb").symlink_to("nowhere")
    (folder / "loop").symlink_to(folder)
    before = contents(folder)
    assert main([str(folder), "--out", str(tmp_path / "marks"), "--run", "--seconds", "200"]) == 1
    assert marks(tmp_path / "marks.csv") == {
        "dies": {"swish": "a-mistake"},
        "kills": {"swish": "a-mistake"},
        "ordinary": {"swish": "a-mistake", "one_mean_axes": "batch-axis-only", "glu": "(✓)"},
    }
    named = [line.split(": ")[0] for line in capsys.readouterr().err.splitlines()]
    assert named == ["dies.ipynb", "kills.ipynb", "link.ipynb", "loop", "no-list.ipynb"]
    assert contents(folder) == before
    assert not sleepers(mark)
    html = (tmp_path / "marks.html").read_text("utf-8")
    assert "(✓)" in html
    assert "in parentheses" in html


def test_kills_an_endless_notebook_and_its_processes(tmp_path, capsys):
    """A cell that can be interrupted, after which the next one runs, then one that cannot."""
    mark = f"{tmp_path}-sleeper"
    sources = [showing(WRONG), "while True: print('x' * 1000)", showing(verdict("glu", passed=True))]
    endless = code(*sources, SLEEPERS.format(mark=mark), ENDLESS, showing(SOLVED))
    folder = hand_in(tmp_path / "class", **{"ada.ipynb": endless})
    options = ["--out", str(tmp_path / "marks"), "--run", "--seconds", "20", "--language", "zh"]
    assert main([str(folder), *options]) == 1
    with (tmp_path / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file)) == [["学生", "swish", "glu"], ["ada", "a-mistake", "✓"]]
    said = capsys.readouterr().err
    assert "第 2 个单元格运行了 4 秒" in said
    assert "运行了 20 秒" in said
    assert not sleepers(mark)


FIFO = """
import os
from pathlib import Path
for folder in Path.cwd().parents:
    for results in folder.glob("*/results.jsonl"):
        results.unlink()
        os.mkfifo(results)
"""
SLOW = """
import time
from blocklab_course import check
def mine(*_): time.sleep(600)
check("swish", mine, patience=500)
"""


def test_interrupted_checks_do_not_count_and_pipes_do_not_block(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", ".")
    monkeypatch.setattr(tempfile, "tempdir", None)
    folder = hand_in(tmp_path / "class", **{"pipe.ipynb": code(FIFO), "slow.ipynb": code("1", SLOW)})
    assert main([str(folder), "--out", str(tmp_path / "marks"), "--run", "--seconds", "100"]) == 1
    assert marks(tmp_path / "marks.csv") == {"pipe": {}, "slow": {}}
    pipe, slow = capsys.readouterr().err.splitlines()
    assert pipe.startswith("pipe.ipynb: ")
    assert slow == "slow.ipynb: cell 2 stopped after 20 s"
    assert not list(tmp_path.glob(".blocklab-*"))


@pytest.mark.parametrize("number", SIGNALS)
def test_signals_stop_the_report_and_its_processes(tmp_path, number):
    mark, begun, scratch = f"{tmp_path}-sleeper", tmp_path / "begun", tmp_path / "scratch"
    os.mkfifo(begun)
    scratch.mkdir()
    cells = [SLEEPERS.format(mark=mark), f"open({str(begun)!r}, 'w').close()", ENDLESS]
    hand_in(tmp_path / "class", **{"eve.ipynb": code(*cells)})
    report = [sys.executable, "-P", "-m", "blocklab_course.gradebook", "class", "--run"]
    options = {"env": os.environ | {"TMPDIR": str(scratch)}, "stderr": subprocess.PIPE, "text": True}
    heeding = partial(signal.signal, number, signal.SIG_DFL)  # what a shell starts in the background ignores Ctrl-C
    with subprocess.Popen(report, cwd=tmp_path, preexec_fn=heeding, **options) as process:
        begun.read_bytes()  # waits until the cell opens it
        process.send_signal(number)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert said.count("\n") == 1
    assert not sleepers(mark)
    assert not list(scratch.glob(".blocklab-*"))
    assert not list(tmp_path.glob("report*"))
