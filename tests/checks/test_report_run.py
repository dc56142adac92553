"""`report --run`: every notebook runs in a process of its own, and ends with it, whatever its code does."""

import csv
import json
from pathlib import Path

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from blocklab.checks.__main__ import main
from blocklab.checks.verdict import MIME
from checks.saved_notebooks import cell, hand_in, verdict

pytestmark = pytest.mark.usefixtures("english_again")


def showing(data: dict) -> str:
    """Code that gives a verdict without the time that importing torch takes."""
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


def test_every_notebook_runs_to_whatever_end(tmp_path, capsys):
    mark = f"{tmp_path}-sleeper"
    ordinary = code(
        "1 / 0",
        '"\ud800"',
        "words = open('words.txt').read()",
        "open('words.txt', 'w')",
        f"words and {showing(WRONG)}",
        "from blocklab.checks import check",
        'check("one_mean_axes", (0,))',
        kernel="conda-env-myenv-py",
    )
    ordinary["cells"] += [
        cell(SOLVED, verdict("glu", passed=True), source=""),  # claimed: it ran wrong, and it did not run
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
    assert main(["report", str(folder), "--out", str(tmp_path / "marks"), "--run", "--seconds", "200"]) == 1
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


def test_what_never_ends_is_ended_with_all_that_it_started(tmp_path, capsys):
    """First a cell that is interrupted, so that the next one runs, then one that cannot be."""
    mark = f"{tmp_path}-sleeper"
    sources = [showing(WRONG), "while True: print('x' * 1000)", showing(verdict("glu", passed=True))]
    endless = code(*sources, SLEEPERS.format(mark=mark), ENDLESS, showing(SOLVED))
    folder = hand_in(tmp_path / "class", **{"ada.ipynb": endless})
    options = ["--out", str(tmp_path / "marks"), "--run", "--seconds", "20", "--language", "zh"]
    assert main(["report", str(folder), *options]) == 1
    with (tmp_path / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file)) == [["学生", "swish", "glu"], ["ada", "a-mistake", "✓"]]
    assert "运行了 20 秒" in capsys.readouterr().err
    assert not sleepers(mark)
