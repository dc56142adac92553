"""Run a lesson's notebooks, and keep of their outputs only what is the same on every run."""

import asyncio
import copy
import os
import re
import uuid
from tempfile import TemporaryDirectory

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat import NotebookNode

from .lint.outputs import check_outputs
from .problem import BuildError, BuildErrors, Problem
from .project import Project

TIMEOUT = 300  # seconds for one cell
VIEW = "application/vnd.jupyter.widget-view+json"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def execute(project: Project, stem: str, notebooks: dict[str, NotebookNode]) -> None:
    """Run the notebooks of one lesson side by side, each in its own folder and kernel. Raises PublishError."""
    asyncio.run(_execute_all(project, stem, notebooks))
    problems = []
    for language, notebook in notebooks.items():
        for cell in notebook.cells:
            if cell.cell_type == "code":
                _settle(cell)
        problems += check_outputs(notebook, project.show(project.notebook(language, stem)))
    if problems:
        raise BuildErrors(*problems)


async def _execute_all(project: Project, stem: str, notebooks: dict[str, NotebookNode]) -> None:
    with TemporaryDirectory() as folder:
        runs = [_execute(project, stem, language, book, f"{folder}/{language}") for language, book in notebooks.items()]
        results = await asyncio.gather(*runs, return_exceptions=True)
    for result in results:
        if result is not None:
            raise result


async def _execute(project: Project, stem: str, language: str, notebook: NotebookNode, sockets: str) -> None:
    path = project.notebook(language, stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = copy.deepcopy(notebook.metadata)  # the client adds the version of this Python
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # the kernel's own remarks about its sockets
    )
    if os.name != "nt":
        # Sockets that are files: two kernels that start at the same moment may be given the same port.
        client.config.KernelManager.update(transport="ipc", ip=sockets)
    running = None

    def started(cell, **_):
        nonlocal running
        running = cell

    client.on_cell_start = started
    try:
        await client.async_execute()
        notebook.metadata = metadata
    except CellExecutionError as error:
        raise _failed(project.show(path), running, error.traceback) from None
    except (CellTimeoutError, RuntimeError) as error:  # also of a kernel that died before the first cell
        raise _failed(project.show(path), running, str(error)) from None
    except NoSuchKernel:
        raise BuildError("no Jupyter kernel 'python3': install the extra, pip install -e '.[lessons]'") from None


def _failed(file: str, cell: NotebookNode | None, message: str) -> BuildError:
    traceback = _COLOUR.sub("", message).split("-" * 75)[-1].strip()
    what = "the cell failed" if cell else "the kernel did not start"
    return BuildError(f"{Problem(file, None, cell and cell.id, what)}\n{traceback}")


def _settle(cell: NotebookNode) -> None:
    """Drop what changes from run to run: times, tracebacks with their paths, the names of widget models."""
    cell.metadata.pop("execution", None)
    for number, output in enumerate(cell.outputs):
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        elif VIEW in output.get("data", {}):
            output.data[VIEW]["model_id"] = uuid.uuid5(uuid.NAMESPACE_OID, f"{cell.id}/{number}").hex
