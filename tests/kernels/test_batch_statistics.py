"""The statistics of parts, and that merged parts match the whole."""

import functools
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab.batch_statistics import batch_statistics, merge_statistics
from blocklab.normalization import batch_norm
from tolerance import TOLERANCE

EXACT = TOLERANCE[torch.float64]


def merged(*parts):
    """The statistics of all parts together, merged from left to right."""
    return functools.reduce(lambda a, b: merge_statistics(*a, *b), parts)


def by_hand(x, axes):
    """The definition in float64, with torch's variance."""
    count = torch.ones(x.shape).sum(axes).max().int().item()
    wide = x.double()
    return count, wide.mean(axes), wide.var(axes, correction=0) * count


def assert_alike(got, wanted, tolerance=EXACT):
    assert got[0] == wanted[0]
    for x, y in zip(got[1:], wanted[1:], strict=True):
        assert_close(x.double(), y.double(), **tolerance)


def test_merge_of_six_numbers_worked_by_hand():
    # 1, 3 | 3, 5, 5, 7: means 2 and 5, together 4; squared distances 2 and 8, together 9 + 1 + 1 + 1 + 1 + 9 = 22
    one, other = batch_statistics(torch.tensor([1.0, 3.0]), 0), batch_statistics(torch.tensor([3.0, 5, 5, 7]), 0)
    assert one == (2, torch.tensor(2.0), torch.tensor(2.0))
    assert other == (4, torch.tensor(5.0), torch.tensor(8.0))
    assert merge_statistics(*one, *other) == (6, torch.tensor(4.0), torch.tensor(22.0))


@pytest.mark.parametrize("axes", [0, -1, (0, 2), [1], (0, 1, 2), (-1, 1)], ids=str)
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_matches_the_definition(axes, dtype, rng):
    x = (3 * torch.randn(4, 5, 7, generator=rng, dtype=torch.float64) + 1).to(dtype)
    count, mean, m2 = batch_statistics(x, axes)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    assert type(count) is int
    assert mean.dtype == m2.dtype == wide
    assert mean.shape == m2.shape == x.sum(axes).shape
    assert_alike((count, mean, m2), by_hand(x, axes), TOLERANCE[wide])


@pytest.mark.parametrize("number", [3333.3333, 6e4, -0.1])
def test_m2_of_equal_numbers_is_0(number):
    count, mean, m2 = batch_statistics(torch.full((2**20 + 7,), number), 0)
    assert count == 2**20 + 7
    assert m2 <= 1e-20 * count * number**2
    assert mean.item() == pytest.approx(number, rel=1e-6)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.floats(-1e3, 1e3), st.integers(0, 2**16))
def test_merged_parts_match_the_whole(sizes, offset, seed):
    generator = torch.Generator().manual_seed(seed)
    parts = [offset + torch.randn(size, 3, generator=generator, dtype=torch.float64) for size in sizes]
    whole = batch_statistics(torch.cat(parts), 0)
    # a mean near 1000 is rounded by 1e-13, and what its square loses with it
    close = {"rtol": 1e-10, "atol": 1e-10}
    assert_alike(merged(*(batch_statistics(part, 0) for part in parts)), whole, close)


@given(st.permutations(range(5)), st.integers(0, 2**16))
def test_merging_order_does_not_matter(order, seed):
    parts = random.Random(seed).sample(range(1, 30), 5)
    generator = torch.Generator().manual_seed(seed)
    parts = [batch_statistics(torch.randn(size, generator=generator, dtype=torch.float64), 0) for size in parts]
    a, b, c, d, e = (parts[place] for place in order)
    assert_alike(merged(a, b, c, d, e), merged(*parts))
    assert_alike(merged(merged(a, b), merged(c, merged(d, e))), merged(*parts))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_merging_an_empty_part_changes_nothing(dtype, rng):
    part = batch_statistics(torch.randn(5, 3, generator=rng).to(dtype), 0)
    none = batch_statistics(torch.ones(0, 3, dtype=dtype), 0)
    zeros = torch.zeros(3, dtype=none[1].dtype)
    for got, (count, mean, m2) in (
        (none, (0, zeros, zeros)),
        (merge_statistics(*none, *none), none),
        (merge_statistics(*part, *none), part),
        (merge_statistics(*none, *part), part),
    ):
        assert got[0] == count
        assert torch.equal(got[1], mean)
        assert torch.equal(got[2], m2)


