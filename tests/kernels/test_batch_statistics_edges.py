"""Statistics of a single number, which larger batches never reach."""

import torch

from blocklab.batch_statistics import batch_statistics, merge_statistics


def test_scalar_counts_as_one_number():
    count, mean, m2 = batch_statistics(torch.tensor(3.0), 0)
    assert (count, mean.item(), m2.item()) == (1, 3.0, 0.0)


def test_merging_a_single_number_with_an_empty_part_gives_the_number():
    number = (1, torch.tensor([3.0]), torch.tensor([0.0]))
    empty = (0, torch.tensor([0.0]), torch.tensor([0.0]))
    for merged in (merge_statistics(*empty, *number), merge_statistics(*number, *empty)):
        assert merged == number
