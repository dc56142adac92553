"""Run copies of students' notebooks, so that verdicts are there even where none were saved."""

import shutil
from pathlib import Path

import nbformat
from nbclient import NotebookClient

SECONDS_PER_CELL = 60


def run_copies(folder: Path, scratch: Path) -> Path:
    """Copy the folder, run every notebook in its copy, going on after errors, and give the copy's path.

    A cell that takes too long is interrupted; a notebook that cannot be run keeps what it had.
    """
    copy = scratch / "copy"
    shutil.copytree(folder, copy)
    for path in sorted(copy.rglob("*.ipynb")):
        try:
            notebook = nbformat.read(path, as_version=4)
        except (nbformat.reader.NotJSONError, nbformat.ValidationError):
            continue  # reading will tell about it
        client = NotebookClient(
            notebook,
            timeout=SECONDS_PER_CELL,
            interrupt_on_timeout=True,
            allow_errors=True,
            resources={"metadata": {"path": str(path.parent)}},
        )
        client.execute()
        nbformat.write(notebook, path)
    return copy
