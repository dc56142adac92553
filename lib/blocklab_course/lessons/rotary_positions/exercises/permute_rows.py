"""Known mistakes of `permute_rows`, which carries weights from one pairing to the other."""

from collections.abc import Callable

import torch
from torch import Tensor

from blocklab_course.checks.case import Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import passthrough, wrong

from .headings import CARRIED_OVER


def firsts_then_seconds(d: int) -> Tensor:
    """Of d features the first of each pair, then the second of each: 0, 2, 4, … 1, 3, 5, …"""
    return torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])


def blocks_of_rows(weight: Tensor, heads: int) -> Tensor:
    return weight.unflatten(0, (heads, -1))  # (h, d, d_model)


def rows_in_order(heads: Tensor, order: Tensor) -> Tensor:
    return heads[:, order]


def recipe(
    weight: Tensor,
    num_heads: int,
    *,
    heads: Callable = passthrough,
    cut: Callable = blocks_of_rows,
    order: Callable = firsts_then_seconds,
    take: Callable = rows_in_order,
    join: Callable = lambda heads: heads.flatten(0, 1),
) -> Tensor:
    blocks = cut(weight, heads(num_heads))
    return join(take(blocks, order(blocks.shape[1])))


def back(d: int) -> Tensor:
    return firsts_then_seconds(d).argsort()


def columns_in_order(heads: Tensor, _order: Tensor) -> Tensor:
    """The columns of the whole weight, as wide as its rows are many or not."""
    return heads[:, :, firsts_then_seconds(heads.shape[-1])]


def minus_in_front(heads: Tensor, order: Tensor) -> Tensor:
    """The minus of the rotation put into the weights, as in `rotate_half`."""
    rows = heads[:, order]
    half = rows.shape[1] // 2
    return torch.cat([-rows[:, :half], rows[:, half:]], 1)


def first_head_alone(heads: Tensor, order: Tensor) -> Tensor:
    return torch.cat([heads[:1, order], heads[1:]])


def pairs_of(weight: Tensor, num_heads: int) -> Tensor:
    return weight.unflatten(0, (num_heads, -1, 2))  # (h, d/2, 2, d_model)


def columns_of_slices(weight: Tensor, num_heads: int) -> Tensor:
    blocks = weight.chunk(num_heads, 1)
    return torch.cat([part for block in blocks for part in (block[:, ::2], block[:, 1::2])], 1)


