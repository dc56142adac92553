"""Run a lesson's notebooks and remove what differs from run to run."""

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
    """Run the notebooks of one lesson in parallel, each in its own folder and kernel. Raises BuildError."""
    asyncio.run(_execute_all(project, stem, notebooks))
    problems = []
    for language, notebook in notebooks.items():
        for cell in notebook.cells:
            if cell.cell_type == "code":
                _normalize(cell)
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
    metadata = copy.deepcopy(notebook.metadata)  # the client adds the Python version
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # hides the kernel's messages about its sockets
    )
    if os.name != "nt":
        # Unix sockets: two kernels that start at the same time may get the same TCP port.
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
        raise _to_error(project.show(path), running, error.traceback) from None
    except (CellTimeoutError, RuntimeError) as error:  # or the kernel died before the first cell
        raise _to_error(project.show(path), running, str(error)) from None
    except NoSuchKernel:
        raise BuildError("no Jupyter kernel 'python3'; run: pip install -e '.[lessons]'") from None


def _to_error(file: str, cell: NotebookNode | None, message: str) -> BuildError:
    traceback = _COLOUR.sub("", message).split("-" * 75)[-1].strip()
    what = "the cell failed" if cell else "the kernel did not start"
    return BuildError(f"{Problem(file, None, cell and cell.id, what)}\n{traceback}")


def _normalize(cell: NotebookNode) -> None:
    """Remove execution times and traceback paths, and replace random widget ids."""
    cell.metadata.pop("execution", None)
    for number, output in enumerate(cell.outputs):
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        elif VIEW in output.get("data", {}):
            output.data[VIEW]["model_id"] = uuid.uuid5(uuid.NAMESPACE_OID, f"{cell.id}/{number}").hex
