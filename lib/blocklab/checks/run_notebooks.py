"""Run students' notebooks, each in a process of its own, so that verdicts are there even where none were saved.

Only the code travels: the cells are taken from the students' folder, and run where a copy of that folder lies. What
comes back are the verdicts, one by one, so that those of a notebook that never ends are kept.
"""

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

from blocklab.language import Text

from . import notebook_process
from .marks import Marks
from .notebook_process import ANSWERS, CELLS
from .report import Run
from .student_notebooks import MOST_BYTES, Cell, walk, why_not_opened

CELLS_SHARE = 5  # a cell is interrupted after a fifth of that, and the next one goes on
DEEPEST = 50  # folders in folders that are copied
ROUNDS = 50  # of ending what a notebook started
TICKET = "BLOCKLAB_REPORT_RUN"  # in the environment of all that a notebook starts, so that it can be ended

TOO_LONG = Text(en="stopped while running, after {seconds:g} s", zh="运行了 {seconds:g} 秒还没有结束，已停止")
DIED = Text(en="its kernel died while running", zh="运行时内核意外退出")
NOT_RUN = Text(en="could not be run: {why}", zh="无法运行：{why}")


@contextmanager
def runner(folder: Path, seconds: float) -> Iterator[Run]:
    """What runs a notebook of a folder, for at most so many seconds, and gives the marks that it earned."""
    scratch = Path(tempfile.mkdtemp(prefix="blocklab-"))
    try:
        _copy(folder, scratch / "class")
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
            if stat.S_ISREG(about.st_mode) and about.st_size <= MOST_BYTES and len(inside.parts) <= DEEPEST:
                (copy / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy / inside)


def _run(scratch: Path, inside: Path, cells: list[Cell], seconds: float) -> Marks:
    """The marks of one notebook. A solution of the lesson runs too, but is not the student's."""
    marks, own = Marks(), Path(tempfile.mkdtemp(dir=scratch))
    sources = [cell.source.encode("utf-8", "replace").decode() for cell in cells]  # half a surrogate pair ends a kernel
    own.joinpath(CELLS).write_text(json.dumps(sources))
    own.joinpath(ANSWERS).touch()
    fault = str(DIED)
    try:
        here = (scratch / "class" / inside).parent
        here.mkdir(parents=True, exist_ok=True)  # a notebook that ran before may have moved it
        _in_a_process(own, here, seconds)
    except subprocess.TimeoutExpired:
        fault = TOO_LONG.format(seconds=seconds)
    except OSError as error:
        fault = NOT_RUN.format(why=why_not_opened(error))
    for line in own.joinpath(ANSWERS).read_text("utf-8").splitlines():
        kind, *answer = json.loads(line)
        if kind == "verdict" and not cells[answer[0]].solution:
            marks.add(cells[answer[0]].number, answer[1])
        if kind == "ended":
            fault = NOT_RUN.format(why=answer[0]) if answer[0] else ""
    if fault:
        marks.complain(fault)
    return marks


def _in_a_process(own: Path, here: Path, seconds: float) -> None:
    """Run the cells that lie in `own`; whatever they start ends with them. Raises TimeoutExpired and OSError."""
    ticket = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", notebook_process.__name__, str(own), str(max(1, round(seconds / CELLS_SHARE)))],
        cwd=here,
        env=os.environ | {TICKET: ticket, "IPYTHONDIR": str(own), "JUPYTER_RUNTIME_DIR": str(own)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(seconds)
    finally:
        _end_all(ticket)
        process.kill()
        process.wait()


def _end_all(ticket: str) -> None:
    """Kill all that carries a ticket, and what descends from it, until nothing does: it may start more meanwhile."""
    for _ in range(ROUNDS):
        family = _family(ticket)
        if not family:
            return
        for process in family:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(family, timeout=0.2)


def _family(ticket: str) -> list[psutil.Process]:
    family = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # ended meanwhile, or another user's
            if process.environ().get(TICKET) == ticket:
                family += [process, *process.children(recursive=True)]
    return family
