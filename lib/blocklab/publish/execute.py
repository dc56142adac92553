"""Run a lesson's notebooks, and keep of their outputs only what is the same on every run."""

import asyncio
import copy
import re
import uuid

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from .problem import Problem, PublishError
from .project import Project

TIMEOUT = 300  # seconds for one cell
VIEW = "application/vnd.jupyter.widget-view+json"
_MEMORY = re.compile(r"0x[0-9a-f]{6,}")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_EMBEDDED = re.compile(r"data:[\w/+-]+;base64,[\w+/=]+")


def execute(project: Project, stem: str, notebooks: dict[str, NotebookNode]) -> None:
    """Run the notebooks of one lesson side by side, each in its own folder and kernel. Raises PublishError."""
    asyncio.run(_execute_all(project, stem, notebooks))
    for language, notebook in notebooks.items():
        file = project.show(project.notebook(language, stem))
        for cell in notebook.cells:
            if cell.cell_type == "code":
                _settle(cell)
                _refuse(cell, file)


async def _execute_all(project: Project, stem: str, notebooks: dict[str, NotebookNode]) -> None:
    runs = [_execute(project, stem, language, notebook) for language, notebook in notebooks.items()]
    results = await asyncio.gather(*runs, return_exceptions=True)
    for result in results:
        if result is not None:
            raise result


async def _execute(project: Project, stem: str, language: str, notebook: NotebookNode) -> None:
    path = project.notebook(language, stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = copy.deepcopy(notebook.metadata)  # the client adds the version of this Python
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        coalesce_streams=True,
        record_timing=False,
        store_widget_state=False,
        extra_arguments=["--log-level=ERROR"],  # the kernel's own remarks about its sockets
    )
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
    except (CellTimeoutError, DeadKernelError) as error:
        raise _failed(project.show(path), running, str(error)) from None
    except NoSuchKernel:
        raise PublishError("no Jupyter kernel 'python3': install the extra, pip install -e '.[lessons]'") from None


def _failed(file: str, cell: NotebookNode, message: str) -> PublishError:
    traceback = _COLOUR.sub("", message).split("-" * 75)[-1].strip()
    return PublishError(f"{Problem(file, None, cell.id, 'the cell failed')}\n{traceback}")


def _settle(cell: NotebookNode) -> None:
    """Drop what changes from run to run: times, tracebacks with their paths, the names of widget models."""
    cell.metadata.pop("execution", None)
    for number, output in enumerate(cell.outputs):
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        elif VIEW in output.get("data", {}):
            output.data[VIEW]["model_id"] = uuid.uuid5(uuid.NAMESPACE_OID, f"{cell.id}/{number}").hex


def _refuse(cell: NotebookNode, file: str) -> None:
    """Nothing on stderr, and no memory address: both differ from run to run."""
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            raise PublishError(str(Problem(file, None, cell.id, "wrote to stderr", (("stderr", output.text),))))
        for text in texts(output):
            if _MEMORY.search(text):
                what = "an output holds a memory address, which differs in every run"
                raise PublishError(str(Problem(file, None, cell.id, what, (("output", text),))))


def texts(output: NotebookNode) -> list[str]:
    """What a reader can read in an output: printed text, and the text form of what was shown."""
    if output.output_type == "stream":
        return [output.text]
    shown = [data for kind, data in output.get("data", {}).items() if kind.startswith("text/")]
    return [_EMBEDDED.sub("", data) for data in shown]  # a picture in a page is no text
