"""The helper of lesson 09 that says which outputs move, run as the lesson runs it."""

import contextlib
import io

import pytest
import torch

from authoring.lesson_panels import code_cells
from lesson_functions import SOURCES


@pytest.fixture(scope="module")
def cell():
    """The names that the cell defines, and what it prints."""
    [code] = [code for code, *_ in code_cells(SOURCES / "09_attention.py") if "def which_move" in code]
    names = {}
    exec("import torch\nimport torch.nn.functional as F\nfrom torch import nn", names)
    exec("from blocklab import causal_mask\nfrom blocklab_course.i18n import Text", names)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    return names, printed.getvalue().splitlines()


def test_which_move_reports_nan(cell):
    names, _ = cell
    hides_all = torch.tensor([[0.0], [0.0], [0.0], [0.0], [torch.nan], [0.0]])
    assert names["which_move"](lambda x: x) == "3"
    assert names["which_move"](lambda x: x.flip(0), token=0) == "5"
    assert names["which_move"](lambda x: x + hides_all) == "3, 4 (NaN)"
    assert names["which_move"](lambda x: x * 0) == ""


def test_lesson_shows_the_nan_of_a_token_that_sees_nobody(cell):
    _, printed = cell
    assert printed == [
        " sees function moves 3, 4, 5; Module 0, 1, 2, 3, 5 (NaN)",
        "~sees function moves 0, 1, 2, 3; Module 3, 4, 5",
    ]
