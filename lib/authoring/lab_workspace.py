"""Prepare a learner's folder for JupyterLab: lessons that open trusted and unchanged, beside their contents."""

import json
from collections.abc import Iterable
from pathlib import Path

from blocklab_course.workspace.files import atomic_write

KERNEL = "python3"
FOLDER = Path(".jupyterlab")  # in `my/`; `make lab` passes it to JupyterLab
WORKSPACE = FOLDER / "default-37a8.jupyterlab-workspace"  # JupyterLab's own name for the workspace "default"
CONTENTS = "@jupyterlab/toc:plugin"
LAYOUT = {
    "left": {"collapsed": False, "visible": True, "current": CONTENTS, "widgets": [CONTENTS]},
    "right": {"collapsed": True, "visible": True, "widgets": []},
    "relativeSizes": [0.22, 0.78, 0],
}


def name_kernel(lesson: bytes) -> bytes:
    """The notebook with the metadata that JupyterLab would otherwise add on opening, which counts as a change."""
    from ipykernel.ipkernel import IPythonKernel  # here, because they take long to import
    from jupyter_client.kernelspec import get_kernel_spec

    spec, notebook = get_kernel_spec(KERNEL), json.loads(lesson)
    notebook["metadata"] |= {
        "kernelspec": {"display_name": spec.display_name, "language": spec.language, "name": KERNEL},
        "language_info": IPythonKernel.language_info,
    }
    return to_bytes(notebook)


def trust(lessons: Iterable[Path]) -> None:
    """Sign notebooks for the user, so that JupyterLab shows the HTML in them."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for lesson in lessons:
        notary.sign(nbformat.read(lesson, as_version=4))


def write_workspace(mine: Path) -> None:
    """Let JupyterLab open the contents of the lesson in its sidebar, unless the learner has already used it."""
    workspace = mine / WORKSPACE
    if not workspace.exists():
        workspace.parent.mkdir(exist_ok=True)
        content = {"data": {"layout-restorer:data": LAYOUT}, "metadata": {"id": "default"}}
        atomic_write(workspace, json.dumps(content).encode("utf-8"))


def to_bytes(notebook: dict) -> bytes:
    """The bytes that Jupyter would save."""
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode("utf-8") + b"\n"
