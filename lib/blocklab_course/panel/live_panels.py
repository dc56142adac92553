"""Which panels stand in the output of which cell.

ipywidgets keeps every widget until somebody closes it. Most front ends say in each request which cell they run; what
that cell showed before is gone from the page then, and a panel that stands in no other cell gives its widgets back.
"""

from typing import Any, NamedTuple

from IPython import get_ipython


class Run(NamedTuple):
    """A cell, and the request that runs it now."""

    cell: str
    request: str


_panels_by_cell: dict[str, tuple[str, list[Any]]] = {}
"""Of every cell the latest request that showed a panel, and the panels that it showed."""


def current_run() -> Run | None:
    """None where no front end says which cell it runs: nbclient, a terminal."""
    request = _request()
    metadata = request.get("metadata") or {}
    cell = metadata.get("cellId") or metadata.get("colab", {}).get("cell_id")
    return Run(cell, request["header"]["msg_id"]) if cell else None


def in_jupyterlab() -> bool:
    """Whether JupyterLab, or Notebook 7, which is made of it, runs a cell now: only they speak of deleted cells."""
    return "deletedCells" in (_request().get("metadata") or {})


def _request() -> dict:
    """The request that the kernel answers now; {} outside a kernel."""
    return getattr(get_ipython(), "get_parent", dict)() or {}


def register(panel: Any) -> list[Any]:
    """Note that a panel is shown now, and return those that no cell shows any more."""
    run = current_run()
    if run is None:
        return []
    request, panels = _panels_by_cell.get(run.cell, (None, []))
    if request == run.request:
        panels.append(panel)
        return []
    _panels_by_cell[run.cell] = (run.request, [panel])
    return [gone for gone in panels if not is_shown(gone)]


def is_shown(panel: Any) -> bool:
    return any(panel is other for _, panels in _panels_by_cell.values() for other in panels)


def unregister(panel: Any) -> None:
    """Forget a panel that was closed."""
    for _, panels in _panels_by_cell.values():
        panels[:] = [other for other in panels if other is not panel]
