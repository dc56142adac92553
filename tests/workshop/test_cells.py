"""Which cells need which others, by the names that they give and read."""

import pytest

from workshop.cells import needed, stranded

CELLS = [
    "import torch as t",
    "a = 1",
    "def f(x):\n    return a + x",
    "b = f(2)",
    "a = 5",
    "print(a, t.ones(1))",
    "print(b)",
]


@pytest.mark.parametrize(
    ("spare", "found"),
    [({1}, {1}), ({2, 3}, {2, 3}), ({6}, set()), ({3, 6}, set()), ({2, 3, 6}, set()), ({0, 4}, {0, 4}), ((), set())],
)
def test_a_cell_is_needed_if_a_later_one_reads_what_it_gives(spare, found):
    assert needed(CELLS, spare) == found


@pytest.mark.parametrize(
    ("left_out", "found"),
    [({0}, {0, 5}), ({1}, {1, 2, 3, 6}), ({2}, {2, 3, 6}), ({4}, {4, 5}), ({6}, {6}), ((), set())],
)
def test_a_cell_is_stranded_if_it_reads_what_is_not_given(left_out, found):
    assert stranded(CELLS, left_out) == found
