"""Run students' notebooks, each in a process of its own, so that verdicts are there even where none were saved.

Only the code travels: the cells are taken from the students' folder, and run where a copy of that folder lies. What
comes back are the verdicts, one by one, so that those of a notebook that never ends are kept.
"""

import ctypes
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from blocklab_course.checks.verdict import MIME
from blocklab_course.i18n import Text
from blocklab_course.workspace.files import Unreadable, read_at_most, why_not_opened

from . import notebook_process
from .collect import RunNotebook
from .grades import Grades
from .notebook_process import JOB, RESULTS
from .notebooks import MAX_BYTES, Cell, walk

CELL_TIMEOUT_DIVISOR = 5  # a cell is interrupted after a fifth of that, and the next one goes on
MAX_DEPTH = 50  # folders in folders that are copied
TIMEOUT_MISTAKES = ("stopped", "interrupted")  # what a check says that was running when its cell was stopped
MAX_KILL_ROUNDS = 50  # of ending what a notebook started
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
RUN_ID = "blocklab_REPORT_RUN"  # in the environment of all that a notebook starts, so that it can be ended

TOO_LONG = Text(en="stopped while running, after {seconds:g} s", zh="运行了 {seconds:g} 秒还没有结束，已停止")
CELL_TOO_LONG = Text(
    en="cell {cell} stopped after {seconds:g} s", zh="第 {cell} 个单元格运行了 {seconds:g} 秒还没有结束，已停止"
)
DIED = Text(en="its kernel died while running", zh="运行时内核意外退出")
NOT_RUN = Text(en="could not be run: {why}", zh="无法运行：{why}")


@contextmanager
def notebook_runner(folder: Path, seconds: float) -> Iterator[RunNotebook]:
    """What runs a notebook of a folder, for at most so many seconds, and gives the marks that it earned."""
    # Hidden, should it lie in the folder itself; and the same from every folder, whatever TMPDIR says.
    scratch = Path(tempfile.mkdtemp(prefix=".blocklab-")).absolute()
    try:
        _copy(folder, scratch / "class")
        with _adopt_orphans():
            yield lambda inside, cells: _run(scratch, inside, cells, seconds)
    finally:
        with suppress(RecursionError):  # whatever was put there
            shutil.rmtree(scratch, ignore_errors=True)


def _copy(folder: Path, copy: Path) -> None:
    """The regular files of a folder, which notebooks may read; what cannot be copied is not there."""
    for path, _ in walk(folder):
        inside = path.relative_to(folder)
        with suppress(OSError):
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and about.st_size <= MAX_BYTES and len(inside.parts) <= MAX_DEPTH:
                (copy / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy / inside)


def _run(scratch: Path, inside: Path, cells: list[Cell], seconds: float) -> Grades:
    """The marks of one notebook. A solution of the lesson runs too, but is not the student's."""
    marks, fault = Grades(), str(DIED)
    try:
        own = Path(tempfile.mkdtemp(dir=scratch))
        own.joinpath(JOB).write_text(json.dumps({"kind": MIME, "sources": list(map(_encodable_source, cells))}))
        here = (scratch / "class" / inside).parent
        here.mkdir(parents=True, exist_ok=True)  # a notebook that ran before may have moved it
        try:
            _run_in_process(own, here, seconds)
        except subprocess.TimeoutExpired:
            fault = TOO_LONG.format(seconds=seconds)
        stopped: set[int] = set()
        for word, *answer in _read_results(own / RESULTS):
            if word == "ended":
                fault = NOT_RUN.format(why=answer[0]) if answer[0] else ""
            elif word == "stopped" and answer[0] not in stopped:
                stopped.add(answer[0])
                marks.complain(CELL_TOO_LONG.format(cell=cells[answer[0]].number, seconds=_cell_timeout(seconds)))
            elif word == "shown" and not (answer[0] in stopped and answer[1].get("mistake") in TIMEOUT_MISTAKES):
                marks.add(cells[answer[0]], answer[1])
    except OSError as error:
        fault = NOT_RUN.format(why=why_not_opened(error))
    except (ValueError, TypeError, LookupError, AttributeError, Unreadable):
        pass  # the answers end in half a line, or the notebook wrote there too: the fault says so
    if fault:
        marks.complain(fault)
    return marks


def _encodable_source(cell: Cell) -> str:
    """A cell's source without lone halves of surrogate pairs, which end a kernel."""
    return cell.source.encode("utf-8", "replace").decode()


def _read_results(path: Path) -> Iterator[list]:
    yield from map(json.loads, read_at_most(path, MAX_BYTES).splitlines())


def _cell_timeout(seconds: float) -> int:
    return max(1, round(seconds / CELL_TIMEOUT_DIVISOR))


def _run_in_process(own: Path, here: Path, seconds: float) -> None:
    """Run what is ordered in `own`; whatever it starts ends with it. Raises TimeoutExpired and OSError."""
    others = set(psutil.Process().children(recursive=True))
    ticket = uuid.uuid4().hex
    try:
        subprocess.run(
            [sys.executable, "-P", notebook_process.__file__, str(own), str(_cell_timeout(seconds))],
            cwd=here,
            env=os.environ | {RUN_ID: ticket, "IPYTHONDIR": str(own), "JUPYTER_RUNTIME_DIR": str(own)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=seconds,
        )
    finally:
        for _ in range(MAX_KILL_ROUNDS):  # it may start more meanwhile
            family = _started_processes(ticket, others)
            for member in family:
                with suppress(psutil.Error):
                    member.kill()
            if not family:
                break
            psutil.wait_procs(family, timeout=0.2)


def _started_processes(ticket: str, others: set[psutil.Process]) -> set[psutil.Process]:
    """All that a notebook started: what descends from here and was not there before, and what carries its ticket."""
    family = set(psutil.Process().children(recursive=True)) - others
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # ended meanwhile, or another user's
            if process.environ().get(RUN_ID) == ticket:
                family.add(process)
    return family


@contextmanager
def _adopt_orphans() -> Iterator[None]:
    """Let processes whose parent has ended be children of this one, where the system can: on Linux."""
    adopt = ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: None
    adopt(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        adopt(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
