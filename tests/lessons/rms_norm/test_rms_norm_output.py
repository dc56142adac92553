"""The lines that the cells print hold the numbers that they are given."""

import torch

from blocklab_course.lessons.rms_norm import output


def test_losses_are_told_with_how_many_random_cuts_cost_less_than_the_mean(capsys):
    output.losses_without(3.0, 3.6, 3.4, 2.9, 3.3, 3.5, 3.4)
    first, second = capsys.readouterr().out.splitlines()
    assert first == "complete 3.00; no mean 3.60"
    assert "no mean 3.40; a random direction less 2.90 to 3.50, cheaper than the mean: 2 of 4" in second


def test_the_first_token_is_told_beside_the_others_with_its_largest_feature(capsys):
    tokens = torch.tensor([[300.0, -946.0], [3.0, 4.0], [-3.0, -4.0]])
    output.first_token(12, tokens, torch.tensor([[1.0, -23.8], [0, 0], [0, 0]]))
    assert capsys.readouterr().out == (
        "after 12 layers: first token   702 (mean 323), others  3.5 (mean 3.5); "
        "the first's largest feature is 1, now 23.8\n"
    )


def test_each_layer_stands_beside_its_own_answer(capsys):
    output.same_or_new("W + b", True, False)
    assert capsys.readouterr().out.split() == ["W", "+", "b", "LayerNorm", "same", "RMSNorm", "new"]


def test_the_short_lines(capsys):
    output.by_hand(torch.tensor([[7.5]]), torch.tensor([1.0]))
    output.largest(torch.tensor(64.0), torch.tensor(63.99))
    output.ratio(torch.tensor(0.015625), 4096)
    output.gain("norm", torch.tensor([-1.0, 2.0, -0.5]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("mean squares tensor([7.5")
    assert lines[2:] == [
        "1. largest: 64.00 after RMSNorm, 63.99 after LayerNorm",
        "2. ratio: 0.0156 = 1 / 64",
        "norm            from -1.000 to 2.000, negative 2",
    ]


def test_parts_and_shifts(capsys):
    output.parts_of_507(28, torch.tensor(-0.13477), torch.tensor(209.84), torch.tensor(279.7))
    output.effect_of_shift(3, torch.tensor(0.0), torch.tensor(12.6))
    first, second = capsys.readouterr().out.splitlines()
    assert "layer 28: |γ| before the network is 0.13477" in first
    assert "network: 210 times the median, attention: 280 times" in first
    assert second.endswith("moved by 0.0000; RMSNorm's median angle to the diagonal 13°")
