"""Run students' notebooks, each in its own process, to get verdicts that their files don't hold.

Cells run in a copy of the students' folder. Verdicts come back one at a time, so that a notebook that never ends keeps
those it has reached.
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

CELL_TIMEOUT_DIVISOR = 5  # interrupt a cell after a fifth of the time limit and go on with the next one
MAX_DEPTH = 50  # of folders to copy
TIMEOUT_MISTAKES = ("stopped", "interrupted")  # from checks that were running when their cell was stopped
MAX_KILL_ROUNDS = 50  # attempts to kill what a notebook started
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
RUN_ID = "BLOCKLAB_REPORT_RUN"  # an environment variable that marks all processes of a notebook

TOO_LONG = Text(en="stopped after running for {seconds:g} s", zh="运行了 {seconds:g} 秒还没有结束，已停止")
CELL_TOO_LONG = Text(
    en="cell {cell} stopped after {seconds:g} s", zh="第 {cell} 个单元格运行了 {seconds:g} 秒还没有结束，已停止"
)
DIED = Text(en="its Jupyter kernel died", zh="运行时内核意外退出")
NOT_RUN = Text(en="could not be run: {why}", zh="无法运行：{why}")


@contextmanager
def notebook_runner(folder: Path, seconds: float) -> Iterator[RunNotebook]:
    """A function that runs a notebook of the folder with a time limit and returns its grades."""
    # A hidden name, in case TMPDIR is inside the folder; absolute, in case TMPDIR is relative.
    scratch = Path(tempfile.mkdtemp(prefix=".blocklab-")).absolute()
    try:
        _copy(folder, scratch / "class")
        with _adopt_orphans():
            yield lambda inside, cells: _run(scratch, inside, cells, seconds)
    finally:
        with suppress(RecursionError):  # nested too deeply
            shutil.rmtree(scratch, ignore_errors=True)


def _copy(folder: Path, copy: Path) -> None:
    """Copy the regular files, which the notebooks may read, as far as possible."""
    for path, _ in walk(folder):
        inside = path.relative_to(folder)
        with suppress(OSError):
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and about.st_size <= MAX_BYTES and len(inside.parts) <= MAX_DEPTH:
                (copy / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy / inside)


def _run(scratch: Path, inside: Path, cells: list[Cell], seconds: float) -> Grades:
    """Run one notebook, the lesson's solutions included, and return the student's grades."""
    grades, problem = Grades(), str(DIED)
    try:
        own = Path(tempfile.mkdtemp(dir=scratch))
        own.joinpath(JOB).write_text(json.dumps({"mime_type": MIME, "sources": list(map(_encodable_source, cells))}))
        here = (scratch / "class" / inside).parent
        here.mkdir(parents=True, exist_ok=True)  # an earlier notebook may have moved it
        try:
            _run_in_process(own, here, seconds)
        except subprocess.TimeoutExpired:
            problem = TOO_LONG.format(seconds=seconds)
        stopped: set[int] = set()
        for word, *fields in _read_results(own / RESULTS):
            if word == "ended":
                problem = NOT_RUN.format(why=fields[0]) if fields[0] else ""
            elif word == "stopped" and fields[0] not in stopped:
                stopped.add(fields[0])
                grades.add_problem(CELL_TOO_LONG.format(cell=cells[fields[0]].number, seconds=_cell_timeout(seconds)))
            elif word == "shown" and not (fields[0] in stopped and fields[1].get("mistake") in TIMEOUT_MISTAKES):
                grades.add(cells[fields[0]], fields[1])
    except OSError as error:
        problem = NOT_RUN.format(why=why_not_opened(error))
    except (ValueError, TypeError, LookupError, AttributeError, Unreadable):
        pass  # the file is cut off or was changed by the notebook; the problem below says so
    if problem:
        grades.add_problem(problem)
    return grades


def _encodable_source(cell: Cell) -> str:
    """The source without lone surrogates, which kill a kernel."""
    return cell.source.encode("utf-8", "replace").decode()


def _read_results(path: Path) -> Iterator[list]:
    yield from map(json.loads, read_at_most(path, MAX_BYTES).splitlines())


def _cell_timeout(seconds: float) -> int:
    return max(1, round(seconds / CELL_TIMEOUT_DIVISOR))


def _run_in_process(own: Path, here: Path, seconds: float) -> None:
    """Run the job in folder `own`, then kill all that it started. Raises TimeoutExpired and OSError."""
    others = set(psutil.Process().children(recursive=True))
    run_id = uuid.uuid4().hex
    try:
        subprocess.run(
            [sys.executable, "-P", notebook_process.__file__, str(own), str(_cell_timeout(seconds))],
            cwd=here,
            env=os.environ | {RUN_ID: run_id, "IPYTHONDIR": str(own), "JUPYTER_RUNTIME_DIR": str(own)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=seconds,
        )
    finally:
        for _ in range(MAX_KILL_ROUNDS):  # more may start meanwhile
            family = _started_processes(run_id, others)
            for member in family:
                with suppress(psutil.Error):
                    member.kill()
            if not family:
                break
            psutil.wait_procs(family, timeout=0.2)


def _started_processes(run_id: str, others: set[psutil.Process]) -> set[psutil.Process]:
    """All processes that a notebook started: new descendants of this process, and those with its run id."""
    family = set(psutil.Process().children(recursive=True)) - others
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # has ended, or belongs to another user
            if process.environ().get(RUN_ID) == run_id:
                family.add(process)
    return family


@contextmanager
def _adopt_orphans() -> Iterator[None]:
    """On Linux, let orphaned processes become children of this one."""
    adopt = ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: None
    adopt(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        adopt(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
