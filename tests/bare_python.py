"""Run lessons in a Python with only the required packages and their dependencies."""

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

COMMAND = [sys.executable, "-S"]  # no site-packages, and so no .pth file that makes blocklab importable


def bare_environment(folder: Path) -> dict[str, str]:
    """The environment variables for this Python. Links to its packages are created in `folder`."""
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
    """Run a lesson in a folder with this Python. Returns the ids of cells that warn or lack their panel.

    Raises CellExecutionError if a cell fails.
    """
    ran = nbformat.read(lesson, 4)
    client = NotebookClient(ran, timeout=TIMEOUT, kernel_name="bare", resources={"metadata": {"path": str(folder)}})
    with TemporaryDirectory() as sockets:  # sockets as files need no network
        if os.name != "nt":
            client.config.KernelManager.update(transport="ipc", ip=f"{sockets}/kernel")
        client.execute()
    return [cell.id for cell in ran.cells if cell.cell_type == "code" and not _is_right(cell)]


def _is_right(cell: nbformat.NotebookNode) -> bool:
    pictures = [output for output in cell.outputs if "image/png" in output.get("data", ())]
    warnings = [output for output in cell.outputs if output.get("name") == "stderr"]
    return not warnings and (bool(pictures) or "panel" not in cell.metadata.get("tags", ()))
