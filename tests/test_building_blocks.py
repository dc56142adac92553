import torch

from blocklab_course import building_blocks as module
from blocklab_course.building_blocks import load_functions, load_or_reference
from blocklab_course.lessons.catalog import EXERCISES


def test_saved_solutions_replace_references(monkeypatch, capsys):
    monkeypatch.setattr(module, "load", {"causal_mask": torch.zeros}.get)
    mine = load_or_reference("causal_mask", "rms_norm")
    assert capsys.readouterr().out.splitlines() == ["yours: causal_mask", "ours: rms_norm"]
    assert mine.causal_mask is torch.zeros
    assert mine.rms_norm is EXERCISES["rms_norm"].reference


def test_load_functions_gives_none_for_missing_solutions(monkeypatch, capsys):
    monkeypatch.setattr(module, "load", {"causal_mask": torch.zeros}.get)
    assert load_functions("causal_mask", "swiglu") == {"causal_mask": torch.zeros, "swiglu": None}
    assert capsys.readouterr().out == ""


def test_prints_lessons_of_missing_solutions(monkeypatch, capsys):
    monkeypatch.setattr(module, "load", lambda _name: None)
    load_or_reference("rms_norm", "attention", lessons=True)
    assert capsys.readouterr().out.splitlines() == [
        "yours: none yet",
        "ours: rms_norm (lesson 06), attention (lesson 09)",
    ]
