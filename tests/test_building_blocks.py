import pytest
import torch
from torch import nn

from blocklab_course import building_blocks as module
from blocklab_course.building_blocks import as_function, load_functions, load_or_reference
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.model_swap.errors import SwapError


class Doubled(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), 1e-6

    def forward(self, x):
        return 2 * self.weight * x


def test_saved_solutions_replace_references(monkeypatch, capsys):
    monkeypatch.setattr(module, "load", {"causal_mask": lambda length: torch.zeros(length), "rms_norm": None}.get)
    mine = load_or_reference("causal_mask", "rms_norm")
    assert capsys.readouterr().out.splitlines() == [
        "yours: causal_mask",
        "ours, where none of yours is kept: rms_norm",
    ]
    assert mine.causal_mask(3).tolist() == [0, 0, 0]
    assert mine.rms_norm is EXERCISES["rms_norm"].reference


def test_class_with_unknown_arguments_is_left_out(monkeypatch, capsys):
    monkeypatch.setattr(module, "load", {"attention": nn.Bilinear}.get)
    assert load_or_reference("attention").attention is EXERCISES["attention"].reference
    assert "ours, where none of yours is kept: attention" in capsys.readouterr().out
    with pytest.raises(SwapError):
        as_function(EXERCISES["attention"], nn.Bilinear)


def test_load_functions_gives_none_for_missing_solutions(monkeypatch, capsys):
    monkeypatch.setattr(module, "load", {"rms_norm": Doubled, "attention": nn.Bilinear, "swiglu": None}.get)
    found = load_functions("rms_norm", "attention", "swiglu")
    assert (found["attention"], found["swiglu"]) == (None, None)
    assert found["rms_norm"](torch.ones(1, 2), (2,)).tolist() == [[2, 2]]
    assert capsys.readouterr().out == ""


def test_module_gets_the_weights_passed_as_arguments():
    norm = as_function(EXERCISES["rms_norm"], Doubled)
    assert norm(torch.ones(1, 2), (2,), torch.tensor([1.0, 3.0]), eps=1e-5).tolist() == [[2, 6]]


def test_prints_lessons_of_missing_solutions(monkeypatch, capsys):
    monkeypatch.setattr(module, "load", lambda _name: None)
    load_or_reference("rms_norm", "attention", lessons=True)
    assert capsys.readouterr().out.splitlines() == [
        "yours: none yet",
        "ours, where none of yours is kept: rms_norm (lesson 06), attention (lesson 10)",
    ]
