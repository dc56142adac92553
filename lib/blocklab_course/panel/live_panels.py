"""Tracks which cell shows which panels, so that they can be released.

ipywidgets keeps every widget until it is closed. Most front ends name the cell in each execute request. When a cell
runs again, its former output is gone; a panel that no other cell shows then releases its widgets.
"""

from typing import Any, NamedTuple

from IPython import get_ipython


class Run(NamedTuple):
    """A cell and the id of the current execute request."""

    cell: str
    request: str


_panels_by_cell: dict[str, tuple[str, list[Any]]] = {}
"""For each cell, the last request that showed a panel, and its panels."""


def current_run() -> Run | None:
    """Return the current run; None if the front end does not name the cell, as in nbclient or a terminal."""
    request = _request()
    metadata = request.get("metadata") or {}
    cell = metadata.get("cellId") or metadata.get("colab", {}).get("cell_id")
    return Run(cell, request["header"]["msg_id"]) if cell else None


def in_jupyterlab() -> bool:
    """Return whether the cell runs in JupyterLab or Notebook 7: only they send `deletedCells`."""
    return "deletedCells" in (_request().get("metadata") or {})


def _request() -> dict:
    """Return the current request; {} outside a kernel."""
    return getattr(get_ipython(), "get_parent", dict)() or {}


def register(panel: Any) -> list[Any]:
    """Record that the current cell shows a panel, and return panels that no cell shows any more."""
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
    """Forget a closed panel."""
    for _, panels in _panels_by_cell.values():
        panels[:] = [other for other in panels if other is not panel]
