"""`--run`: each notebook runs in a kernel of its own, beside a copy of its student's notebooks and data."""

import csv
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from blocklab_course.checks.verdict import MIME
from blocklab_course.gradebook import run_notebooks
from blocklab_course.gradebook.__main__ import main
from blocklab_course.gradebook.grades import MAX_VERDICTS
from saved_notebooks import cell, hand_in, verdict

pytestmark = pytest.mark.usefixtures("english_again")


def showing(data: dict) -> str:
    """Code that displays a verdict without importing torch, which takes long."""
    return f"display({{{MIME!r}: {data!r}}}, raw=True)"


def code(*sources: str) -> dict:
    return new_notebook(cells=[new_code_cell(source) for source in sources])


WRONG, FORGED, CLAIMED = verdict("swish", "a-mistake"), verdict("swish", passed=True), verdict("gelu", passed=True)
STUBBORN = """
import signal, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(name, signal.SIG_IGN)
open({begun!r}, "w").close()
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""
LOOK_AROUND = """
from pathlib import Path
found = sorted(path.name for path in Path("../..").rglob("*") if path.is_file())
assert found == ["05.ipynb", "06.ipynb", "predictions.jsonl", "words.TXT"], found
Path("beside.py").write_text("")
try:
    import beside
except ModuleNotFoundError:
    import numpy, os
    assert not hasattr(numpy, "is_forged")
"""
POISON = """
from pathlib import Path
for name in ("words.TXT", "numpy.py"):
    Path("../../../eve/my/en").mkdir(parents=True, exist_ok=True)
    Path("../../../eve/my/en", name).write_text("is_forged = True")
"""


def marks(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row.pop("student"): {name: mark for name, mark in row.items() if mark} for row in csv.DictReader(file)}


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_notebooks_run_beside_copies_of_their_students_notebooks_and_data(tmp_path, capfd):
    eve = code("1 / 0", LOOK_AROUND, f"found and beside and {showing(FORGED)}", f"numpy and {showing(WRONG)}")
    eve["cells"].append(cell(FORGED, CLAIMED, source="print('\ud800')"))  # claims, which do not count
    folder = hand_in(
        tmp_path / "class",
        **{
            "bo/my/en/05.ipynb": code(POISON, "import os; os.system('echo loud')", showing(CLAIMED)),
            "dies/my/en/05.ipynb": code(showing(WRONG), "import os; os._exit(1)", showing(FORGED)),
            "eve/my/en/05.ipynb": eve,
            "eve/my/zh/06.ipynb": code(),
            "no-list/05.ipynb": {"cells": None},
        },
    )
    here = folder / "eve" / "my" / "en"
    modules = [
        "numpy.py",
        "ipykernel_launcher.py",
        "IPython.pyc",
        "a.pth",
        "b.so",
        "../blocks/swish.py",
        "torch/__init__.py",
    ]
    for name in modules:
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(f"is_forged = open({str(tmp_path / 'forged')!r}, 'w')")
    (here / "words.TXT").write_text("data")
    (here.parent / "predictions.jsonl").write_text("{}")
    (here / "link.csv").symlink_to("words.TXT")
    os.mkfifo(here / "pipe.csv")
    (folder / "shared.csv").write_text("nobody's")
    before = contents(folder)
    assert main([str(folder), "--out", str(tmp_path / "marks"), "--run"]) == 1
    assert marks(tmp_path / "marks.csv") == {
        "bo": {"gelu": "✓"},
        "dies": {"swish": "a-mistake"},
        "eve": {"swish": "a-mistake"},
    }
    output, lines = capfd.readouterr()
    assert [line.split(": ")[0] for line in lines.splitlines()] == ["dies/my/en/05.ipynb", "no-list/05.ipynb"]
    assert "DeadKernelError" in lines
    assert "loud" not in output
    assert not (tmp_path / "forged").exists()
    assert contents(folder) == before
    assert "were run for this report" in (tmp_path / "marks.html").read_text("utf-8")


def stop_once_begun(monkeypatch, begun: Path, error: BaseException) -> None:
    """Raise what ends a run as soon as a cell opens the pipe, instead of after seconds or by hand."""

    class Stopping(ThreadPoolExecutor):
        def submit(self, *arguments):
            future = super().submit(*arguments)
            future.result = self.wait
            return future

        def wait(self, seconds):
            assert seconds == 7
            begun.read_bytes()
            raise error

    os.mkfifo(begun)
    monkeypatch.setattr(run_notebooks, "ThreadPoolExecutor", Stopping)


@pytest.mark.parametrize(
    ("error", "code_expected", "table", "line"),
    [
        (
            TimeoutError(),
            1,
            {"eve": {"swish": "a-mistake"}},
            "eve.ipynb: did not run to its end in 7 s: TimeoutError()\n",
        ),
        (KeyboardInterrupt(), 130, None, ""),
    ],
    ids=["time limit", "Ctrl-C"],
)
def test_endless_notebooks_are_stopped_with_their_processes(
    tmp_path, monkeypatch, capsys, error, code_expected, table, line
):
    begun = tmp_path / "begun"
    stop_once_begun(monkeypatch, begun, error)
    cells = [showing(WRONG), STUBBORN.format(begun=str(begun)), showing(FORGED)]
    folder = hand_in(tmp_path / "class", **{"eve.ipynb": code(*cells)})
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert main([str(folder), "--out", str(tmp_path / "marks"), "--run", "--seconds", "7"]) == code_expected
    assert capsys.readouterr().err == line
    assert (marks(tmp_path / "marks.csv") if table else (tmp_path / "marks.csv").exists() or None) == table
    assert not psutil.Process().children(recursive=True)
    assert {path.name for path in tmp_path.iterdir()} <= {"begun", "class", "marks.csv", "marks.html"}


def test_endless_outputs_are_not_kept():
    notebook = code("1")
    client = run_notebooks._VerdictClient(notebook)
    shown = {"msg_type": "display_data", "content": {"data": {MIME: WRONG, "text/html": "x" * 1000}}}
    for message in [shown, {"msg_type": "stream", "content": {"text": "x"}}] * 3 * MAX_VERDICTS:
        client.process_message(message, notebook.cells[0], 0)
    assert notebook.cells[0].outputs == [{"data": {MIME: WRONG}}] * (MAX_VERDICTS + 1)
    assert len(json.dumps(notebook)) < 50_000