COLUMNS_PERMUTED = wrong("columns-permuted", take=columns_in_order).hint(
    en="You permute the columns, which read the token's features. The features that are rotated are what comes "
    "out, and each row of the weight makes one of them.",
    zh="你重排的是列，它们读入的是词元的特征。要旋转的是输出的特征，权重的每一行算出其中一个。",
    shown_on="square",
)
MISTAKES = (
    wrong("other-way-round", order=back).hint(
        en="Your order leads from halves to neighbors, the way back. The weights come with neighbors as pairs: the "
        "first rows of all pairs go in front, the second ones behind them.",
        zh="你的次序是从前后两半变回相邻，方向反了。给出的权重以相邻两行为一对："
        "各对的第一行都排到前面，第二行都排到后面。",
    ),
    wrong("not-permuted", order=torch.arange).hint(
        en="The rows stand where they stood. Shape and numbers fit, nothing raises an error, and the scores are wrong.",
        zh="各行还在原处。形状和数都对得上，也不报错，可是得分全错了。",
    ),
    wrong("across-heads", heads=lambda heads: 1).hint(
        en="You put the rows of all heads in one order. A head keeps its rows: permute inside each of the `num_heads` "
        "blocks.",
        zh="你把所有头的行放在一起重排了。每个头的行应留在自己的头里，请在 `num_heads` 块的每一块内部重排。",
    ),
    wrong("first-head-alone", take=first_head_alone).hint(
        en="Only the first head is permuted. Every head is rotated, so every head wants its rows in the new order.",
        zh="只有第一个头重排了。每个头都要旋转，所以每个头的行都要换成新的次序。",
    ),
    COLUMNS_PERMUTED,
    COLUMNS_PERMUTED.spelled(lambda w, h: pairs_of(w.T, h).transpose(1, 2).flatten(0, 2).T),
    COLUMNS_PERMUTED.spelled(columns_of_slices),
    wrong("seconds-first", order=lambda d: firsts_then_seconds(d).roll(d // 2)).hint(
        en="The second rows of the pairs stand in front. Then every pair is turned the other way round.",
        zh="每一对的第二行排到了前面。这样，每一对都会朝反方向转。",
    ),
    wrong("halves-exchanged", order=lambda d: torch.arange(d).roll(d // 2)).hint(
        en="You exchange the two halves of each head. The pairs have to be pulled apart: every second row goes to the "
        "front.",
        zh="你把每个头的前后两半对调了。要做的是把每一对拆开：隔一行取一行，排到前面。",
    ),
    wrong("neighbours-exchanged", order=lambda d: torch.arange(d).view(-1, 2).flip(1).flatten()).hint(
        en="You exchange the two rows of each pair, and they are still neighbors. The partner has to stand half a "
        "head away.",
        zh="你只是把每一对的两行对调了，它们仍然相邻。配对的两行应当相隔半个头。",
    ),
    wrong("second-half-backwards", order=lambda d: torch.cat([torch.arange(0, d, 2), torch.arange(d - 1, 0, -2)])).hint(
        en="The second rows come backwards, so the first pair meets the partner of the last one. Both halves run in "
        "the same direction.",
        zh="后一半的次序倒过来了，第一对遇到的是最后一对的搭档。前后两半要按同一个方向排。",
    ),
    wrong("all-backwards", order=lambda d: firsts_then_seconds(d).flip(0)).hint(
        en="Your order runs backwards: the slowest pair stands where the fastest is expected.",
        zh="你的次序整个倒过来了：最慢的一对占了最快的一对的位置。",
    ),
    wrong("minus-in-the-weights", take=minus_in_front).hint(
        en="You put a minus into the weights. It belongs to the rotation (`rotate_half` brings its own); the weights "
        "only change places.",
        zh="你把负号写进了权重。负号属于旋转（`rotate_half` 自己会加），权重只是换位置。",
    ),
    wrong("heads-and-size-swapped", cut=lambda weight, heads: weight.unflatten(0, (-1, heads))).hint(
        en="You make heads of `num_heads` rows each. `num_heads` is how many heads there are.",
        zh="你让每个头有 `num_heads` 行。`num_heads` 是头的个数。",
        shown_on="two heads",
    ),
    wrong("rows-dealt-out", cut=lambda weight, heads: weight.unflatten(0, (-1, heads)).transpose(0, 1)).hint(
        en="You deal the rows out to the heads one by one. A head is a block of neighboring rows.",
        zh="你把各行轮流分给各个头。一个头应是相邻的一段行。",
    ),
    wrong("heads-and-pairs-exchanged", lambda w, h: pairs_of(w, h).transpose(0, 1).flatten(0, 2)).hint(
        en="Heads and pairs change places, so the rows of a head come apart. Axis 0 stays; *which pair* and *which of "
        "the two* change places, axes 1 and 2.",
        zh="你交换的是头的轴和对的轴，头就拆散了。轴 0 不动；要交换的是“第几对”和“第几行”，即轴 1 和轴 2。",
    ),
    wrong("heads-and-members-exchanged", lambda w, h: pairs_of(w, h).transpose(0, 2).flatten(0, 2)).hint(
        en="The heads change places with *which of the two*, so the rows of a head come apart. Axis 0 stays; exchange "
        "axes 1 and 2.",
        zh="你交换的是头的轴和“第几行”的轴，头就拆散了。轴 0 不动，要交换的是轴 1 和轴 2。",
    ),
    wrong("members-and-columns-exchanged", lambda w, h: pairs_of(w, h).mT.reshape(w.shape)).hint(
        en="You exchange the last two axes, and the last one holds the columns: numbers of two rows get mixed. "
        "Exchange axes 1 and 2.",
        zh="你交换的是最后两个轴，而最后一个轴是列，于是两行的数混在了一起。要交换的是轴 1 和轴 2。",
    ),
    wrong("order-of-eight-rows", lambda w, h: w[[0, 2, 4, 6, 1, 3, 5, 7]]).hint(
        en="Your order is that of one head of eight rows. A head may have any even number of rows, and there may be "
        "several: make the order from the size of a head, and use it in each.",
        zh="你的次序只适用于一个头、八行。一个头的行数可以是任何偶数，头也可以有好几个："
        "请按每个头的行数算出次序，用于每一个头。",
    ),
    wrong("heads-not-joined", join=lambda heads: heads).hint(
        en="You return an axis for the heads. The weight keeps its shape, `(h · d, d_model)`: join the blocks again.",
        zh="你的结果里多了头的轴。权重的形状不变，仍是 `(h · d, d_model)`，请把各块重新接起来。",
        hint_line="return heads.flatten(0, 1)",
    ),
    wrong("transposed", join=lambda heads: heads.flatten(0, 1).T).hint(
        en="Your weight lies on its side. `nn.Linear` keeps a row for each output, `(h · d, d_model)`.",
        zh="你的权重转置了。`nn.Linear` 的权重每一行对应一个输出，形状是 `(h · d, d_model)`。",
        hint_line="return heads.flatten(0, 1)",
    ),
)

PERMUTE_ROWS = Exercise(
    name="permute_rows",
    recipe=recipe,
    cases=(
        Case("one head", {"weight": torch.arange(16.0).view(8, 2), "num_heads": 1}),
        Case("two heads", {"weight": torch.arange(24.0).view(12, 2), "num_heads": 2}),
        Case("three heads", {"weight": torch.arange(24.0).view(12, 2), "num_heads": 3}),
        Case("as many heads as pairs", {"weight": waves(16, 3), "num_heads": 4}),
        Case("square", {"weight": waves(12, 12), "num_heads": 2}),
        Case("heads of two rows", {"weight": waves(6, 5), "num_heads": 3}),
        Case("one column", {"weight": waves(8, 1), "num_heads": 2}),
        Case("sixteen heads", {"weight": waves(64, 3), "num_heads": 16}),
        Case("of SmolLM2", {"weight": waves(192, 6), "num_heads": 3}),
        Case("gradient", {"weight": waves(20, 3), "num_heads": 2}, gradient=True),
    ),
    mistakes=MISTAKES,
    scaled_inputs=lambda n: {"weight": waves(4 * n, 4), "num_heads": 2},  # a loop over a few heads is harmless
    exempt={
        "axis 0 of size 1": "a head has pairs of rows",
        "empty": "no weight has no rows, and `view(num_heads, …)` cannot tell the size of nothing",
    },
    section=CARRIED_OVER,
    hint_line="heads = weight.unflatten(0, (num_heads, -1))",
)
