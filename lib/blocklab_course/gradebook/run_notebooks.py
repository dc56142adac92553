"""Run copies of students' notebooks, each in its own kernel, beside a new copy of its student's notebooks and data.

That is, of regular files with an ending in COPIED: no modules, no links, no saved solutions, which are Python files.
"""

import asyncio
import atexit
import os
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from blocklab_course.i18n import Text
from blocklab_course.workspace.files import Unreadable, read_regular_file

from .grades import MAX_VERDICTS, MIME, Grades, saved_grades
from .notebooks import MAX_BYTES, Cell

COPIED = {".ipynb", ".csv", ".tsv", ".txt", ".md", ".json", ".jsonl", ".npy", ".npz", ".png", ".jpg", ".jpeg", ".gif"}
NO_CWD = "--InteractiveShellApp.ignore_cwd=True"  # IPython before 9.7 imports from the current folder in safe mode, too
NOT_RUN = Text(en="did not run to its end in {seconds} s: {error!r}", zh="{seconds} 秒内没能运行到最后：{error!r}")


class _VerdictClient(NotebookClient):
    def process_message(self, msg, cell, cell_index):  # keeps only verdicts, because outputs may be endless
        data = msg["content"].get("data", {})
        if MIME in data and len(cell.outputs) <= MAX_VERDICTS:
            cell.outputs.append({"data": {MIME: data[MIME]}})
        return super().process_message(msg, cell, cell_index) if msg["msg_type"] == "status" else None


def run_notebook(folder: Path, notebook: Path, cells: list[Cell], files: list[Path], seconds: int) -> Grades:
    """Run a notebook's cells beside copies of its student's files. Returns the grades that it reached in time."""
    ran = new_notebook(cells=[new_code_cell(cell.source) for cell in cells])
    client, problems = _VerdictClient(ran, allow_errors=True, extra_arguments=[NO_CWD]), []
    with TemporaryDirectory(prefix="blocklab-", ignore_cleanup_errors=True) as scratch, ThreadPoolExecutor(1) as pool:
        root = Path(scratch, "class", "student")  # a lesson's first cell looks for the package two folders up
        for file in (file for file in files if file.suffix.lower() in COPIED):
            with suppress(OSError, Unreadable):
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_bytes(read_regular_file(folder / file, MAX_BYTES))
        env = os.environ | {"PYTHONSAFEPATH": "1", "IPYTHONDIR": f"{scratch}/ipython"}
        run = client.async_execute(cwd=str((root / notebook).parent), env=env, stdout=DEVNULL, stderr=DEVNULL)
        future = pool.submit(asyncio.run, run)  # not in the main thread, where nbclient would take Ctrl-C for itself
        try:
            future.result(seconds)
        except Exception as error:  # such as TimeoutError, or DeadKernelError
            problems = [NOT_RUN.format(seconds=seconds, error=error)]
        finally:
            atexit.unregister(client._cleanup_kernel)
            while wait([future], 0.2).not_done:
                if client.km and client.km.provisioner:
                    asyncio.run(client.km.provisioner.kill())  # with its whole process group
    return saved_grades([replace(cell, outputs=ran.cells[n].outputs) for n, cell in enumerate(cells)], problems)
