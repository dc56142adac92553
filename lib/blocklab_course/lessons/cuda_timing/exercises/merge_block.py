"""Known mistakes of `merge_block`: one block of keys merged into the running maximum, sum and output of a softmax."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from blocklab_course.checks.case import Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, with_section, wrong
from blocklab_course.i18n import Text


def of_each_query(scores: Tensor) -> Tensor:
    return scores.amax(-1)


def the_larger(m: Tensor, largest: Tensor) -> Tensor:
    return torch.maximum(m, largest)


def zero_where_nothing_was_seen(n: Tensor) -> Tensor:
    return n.masked_fill(n == -math.inf, 0.0)


def subtracted(n: Tensor, _largest: Tensor) -> Tensor:
    return zero_where_nothing_was_seen(n)


def exponential(x: Tensor) -> Tensor:
    return x.exp()


def from_the_new_one(scores: Tensor, base: Tensor, _m: Tensor, _largest: Tensor) -> Tensor:
    return scores - base.unsqueeze(-1)


def down_from_the_old_one(m: Tensor, base: Tensor, _largest: Tensor) -> Tensor:
    return m - base


def rescaled_and_added(l: Tensor, a: Tensor, p: Tensor) -> Tensor:
    return a * l + p.sum(-1)


def rescaled_and_mixed(o: Tensor, a: Tensor, p: Tensor, values: Tensor) -> Tensor:
    return a.unsqueeze(-1) * o + p @ values


def recipe(
    m: Tensor,
    l: Tensor,
    o: Tensor,
    scores: Tensor,
    values: Tensor,
    *,
    largest: Callable = of_each_query,
    newer: Callable = the_larger,
    base: Callable = subtracted,
    distance: Callable = down_from_the_old_one,
    shift: Callable = from_the_new_one,
    power: Callable = exponential,
    rescale: Callable = lambda a: a,
    total: Callable = rescaled_and_added,
    mixed: Callable = rescaled_and_mixed,
    kept: Callable = lambda n, m, largest: n,
    said: Callable = lambda l, n: l,
    divided: Callable = lambda o, l_new, l_old: o,
    order: Callable = lambda m, l, o: (m, l, o),
) -> tuple[Tensor, Tensor, Tensor]:
    highest = largest(scores)
    n = newer(m, highest)
    below = base(n, highest)
    a = rescale(power(distance(m, below, highest)))
    p = power(shift(scores, below, m, highest))
    l_new = total(l, a, p)
    o_new = divided(mixed(o, a, p, values), l_new, l)
    return order(kept(n, m, highest), said(l_new, n), o_new)


BLOCKWISE = Text(
    en="Going further: a softmax, block by block",
    zh="选读：一块一块地算 softmax",
)
EXERCISE = Text(en="Going further: merge a block", zh="选读：合并一块")

MAXIMUM = "n = torch.maximum(m, scores.amax(-1))"
RESCALE = "a = torch.exp(m - base)"
POWERS = "p = torch.exp(scores - base.unsqueeze(-1))"
SUM = "l = a * l + p.sum(-1)"
OUTPUT = "o = a.unsqueeze(-1) * o + p @ values"
BASE = "base = n.masked_fill(n == -torch.inf, 0)"

MAXIMUM_MISTAKES = (
    wrong("maximum-of-the-block-alone", newer=lambda m, largest: largest).hint(
        en="You go on with the maximum of this block and forget the running one. Where an earlier score was larger, "
        "`exp(m - n)` grows without bound. n is the larger of the two.",
        zh="你只用了这一块的最大值，没有理会之前的最大值。如果前面有过更大的得分，`exp(m - n)` 就会越来越大，直到溢出。"
        "n 应当取两者中较大的。",
    ),
    wrong("running-maximum-kept", newer=lambda m, largest: m).hint(
        en="Your maximum never changes: this block's scores have no part in it. At the start it is −∞, and the exp of "
        "score − m is infinite. n is the larger of the two.",
        zh="你的最大值一直不变，这一块的得分没有参与。开始时它是 −∞，得分减去它，再取 exp，就成了无穷大。"
        "n 应当取两者中较大的。",
    ),
    wrong("smaller-of-the-two", newer=torch.minimum).hint(
        en="You take the smaller of the two maxima. Then exponents become positive and can overflow: take the larger.",
        zh="你取的是两个最大值中较小的。这样指数会变成正数，可能溢出：应当取较大的。",
    ),
    wrong("maximum-not-below-zero", newer=lambda m, largest: torch.maximum(m, largest).clamp(min=0)).hint(
        en="Your maximum cannot fall below 0, as if m started at 0. Where all scores lie far below 0, every exp "
        "becomes "
        "0, and o / l is 0 / 0 in the end. m starts at −∞.",
        zh="你的最大值不会低于 0，好像 m 是从 0 开始的。如果得分全都远小于 0，每个 exp 都会变成 0，"
        "最后 o / l 就是 0 / 0。"
        "m 应从 −∞ 开始。",
    ),
    wrong("sum-of-the-two-maxima", newer=lambda m, largest: m + largest).hint(
        en="You add the two maxima. The new one is the larger of the two.",
        zh="你把两个最大值相加了。新的最大值是两者中较大的。",
    ),
    wrong("one-maximum-for-all", largest=lambda scores: scores.amax().expand(scores.shape[:-1])).hint(
        en="You take one maximum over all queries. Where a query has only far smaller scores, all its exp become 0. "
        "Each query, a row of `scores`, has a maximum of its own.",
        zh="你对所有查询取了同一个最大值。如果某个查询的得分都小得多，它的 exp 就全成了 0。"
        "每个查询，也就是 `scores` 的每一行，应有自己的最大值。",
    ),
    wrong("largest-absolute-score", largest=lambda scores: scores.abs().amax(-1)).hint(
        en="You take the largest absolute value. Scores far below 0 need no care: exp makes them small. Take the "
        "largest score.",
        zh="你取的是绝对值的最大值。远小于 0 的得分不必提防，exp 会让它们变小。应当取最大的得分。",
    ),
    wrong("mean-for-maximum", largest=lambda scores: scores.mean(-1)).hint(
        en="You take the mean of the block's scores where the maximum is wanted. Only with the maximum no exponent is "
        "above 0.",
        zh="该取最大值的地方，你取了这一块得分的均值。只有减去最大值，指数才都不大于 0。",
    ),
    wrong("block-maximum-returned", kept=lambda n, m, largest: largest).hint(
        en="You compute with the right maximum, but return that of this block. The next block needs the one that l and "
        "o now belong to.",
        zh="你计算时用对了最大值，返回的却是这一块的最大值。下一块要用的，是现在的 l 和 o 所对应的那个。",
        hint_line="return n, l, o",
    ),
    wrong("old-maximum-returned", kept=lambda n, m, largest: m).hint(
        en="You return m as it came. l and o are now measured from the new maximum: return that one.",
        zh="你原样返回了旧的 m。现在的 l 和 o 都是以新的最大值为准的：应当返回新的。",
        hint_line="return n, l, o",
    ),
    wrong("zero-returned-as-maximum", kept=lambda n, m, largest: zero_where_nothing_was_seen(n)).hint(
        en="You return the 0 that only stands in for −∞ when subtracting. Where nothing was seen yet m has to stay "
        "−∞, or scores far below 0 vanish in the next block. Keep two names: n is returned, base is subtracted.",
        zh="你返回的 m 里，−∞ 也换成了 0，而它只是做减法时的替身：还什么都没有看到时，m 必须仍是 −∞，"
        "否则下一块里远小于 0 的得分就全丢了。请用两个名字：返回 n，减去 base。",
        hint_line="return n, l, o",
    ),
    wrong("large-number-for-infinity", newer=lambda m, largest: torch.maximum(m, largest).clamp(min=-1e9)).hint(
        en="Your maximum is −1e9 where it should be −∞, because nothing was seen yet. l and o are right; return "
        "the maximum as it is, and use another number only where you subtract.",
        zh="还什么都没有看到时，最大值应当是 −∞，你的却是 −1e9。l 和 o 都对；"
        "请原样返回最大值，只在做减法时换成别的数。",
        hint_line="return n, l, o",
    ),
)

RESCALE_MISTAKES = (
    wrong("nothing-rescaled", rescale=torch.ones_like).hint(
        en="Neither l nor o is rescaled, so what was summed up before is still measured from the old maximum. Both "
        "are multiplied by `exp(m - n)`. (If your code has this factor, perhaps m is overwritten by n before: then "
        "it is 1.)",
        zh="l 和 o 都没有重新缩放，前面累加的结果还是以旧的最大值为准。两者都应乘以 `exp(m - n)`。"
        "（如果代码里有这个系数，也许是先把 m 换成了 n：那样它总是 1。）",
    ),
    wrong("rescaled-upside-down", distance=lambda m, base, largest: base - m).hint(
        en="Your factor is `exp(n - m)`, at least 1. What was measured from a smaller maximum has to shrink: `exp(m "
        "- n)`.",
        zh="你乘的是 `exp(n - m)`，它不小于 1。之前以较小的最大值为准，现在应当缩小：乘以 `exp(m - n)`。",
    ),
    wrong("rescaled-without-exp", rescale=torch.log).hint(
        en="Your factor is m − n itself. Powers are rescaled by a power: `exp(m - n)`, since `exp(s - m)` · `exp(m - "
        "n)` = "
        "`exp(s - n)`.",
        zh="你乘的是 m − n 本身。要把指数函数的结果换一个基准，应乘以 `exp(m - n)`，"
        "因为 `exp(s - m)` · `exp(m - n)` = `exp(s - n)`。",
    ),
    wrong("rescaled-from-the-block", distance=lambda m, base, largest: largest - base).hint(
        en="You rescale the past by the exp of this block's maximum − n. The past was measured from m: take `exp(m - "
        "n)`.",
        zh="你用来缩放之前结果的，是这一块的最大值减 n 的 exp。之前的结果以 m 为准：应乘以 `exp(m - n)`。",
    ),
    wrong("rescaled-twice", rescale=torch.square).hint(
        en="The past is rescaled twice, by the square of `exp(m - n)`. Once is enough.",
        zh="之前的结果缩放了两次，乘的是 `exp(m - n)` 的平方。一次就够了。",
    ),
)

POWER_MISTAKES = (
    wrong("maximum-not-subtracted", shift=lambda scores, base, m, largest: scores).hint(
        en="You take the exp of the scores as they are. Subtract the new maximum first: large scores overflow, and l "
        "and "
        "o are measured from n.",
        zh="你直接对得分取了 exp。应当先减去新的最大值：否则得分大了会溢出，而且 l 和 o 都是以 n 为准的。",
    ),
    wrong("no-maximum-at-all", shift=lambda scores, base, m, largest: scores, rescale=torch.ones_like).hint(
        en="You sum up the exp of the scores without any maximum. For small scores the quotient o / l is right, but "
        "large ones "
        "overflow. Subtract n here, and rescale what came before by `exp(m - n)`.",
        zh="你直接累加得分的 exp，完全没有用最大值。得分小的时候，o / l 是对的，大了就会溢出。"
        "这里应当减去 n，之前的结果再乘以 `exp(m - n)`。",
    ),
    wrong(
        "block-by-its-own-maximum",
        shift=lambda scores, base, m, largest: scores - zero_where_nothing_was_seen(largest).unsqueeze(-1),
    ).hint(
        en="You subtract the maximum of this block from its scores. Then the powers of two blocks cannot be added: "
        "both "
        "have to be measured from n.",
        zh="这一块的得分，你减去的是它自己的最大值。这样两块的结果就不能相加：两者都要以 n 为准。",
    ),
    wrong(
        "each-block-by-its-own-maximum",
        shift=lambda scores, base, m, largest: scores - zero_where_nothing_was_seen(largest).unsqueeze(-1),
        rescale=torch.ones_like,
    ).hint(
        en="Each block is measured from its own maximum, and you add them as they are. Like cannot be added to unlike: "
        "bring the past and this block to the common maximum n first.",
        zh="每一块都以自己的最大值为准，你却把它们直接相加了。基准不同就不能相加："
        "应当先把之前的结果和这一块都换成以共同的最大值 n 为准。",
    ),
    wrong("block-by-the-old-maximum", shift=lambda scores, base, m, largest: scores - m.unsqueeze(-1)).hint(
        en="You subtract the old maximum m from the scores. It is −∞ at the start, and later too small where this "
        "block "
        "holds a larger score. Subtract the new one.",
        zh="你从得分里减去的是旧的最大值 m。开始时它是 −∞；后来如果这一块有更大的得分，它又太小。应当减去新的。",
    ),
    wrong("maximum-minus-score", shift=lambda scores, base, m, largest: base.unsqueeze(-1) - scores).hint(
        en="You take the exp of n − score, so the smallest score gets the largest weight. Turn the difference round.",
        zh="你取的是 n 减得分的 exp，于是最小的得分权重反而最大。应当反过来减。",
    ),
    wrong("softmax-of-the-block", shift=lambda scores, base, m, largest: scores.log_softmax(-1)).hint(
        en="You take the softmax of the block. It divides by the sum of this block alone, so a block of small scores "
        "counts as much as one of large ones. Take the exp of score − n, and divide once, after the last block.",
        zh="你对这一块求了 softmax。它除以的只是这一块的和，得分小的块就与得分大的块一样重要了。"
        "应当取得分减 n 的 exp，只在最后一块之后除一次。",
    ),
    wrong("powers-of-two", power=torch.exp2).hint(
        en="You take powers of 2. Fast kernels do so too, after multiplying the scores by log₂ e. Here exp is wanted.",
        zh="你取的是 2 的幂。高速的核函数也这样做，不过会先给得分乘上 log₂ e。这里要的是 exp。",
    ),
)

SUM_MISTAKES = (
    wrong("sum-not-rescaled", total=lambda l, a, p: l + p.sum(-1)).hint(
        en="l is not rescaled: it was summed up from powers that were measured from the old maximum. Multiply it by "
        "`exp(m - n)`, like o.",
        zh="l 没有重新缩放，它是以旧的最大值为准累加起来的。应当与 o 一样乘以 `exp(m - n)`。",
    ),
    wrong("old-sum-dropped", total=lambda l, a, p: p.sum(-1)).hint(
        en="Your l is that of this block alone. The powers of all blocks before belong to the sum, too.",
        zh="你的 l 只有这一块的和。之前各块的也要加进去。",
    ),
    wrong("sum-rescaled-with-the-block", total=lambda l, a, p: a * (l + p.sum(-1))).hint(
        en="You rescale this block's powers as well. They are measured from n already: only the old l is multiplied.",
        zh="这一块的和，你也乘了缩放的系数。它已经以 n 为准了：只有旧的 l 要乘。",
    ),
    wrong("mean-for-sum", total=lambda l, a, p: a * l + p.mean(-1)).hint(
        en="You add the mean of this block's powers. The softmax divides by their sum, and a short last block would "
        "count too much.",
        zh="你加上的是这一块的均值。softmax 要除以的是总和；用均值，最后一块短了就会占得太多。",
    ),
    wrong("largest-power-for-sum", total=lambda l, a, p: a * l + p.amax(-1)).hint(
        en="You add only the largest power of the block. All of them belong to the sum.",
        zh="你只加上了这一块里最大的一个。全部都要加进去。",
    ),
    wrong("logarithm-for-sum", said=lambda l, n: n + l.log()).hint(
        en="Your second result is m + log l, the log-sum-exp. That is what is kept for the way back, at the very end. "
        "The next block needs l itself.",
        zh="你的第二个结果是 m + log l，即 log-sum-exp。那是最后为反向传播保存的。下一块要用的是 l 本身。",
    ),
)

BOTH_MISTAKES = (
    wrong(
        "block-rescaled-for-the-past",
        total=lambda l, a, p: l + a * p.sum(-1),
        mixed=lambda o, a, p, values: o + a.unsqueeze(-1) * (p @ values),
    ).hint(
        en="You rescale this block and leave the past as it was. It is the other way round: p is measured from n "
        "already, l and o are still measured from m, so these two are multiplied.",
        zh="你缩放的是这一块，之前的结果却没有动，正好反了：p 已经以 n 为准，l 和 o 还以 m 为准，要乘系数的是它们。",
    ),
)

OUTPUT_MISTAKES = (
    wrong("output-not-rescaled", mixed=lambda o, a, p, values: o + p @ values).hint(
        en="o is not rescaled: its weights were measured from the old maximum. Multiply it by `exp(m - n)`, like l.",
        zh="o 没有重新缩放，它的权重还是以旧的最大值为准的。应当与 l 一样乘以 `exp(m - n)`。",
    ),
    wrong("old-output-dropped", mixed=lambda o, a, p, values: p @ values).hint(
        en="Your o holds the values of this block alone. What was mixed before belongs to it, too.",
        zh="你的 o 里只有这一块的值。之前混合好的也要加进去。",
    ),
    wrong("output-rescaled-with-the-block", mixed=lambda o, a, p, values: a.unsqueeze(-1) * (o + p @ values)).hint(
        en="You rescale this block's share of o as well. It is measured from n already: only the old o is multiplied.",
        zh="o 里这一块的部分，你也乘了缩放的系数。它已经以 n 为准了：只有旧的 o 要乘。",
    ),
    wrong(
        "values-not-weighted",
        mixed=lambda o, a, p, values: a.unsqueeze(-1) * o + values.sum(-2, keepdim=True).expand(o.shape),
    ).hint(
        en="You add the values of the block without their weights. Each value counts as much as its power: `p @ "
        "values`.",
        zh="你直接加上了这一块的值，没有加权。每个值占多少，要看它的指数：`p @ values`。",
    ),
    wrong(
        "block-divided-by-its-sum",
        mixed=lambda o, a, p, values: a.unsqueeze(-1) * o + (p / p.sum(-1, keepdim=True)) @ values,
    ).hint(
        en="You divide this block's powers by their own sum, as if it were alone. Then a block of small scores "
        "counts as "
        "much as one of large ones. Divide once, after the last block.",
        zh="你把这一块的指数除以了它们自己的和，好像只有这一块。这样得分小的块就与得分大的块一样重要了。"
        "只在最后一块之后除一次。",
    ),
    wrong(
        "mean-of-old-and-new",
        mixed=lambda o, a, p, values: (o + (p / p.sum(-1, keepdim=True)) @ values) / 2,
    ).hint(
        en="You average the result of this block with what was there. Blocks do not count alike: each by the sum of "
        "its "
        "powers.",
        zh="你把这一块的结果与之前的取了平均。各块的分量并不一样，要看各自的指数之和。",
    ),
)

DIVIDED_MISTAKES = (
    wrong("divided-too-early", divided=lambda o, l_new, l_old: o / l_new.unsqueeze(-1)).hint(
        en="You divide o by l already. The next block adds to an o that is not divided: divide once, after the last.",
        zh="你已经把 o 除以了 l。下一块要加到没有除过的 o 上：只在最后一块之后除一次。",
        hint_line="return n, l, o",
    ),
    wrong(
        "output-kept-divided",
        lambda m, l, o, scores, values: recipe(
            m, l, o * l.unsqueeze(-1), scores, values, divided=lambda o, l_new, l_old: o / l_new.unsqueeze(-1)
        ),
    ).hint(
        en="You take o for a mean that is already divided, multiply it by the old l and divide by the new one. The "
        "first "
        "FlashAttention did so. Here o is a sum that nobody has divided yet.",
        zh="你把传入的 o 当作已经除过的均值，先乘以旧的 l，再除以新的 l。最初的 FlashAttention 就是这样做的。"
        "而这里的 o 是还没有除过的和。",
        hint_line="return n, l, o",
    ),
)

INFINITE = wrong("infinity-minus-infinity", base=lambda n, largest: n).hint(
    en="Where every score so far is −∞, your n is −∞ too, and −∞ minus −∞ is NaN. It happens: a mask may hide the "
    "whole "
    "first block. Subtract 0 instead where n is −∞, so that exp gives 0.",
    zh="如果到目前为止的得分全是 −∞，你的 n 也是 −∞，而 −∞ 减 −∞ 是 NaN。"
    "这种事确实会有：掩码可能把第一块全部屏蔽掉。n 是 −∞ 时改为减去 0，exp 就给出 0。",
)


def no_guard(m: Tensor, l: Tensor, o: Tensor, scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return recipe(m, l, o, scores, values, base=lambda n, largest: n)


def skipped_where_all_are_hidden(m: Tensor, l: Tensor, o: Tensor, scores: Tensor, values: Tensor):
    return (m, l, o) if (scores == -math.inf).all() else no_guard(m, l, o, scores, values)


def skipped_where_any_has_seen_nothing(m: Tensor, l: Tensor, o: Tensor, scores: Tensor, values: Tensor):
    n = torch.maximum(m, scores.amax(-1))
    return (n, l, o) if n.isinf().any() else no_guard(m, l, o, scores, values)


HIDDEN_MISTAKES = (
    INFINITE,
    wrong("skipped-only-where-all-are-hidden", skipped_where_all_are_hidden).hint(
        en="You skip a block that is hidden from all queries. In a sliding window it is hidden from some only, and for "
        "them −∞ minus −∞ is NaN. Decide for each query: subtract 0 where its n is −∞.",
        zh="这一块对所有查询都屏蔽时，你才跳过它。用滑动窗口时，它只对一部分查询屏蔽，对它们来说，−∞ 减 −∞ 仍是 NaN。"
        "应当对每个查询分别判断：它的 n 是 −∞，就减去 0。",
    ),
    wrong("skipped-where-any-has-seen-nothing", skipped_where_any_has_seen_nothing).hint(
        en="As soon as one query has seen nothing yet, you drop the block for all of them. The others lose its keys. "
        "Decide for each query: subtract 0 where its n is −∞.",
        zh="只要有一个查询还什么都没有看到，你就对所有查询都跳过了这一块，其他查询就少了这些键。"
        "应当对每个查询分别判断：它的 n 是 −∞，就减去 0。",
    ),
    wrong(
        "zero-where-the-block-is-hidden",
        base=lambda n, largest: n.masked_fill(largest == -math.inf, 0.0),
    ).hint(
        en="You subtract 0 wherever this block is hidden, also where an earlier block had scores. There m is a number, "
        "and l and o are multiplied by `exp(m)` for nothing. Ask n, not the block: 0 only where n is −∞.",
        zh="只要这一块屏蔽了，你就减去 0，哪怕更早的块里有得分。这时 m 是普通的数，l 和 o 就平白乘上了 `exp(m)`。"
        "要看的是 n，不是这一块：只有 n 是 −∞ 才减去 0。",
    ),
)

LOOP = wrong(
    "loop-for-one-query",
    largest=lambda scores: scores.max(),
    shift=lambda scores, base, m, largest: scores - base,
    total=lambda l, a, p: a * l + p.sum(),
    mixed=lambda o, a, p, values: a * o + p @ values,
).hint(
    en="This is the loop for one query. With more, each has a maximum and a sum of its own, along the keys: "
    "`amax(-1)`, `sum(-1)`. And what has one number for each query needs `unsqueeze(-1)` before it meets scores or o.",
    zh="循环里的写法只适用于一个查询。查询多了，每个都有自己的最大值和自己的和，要沿键的轴求：`amax(-1)`、`sum(-1)`。"
    "每个查询只有一个数的，与得分或 o 运算之前，先 `unsqueeze(-1)`。",
    hint_line=POWERS,
)

AXIS_MISTAKES = (
    wrong("maximum-over-queries", largest=lambda scores: scores.amax(-2)).hint(
        en="Your maximum runs over the queries, axis −2. Each query has a maximum of its own, over the keys of the "
        "block, "
        "the last axis.",
        zh="你的最大值是沿查询的轴（轴 −2）取的。每个查询有自己的最大值，应当沿这一块里键的轴，也就是最后一个轴。",
        hint_line=MAXIMUM,
    ),
    wrong("sum-over-queries", total=lambda l, a, p: a * l + p.sum(-2)).hint(
        en="You sum up the powers over the queries, axis −2. The sum of a query runs over the keys, the last axis.",
        zh="你沿查询的轴（轴 −2）求了和。每个查询的和应当沿键的轴，也就是最后一个轴。",
        hint_line=SUM,
    ),
    wrong("one-sum-for-all", total=lambda l, a, p: a * l + p.sum()).hint(
        en="You sum up the powers of all queries. Each query has a sum of its own, over the keys of the block, the "
        "last axis.",
        zh="你把所有查询的指数加在了一起。每个查询有自己的和，应当沿键的轴，也就是最后一个轴。",
        hint_line=SUM,
    ),
    wrong("factor-along-the-features", mixed=lambda o, a, p, values: a * o + p @ values).hint(
        en="Your factor has one number for each query, but `a * o` lines it up with the last axis of o, the "
        "features. Give "
        "it an axis of size 1 at the end.",
        zh="系数是每个查询一个数，而 `a * o` 会把它与 o 的最后一个轴（特征）对齐。请在末尾给它加一个大小为 1 的轴。",
        hint_line=OUTPUT,
    ),
    wrong("maximum-along-the-keys", shift=lambda scores, base, m, largest: scores - base).hint(
        en="Your maximum has one number for each query, but `scores - n` lines it up with the last axis of the "
        "scores, the "
        "keys. Give it an axis of size 1 at the end.",
        zh="最大值是每个查询一个数，而 `scores - n` 会把它与得分的最后一个轴（键）对齐。"
        "请在末尾给它加一个大小为 1 的轴。",
        hint_line=POWERS,
    ),
)

OUTPUT_FIRST = wrong("output-first", order=lambda m, l, o: (o, m, l)).hint(
    en="Your output comes first. Wanted are maximum, sum, output, as they come in.",
    zh="你把输出放在了最前面。应当是最大值、和、输出，与传入的次序一样。",
)
ORDER_MISTAKES = (
    OUTPUT_FIRST,
    OUTPUT_FIRST.spelled({"order": lambda m, l, o: (o, l, m)}),
    wrong("maximum-last", order=lambda m, l, o: (l, o, m)).hint(
        en="Your maximum comes last. Wanted are maximum, sum, output, as they come in.",
        zh="你把最大值放在了最后。应当是最大值、和、输出，与传入的次序一样。",
    ),
    wrong("sum-before-maximum", order=lambda m, l, o: (l, m, o)).hint(
        en="Your first two results stand in another order. Wanted are maximum, sum, output, as they come in.",
        zh="前两个结果的次序反了。应当是最大值、和、输出，与传入的次序一样。",
    ),
)


def six_scores(*blocks: int) -> tuple[Tensor, Tensor]:
    """The example of the lesson: scores 1, 3, 2, 5, −1, 4 and values (j + 1, cos j), of these blocks of two."""
    places = torch.tensor([place for block in blocks for place in (2 * block, 2 * block + 1)])
    scores = torch.tensor([1.0, 3, 2, 5, -1, 4])
    return scores[places].view(1, -1), torch.stack([places + 1.0, torch.cos(places.float())], -1)


def start(*shape: int, features: int) -> dict[str, Tensor]:
    """m, l and o before the first block."""
    return {"m": torch.full(shape, -math.inf), "l": torch.zeros(shape), "o": torch.zeros(*shape, features)}


def block(scores: Tensor, values: Tensor) -> dict[str, Tensor]:
    return {"scores": scores, "values": values}


def after(given: dict[str, Tensor]) -> dict[str, Tensor]:
    """m, l and o behind a block."""
    return dict(zip(("m", "l", "o"), recipe(**given), strict=True))


def running(*shape: int, keys: int, features: int) -> dict[str, Tensor]:
    """Arguments in the midst of a text, with the queries' axes `shape`: some meet a larger score, some do not."""
    seen = {"m": waves(*shape), "l": waves(*shape, start=1.0).abs() + 1, "o": waves(*shape, features, start=2.0)}
    return seen | block(2 * waves(*shape, keys, start=3.0), waves(*shape[:-1], keys, features, start=4.0))