@pytest.mark.parametrize("offset", [0.0, 2.0**20, -(2.0**20)])
def test_large_offset_does_not_cancel(offset):
    # every mean is an integer that float32 holds; the squares of these numbers are not
    parts = [torch.tensor([1.0, 3.0]) + offset, torch.tensor([3.0, 5, 5, 7]) + offset]
    assert merged(*(batch_statistics(part, 0) for part in parts)) == (6, torch.tensor(4 + offset), torch.tensor(22.0))


def test_merged_parts_give_the_statistics_of_batch_norm(rng):
    x = torch.randn(6, 2, 3, 5, generator=rng, dtype=torch.float64)
    mean, variance = torch.zeros(2, dtype=x.dtype), torch.ones(2, dtype=x.dtype)
    y = batch_norm(x, mean, variance, training=True, momentum=1.0, eps=0.0)
    count, whole, m2 = merged(*(batch_statistics(part, (0, 2, 3)) for part in x.split(4)))
    assert_close(whole, mean, **EXACT)
    assert_close(m2 / (count - 1), variance, **EXACT)
    shape = (1, 2, 1, 1)
    assert_close((x - whole.view(shape)) / (m2 / count).sqrt().view(shape), y, **EXACT)


@pytest.mark.parametrize(("dtype", "other", "wide"), [(16, 16, 32), (16, 64, 64), (64, 32, 64), (32, 16, 32)])
def test_merging_uses_the_wider_dtype(dtype, other, wide, rng):
    dtype, other, wide = (getattr(torch, f"float{bits}") for bits in (dtype, other, wide))
    numbers = torch.rand(4, 3, generator=rng)
    a, b = numbers[:2].to(dtype), numbers[2:].to(other)
    exact = merge_statistics(3, *a.double(), 5, *b.double())
    got = merge_statistics(3, *a, 5, *b)
    assert got[1].dtype == got[2].dtype == wide
    assert_alike(got, exact, TOLERANCE[wide])


def test_first_and_second_derivative(rng):
    a, b = (torch.randn(size, 2, generator=rng, dtype=torch.float64, requires_grad=True) for size in (3, 4))

    def statistics(a, b):
        return merge_statistics(*batch_statistics(a, 0), *batch_statistics(b, 0))[1:]

    assert torch.autograd.gradcheck(statistics, (a, b))
    assert torch.autograd.gradgradcheck(statistics, (a, b))


def test_compiles_without_graph_breaks(rng):
    x = torch.randn(7, 3, generator=rng)

    def halves(x):
        return merge_statistics(*batch_statistics(x[:2], 0), *batch_statistics(x[2:], 0))

    compiled = torch.compile(halves, fullgraph=True, backend="aot_eager", dynamic=False)
    assert_alike(compiled(x), halves(x), TOLERANCE[torch.float32])


ONES, PAIR, ROW = torch.ones(2, 3), torch.ones(2), torch.ones(1)
REFUSED = {
    "batch_statistics: expected axes between -2 and 1, at least one, got ()": lambda: batch_statistics(ONES, ()),
    "merge_statistics: expected count_a to be at least 0, got -1": lambda: merge_statistics(
        -1, PAIR, PAIR, 1, PAIR, PAIR
    ),
    "merge_statistics: expected count_b to be at least 0, got -2": lambda: merge_statistics(
        1, PAIR, PAIR, -2, PAIR, PAIR
    ),
    "merge_statistics: expected m2_a to have shape (2,), got (1,)": lambda: merge_statistics(
        1, PAIR, ROW, 1, PAIR, PAIR
    ),
    "merge_statistics: expected mean_b to have shape (2,), got (1,)": lambda: merge_statistics(
        1, PAIR, PAIR, 1, ROW, PAIR
    ),
    "merge_statistics: expected m2_b to have shape (2,), got (1,)": lambda: merge_statistics(
        1, PAIR, PAIR, 1, PAIR, ROW
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        REFUSED[message]()
    assert str(caught.value) == message


def test_scalar_has_count_one():
    count, mean, m2 = batch_statistics(torch.tensor(3.0), 0)
    assert (count, mean.item(), m2.item()) == (1, 3.0, 0.0)


def test_merging_a_single_number_with_an_empty_part_gives_the_number():
    number = (1, torch.tensor([3.0]), torch.tensor([0.0]))
    empty = (0, torch.tensor([0.0]), torch.tensor([0.0]))
    for merged in (merge_statistics(*empty, *number), merge_statistics(*number, *empty)):
        assert merged == number
