import pytest

from authoring.cell_deps import needed_cells, stranded_cells


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
def test_needed_cells_follow_names(sources, slow, wanted):
    assert needed_cells(sources, slow) == wanted


@pytest.mark.parametrize(
    ("sources", "left_out", "wanted"),
    [
        (["scores = 1", "print(scores)", "print(2)"], {0}, {0, 1}),
        (["scores = 1", "print(2)"], {0}, {0}),
        (["scores = 1", "scores = 2", "print(scores)"], {0}, {0}),
        (["net = 1", "scores = net", "def show():\n    print(scores)", "show()"], {0}, {0, 1, 2, 3}),
        (["scores = 1", "%pip install x\nprint(scores)"], {0}, {0, 1}),
        (["print(scores)", "scores = 1"], {1}, {1}),
        (["for net in (1, 2): train(net)", "for net in (3,): print(net)"], {0}, {0}),
    ],
)
def test_stranded_cells_follow_names(sources, left_out, wanted):
    assert stranded_cells(sources, left_out) == wanted