def at(offset: float) -> dict[str, Tensor]:
    """The first block with all scores so much higher."""
    scores, values = six_scores(0)
    return start(1, features=2) | block(scores + offset, values)


FIRST = start(1, features=2) | block(*six_scores(0))
SECOND = after(FIRST) | block(*six_scores(1))
THIRD = after(SECOND) | block(*six_scores(2))
APART = running(2, keys=3, features=2) | {
    "m": torch.tensor([-200.0, 200.0]),
    "scores": torch.tensor([[-201.0, -200, -202], [199, 201, 200]]),
}
HIDDEN = start(1, features=2) | block(torch.full((1, 2), -math.inf), six_scores(0)[1])

# Hidden from the first query, which has seen nothing yet, and from the last, which has
HIDDEN_APART = {
    "m": torch.tensor([-math.inf, 1, 2]),
    "l": torch.tensor([0, 1.5, 2]),
    "o": torch.tensor([[0.0, 0], [1, 2], [3, 4]]),
    "scores": torch.tensor([[-math.inf, -math.inf], [2, 0], [-math.inf, -math.inf]]),
    "values": torch.tensor([[1.0, 5], [2, 7]]),
}

MERGE_BLOCK = Exercise(
    name="merge_block",
    recipe=recipe,
    cases=(
        Case("second block", SECOND),  # a larger maximum
        Case("first block", FIRST),
        Case("third block", THIRD),  # the maximum stays
        Case("all scores hidden", HIDDEN),
        Case("behind hidden scores", after(HIDDEN) | block(*six_scores(1))),
        Case("some scores hidden", SECOND | {"scores": torch.tensor([[2.0, -math.inf]])}),
        Case("far below 0", at(-1000), tolerance=1e-3),  # near 1000 float32 has 4 digits behind the point
        Case("far above 0", at(1000), tolerance=1e-3),
        Case("more queries", running(3, keys=4, features=5)),
        Case("rows far apart", APART, tolerance=1e-4),
        Case("all sizes alike", running(3, keys=3, features=3)),
        Case("rows hidden apart", HIDDEN_APART),
        Case("one key", running(3, keys=1, features=2)),
        Case("one feature", running(2, keys=3, features=1)),
        Case("heads", running(2, 3, keys=4, features=5)),
        Case("as many heads as queries", running(3, 3, keys=4, features=2)),
        Case("one head", running(1, 3, keys=2, features=2)),
        Case("one query", running(2, 1, keys=3, features=2)),
    ),
    mistakes=(
        *with_section(BLOCKWISE, *MAXIMUM_MISTAKES, hint_line=MAXIMUM),
        *with_section(BLOCKWISE, *RESCALE_MISTAKES, hint_line=RESCALE),
        *with_section(BLOCKWISE, *POWER_MISTAKES, hint_line=POWERS),
        *with_section(BLOCKWISE, *SUM_MISTAKES, hint_line=SUM),
        *with_section(BLOCKWISE, *OUTPUT_MISTAKES, hint_line=OUTPUT),
        *with_section(BLOCKWISE, *BOTH_MISTAKES, hint_line=SUM),
        *with_section(BLOCKWISE, *DIVIDED_MISTAKES),
        *with_section(BLOCKWISE, *HIDDEN_MISTAKES, hint_line=BASE),
        *with_section(EXERCISE, *exclusive(recipe, *AXIS_MISTAKES)),
        *with_section(EXERCISE, LOOP),
        *with_section(EXERCISE, *exclusive(recipe, *ORDER_MISTAKES), hint_line="return n, l, o"),
    ),
    scaled_inputs=lambda n: running(n, keys=n + 1, features=n),
    exempt={"gradient": "the maximum may pass one on or not: o / l has the same, m, l and o by themselves have not"},
    section=BLOCKWISE,
    panel=Text(
        en="under *Going further: a softmax, block by block*, compare your m, l and o with the printed table, block "
        "by block.",
        zh="在“选读：一块一块地算 softmax”一节里，把你的 m、l、o 与打印出的表逐块对照。",
    ),
    hint_line=MAXIMUM,
    names={
        "result 0": Text(en="maximum", zh="最大值"),
        "result 1": Text(en="sum", zh="和"),
        "result 2": Text(en="output", zh="输出"),
    },
)
