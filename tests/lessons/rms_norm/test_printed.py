"""The lines that the cells print hold the numbers that they are given."""

import torch

from blocklab.lessons.rms_norm import printed


def test_losses_are_told_with_how_many_random_cuts_cost_less_than_the_mean(capsys):
    printed.losses_without(*torch.tensor([3.0, 3.4, 2.9, 3.3, 3.5, 3.4]))
    assert "complete 3.00; no mean 3.40" in (line := capsys.readouterr().out)
    assert "2.90 to 3.50, cheaper than the mean: 2 of 4" in line


def test_the_largest_feature_of_the_first_token_is_found_by_its_size(capsys):
    printed.first_token(12, torch.tensor(946.0), torch.tensor(5.5), torch.tensor([1.0, -23.8, 2.0]))
    assert (
        "after 12 layers: first token   946, others  5.5; its largest feature is 1, now 23.8" in capsys.readouterr().out
    )


def test_each_layer_stands_beside_its_own_answer(capsys):
    printed.same_or_new("W + b", [False, True, False])
    assert capsys.readouterr().out.split() == ["W", "+", "b", "BatchNorm", "new", "LayerNorm", "same", "RMSNorm", "new"]


def test_parts_and_shifts(capsys):
    printed.parts_of_507(28, torch.tensor(-0.13477), torch.tensor(209.84), torch.tensor(279.7))
    printed.effect_of_shift(3, torch.tensor(0.0), torch.tensor(12.6))
    first, second = capsys.readouterr().out.splitlines()
    assert "layer 28: γ before the network is 0.13477" in first
    assert "network: 210 times the median, attention: 280 times" in first
    assert second.endswith("moved by 0.0000; RMSNorm's median angle to the diagonal 13°")
