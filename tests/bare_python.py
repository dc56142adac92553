"""Run lessons with a Python that has only the packages that every lesson needs, and their dependencies."""

import json
import os
import sys
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from packaging.requirements import Requirement

from authoring.execute import TIMEOUT
from blocklab_course.dependencies import REQUIRED

COMMAND = [sys.executable, "-S"]  # without site-packages, and so without the .pth file that leads to blocklab


def bare_environment(folder: Path) -> dict[str, str]:
    """The environment variables of such a Python; links to its packages are written to `folder`."""
    links, kernel = folder / "packages", folder / "jupyter" / "kernels" / "bare"
    links.mkdir(parents=True)
    kernel.mkdir(parents=True)
    wanted, seen = [*map(Requirement, (*(package.name for package in REQUIRED), "ipykernel"))], set()
    while wanted:
        requirement = wanted.pop()
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        found = metadata.distribution(requirement.name)
        for first in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            if not first.endswith(".pth") and not (links / first).exists():
                (links / first).symlink_to(found.locate_file(first))
        for needs in map(Requirement, found.requires or ()):
            if not needs.marker or any(needs.marker.evaluate({"extra": extra}) for extra in {"", *requirement.extras}):
                wanted.append(needs)
    argv = [*COMMAND, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "bare"}), "utf-8")
    return {"PYTHONPATH": str(links), "JUPYTER_PATH": str(folder / "jupyter")}


def run(lesson: Path, folder: Path) -> list[str]:
    """Run a lesson in a folder with such a Python. Returns the ids of cells that warn or show no panel.

    Raises CellExecutionError if a cell fails.
    """
    ran = nbformat.read(lesson, 4)
    client = NotebookClient(ran, timeout=TIMEOUT, kernel_name="bare", resources={"metadata": {"path": str(folder)}})
    with TemporaryDirectory() as sockets:  # files, which need no network
        if os.name != "nt":
            client.config.KernelManager.update(transport="ipc", ip=f"{sockets}/kernel")
        client.execute()
    return [cell.id for cell in ran.cells if cell.cell_type == "code" and not _right(cell)]


def _right(cell: nbformat.NotebookNode) -> bool:
    pictures = [output for output in cell.outputs if "image/png" in output.get("data", ())]
    warnings = [output for output in cell.outputs if output.get("name") == "stderr"]
    return not warnings and (bool(pictures) or "panel" not in cell.metadata.get("tags", ()))
