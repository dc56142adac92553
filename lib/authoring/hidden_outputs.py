"""Hide the outputs that answer a prediction or an exercise, so that nobody reads them before running the cell.

They move to the cell's metadata, which neither Jupyter nor Colab shows. One file then serves every reader. nbval by
itself ignores the output of such a cell, because the cell is tagged for it; the settings in tests/notebooks compare it
with what is hidden.
"""

import copy

TAGS, IGNORED = {"answer", "solution"}, "nbval-ignore-output"
METADATA_KEY, HIDDEN_KEY = "blocklab", "sealed"
VARIES_KEY = "varies"  # the lesson's source has the tag nbval-ignore-output, because the output differs from run to run


def hide(notebook: dict) -> dict:
    """A copy of the notebook in which answers and solutions show nothing, and nbval ignores their outputs."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags", ())
        if cell.get("outputs") and TAGS & {*tags}:
            hidden = {HIDDEN_KEY: cell["outputs"]}
            if IGNORED in tags:
                hidden[VARIES_KEY] = True
            else:
                tags.append(IGNORED)
            cell["metadata"].setdefault(METADATA_KEY, {}).update(hidden)
            cell["outputs"] = []
    return notebook


def reveal(notebook: dict) -> None:
    """Put hidden outputs back under their cells, unless a reader has run the cell."""
    for cell in _cells_with_hidden(notebook):
        hidden, varies = _pop_hidden(cell)
        cell["outputs"] = cell.get("outputs") or hidden
        if not varies:
            cell["metadata"]["tags"] = [tag for tag in cell["metadata"].get("tags", ()) if tag != IGNORED]


def remove_hidden(notebook: dict) -> list:
    """Delete the hidden outputs of a notebook, and return them. nbval goes on to ignore the outputs of these cells."""
    return [_pop_hidden(cell)[0] for cell in _cells_with_hidden(notebook)]


def _cells_with_hidden(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if HIDDEN_KEY in cell["metadata"].get(METADATA_KEY, ())]


def _pop_hidden(cell: dict) -> tuple[list, bool]:
    """Remove a cell's hidden outputs. Return them, and whether they differ from run to run."""
    own = cell["metadata"][METADATA_KEY]
    found = own.pop(HIDDEN_KEY), own.pop(VARIES_KEY, False)
    if not own:
        del cell["metadata"][METADATA_KEY]
    return found
