"""Hide the outputs that answer a prediction, so that nobody reads them before running the cell.

They move to the cell's metadata, which neither Jupyter nor Colab shows. One file then serves every reader, and nbval
can still compare a run with what the build showed.
"""

import copy

TAG = "answer"
METADATA_KEY, HIDDEN_KEY = "blocklab", "sealed"


def hide(notebook: dict) -> dict:
    """A copy of the notebook in which cells tagged `answer` show nothing."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook["cells"]:
        if cell.get("outputs") and TAG in cell["metadata"].get("tags", ()):
            cell["metadata"].setdefault(METADATA_KEY, {})[HIDDEN_KEY] = cell["outputs"]
            cell["outputs"] = []
    return notebook


def reveal(notebook: dict) -> None:
    """Put hidden outputs back under their cells."""
    for cell in _cells_with_hidden(notebook):
        if cell.get("outputs") == []:
            cell["outputs"] = _pop_hidden(cell)


def remove_hidden(notebook: dict) -> list:
    """Delete the hidden outputs of a notebook, and return them."""
    return [_pop_hidden(cell) for cell in _cells_with_hidden(notebook)]


def _cells_with_hidden(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if HIDDEN_KEY in cell["metadata"].get(METADATA_KEY, ())]


def _pop_hidden(cell: dict) -> list:
    outputs = cell["metadata"][METADATA_KEY].pop(HIDDEN_KEY)
    if not cell["metadata"][METADATA_KEY]:
        del cell["metadata"][METADATA_KEY]
    return outputs
