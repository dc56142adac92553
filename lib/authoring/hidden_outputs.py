"""Outputs that answer a prediction: sealed in a built notebook, so that nobody reads them before the cell is run.

They lie in the cell's metadata, which neither Jupyter nor Colab shows. So one file serves every reader, and a run is
still held to what the build has shown.
"""

import copy

TAG = "answer"
ROOM, PLACE = "blocklab", "sealed"  # where they lie in the metadata


def hide(notebook: dict) -> dict:
    """A copy of the notebook in which the cells that answer a prediction show nothing."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook["cells"]:
        if cell.get("outputs") and TAG in cell["metadata"].get("tags", ()):
            cell["metadata"].setdefault(ROOM, {})[PLACE] = cell["outputs"]
            cell["outputs"] = []
    return notebook


def reveal(notebook: dict) -> None:
    """Put sealed outputs back in their places."""
    for cell in _sealed(notebook):
        if cell.get("outputs") == []:
            cell["outputs"] = _take_out(cell)


def without_hidden(notebook: dict) -> list:
    """Take the sealed outputs out of a notebook, which holds them no longer."""
    return [_take_out(cell) for cell in _sealed(notebook)]


def _sealed(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if PLACE in cell["metadata"].get(ROOM, ())]


def _take_out(cell: dict) -> list:
    outputs = cell["metadata"][ROOM].pop(PLACE)
    if not cell["metadata"][ROOM]:
        del cell["metadata"][ROOM]
    return outputs
