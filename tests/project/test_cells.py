import pytest

from workshop.cells import needed


@pytest.mark.parametrize(
    ("sources", "slow", "wanted"),
    [
        (["scores = 1", "print(scores)"], {0}, {0}),
        (["scores = 1", "print(2)"], {0}, set()),
        (["scores = 1", "scores = 2", "print(scores)"], {0}, set()),
        (["net = 1", "scores = net", "print(scores)"], {0, 1}, {0, 1}),
        (["net = 1", "print(net)"], {0, 1}, set()),
        (["for size in (1, 2): train(size)", "for size in (3,): print(size)"], {0}, set()),
        (["import torch as t", "def f():\n    return t.ones(1)", "f()"], {0, 1}, {0, 1}),
        (["scores = 1", "%pip install x\nprint(scores)"], {0}, {0}),
    ],
)
def test_a_slow_cell_is_needed_for_the_names_that_it_leaves(sources, slow, wanted):
    assert needed(sources, slow) == wanted
