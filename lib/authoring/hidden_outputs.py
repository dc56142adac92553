"""Outputs that answer a prediction: sealed in a built notebook, so that nobody reads them before the cell is run.

They lie in the cell's metadata, which neither Jupyter nor Colab shows. So one file serves every reader, and a run is
still held to what the build has shown.
"""

import copy

TAG = "answer"
METADATA_KEY, HIDDEN_KEY = "blocklab", "sealed"  # where they lie in the metadata


def hide(notebook: dict) -> dict:
    """A copy of the notebook in which the cells that answer a prediction show nothing."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook["cells"]:
        if cell.get("outputs") and TAG in cell["metadata"].get("tags", ()):
            cell["metadata"].setdefault(METADATA_KEY, {})[HIDDEN_KEY] = cell["outputs"]
            cell["outputs"] = []
    return notebook


def reveal(notebook: dict) -> None:
    """Put sealed outputs back in their places."""
    for cell in _sealed(notebook):
        if cell.get("outputs") == []:
            cell["outputs"] = _take_out(cell)


def remove_hidden(notebook: dict) -> list:
    """Take the sealed outputs out of a notebook, which holds them no longer."""
    return [_take_out(cell) for cell in _sealed(notebook)]


def _sealed(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if HIDDEN_KEY in cell["metadata"].get(METADATA_KEY, ())]


def _take_out(cell: dict) -> list:
    outputs = cell["metadata"][METADATA_KEY].pop(HIDDEN_KEY)
    if not cell["metadata"][METADATA_KEY]:
        del cell["metadata"][METADATA_KEY]
    return outputs
