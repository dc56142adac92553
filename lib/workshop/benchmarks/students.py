"""What a student takes of a server: the memory and the processor time of each lesson, run from its top to its end.

Beside another one's kernel, with which it shares the code of torch and more: `own` is what one more student adds, at
the end of the lesson, when nothing is open but its notebook; `peak` is the most that its kernel ever held, with what it
shares.

Run: OMP_NUM_THREADS=1 python -m workshop.benchmarks.students [NUMBER …]
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import psutil
from nbclient import NotebookClient

from blocklab.lessons.order import LESSONS

ROOT = Path(__file__).parents[3]
HEADER = "lesson                       own MB  peak MB  first panel s  processor s"


def client(lesson: str, folder: Path, **options) -> NotebookClient:
    """A lesson, to be run in a kernel of its own that works in the folder."""
    notebook = nbformat.read(ROOT / "notebooks" / "en" / f"{lesson}.ipynb", as_version=4)
    beside = {"metadata": {"path": str(folder)}}
    return NotebookClient(notebook, resources=beside, extra_arguments=["--log-level=ERROR"], **options)


@contextmanager
def neighbour(folder: Path) -> Iterator[None]:
    """Meanwhile there is a kernel that has run lesson 02: what it shares with another one is nobody's own."""
    lesson = client(LESSONS[2].name, folder)
    with lesson.setup_kernel():
        for number, cell in enumerate(lesson.nb.cells):
            lesson.execute_cell(cell, number)
        yield


class Student:
    """Runs a lesson in a kernel of its own and notes what that takes."""

    def __init__(self, lesson: str, folder: Path):
        self.first_panel = None
        self.client = client(lesson, folder, store_widget_state=False, on_cell_executed=self.measure)

    def run(self) -> str:
        """A row of the table."""
        self.began = time.perf_counter()
        self.client.execute()
        panel = "–" if self.first_panel is None else f"{self.first_panel:.1f}"
        return f"{self.own / 1e6:8.0f}{self.peak / 1e6:9.0f}{panel:>15}{self.processor:13.1f}"

    def measure(self, cell: nbformat.NotebookNode, **_found) -> None:
        kernel = psutil.Process(self.client.km.provisioner.process.pid)
        if self.first_panel is None and "panel" in cell.metadata.get("tags", ()):
            self.first_panel = time.perf_counter() - self.began
        self.own = kernel.memory_full_info().uss
        self.peak = most_held(kernel)
        self.processor = sum(kernel.cpu_times())  # those of what it has started, too


def most_held(process: psutil.Process) -> int:
    """Bytes of memory that a process has held at its fullest, as Linux counts them."""
    (line,) = (x for x in Path(f"/proc/{process.pid}/status").read_text().splitlines() if x.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


def main() -> None:
    asked = [int(number) for number in sys.argv[1:]] or range(len(LESSONS))
    with tempfile.TemporaryDirectory() as folder, neighbour(Path(folder)):
        print(HEADER)
        for lesson in (LESSONS[number] for number in asked):
            print(f"{lesson.name:27}{Student(lesson.name, Path(folder)).run()}", flush=True)


if __name__ == "__main__":
    main()
