"""Known mistakes of `merge_statistics`."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from blocklab import batch_statistics
from blocklab_course.checks.case import Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, with_section, wrong
from blocklab_course.checks.recipes.normalizing import offset_case
from blocklab_course.i18n import Text


def both(a: int, b: int) -> int:
    return a + b


def by_count(a: int, b: int) -> tuple[float, float]:
    return a / (a + b), b / (a + b)


def recipe(
    count_a: int,
    mean_a: Tensor,
    m2_a: Tensor,
    count_b: int,
    mean_b: Tensor,
    m2_b: Tensor,
    *,
    total: Callable = both,
    shares: Callable = by_count,
    within: Callable = lambda m2_a, m2_b, a, b: m2_a + m2_b,
    apart: Callable = torch.square,
    factor: Callable = lambda a, b: a * b / (a + b),
    finish: Callable = lambda m2, count: m2,
    order: Callable = lambda count, mean, m2: (count, mean, m2),
) -> tuple[int, Tensor, Tensor]:
    a, b = shares(count_a, count_b)
    between = factor(count_a, count_b) * apart(mean_b - mean_a)
    m2 = within(m2_a, m2_b, count_a, count_b) + between
    return order(total(count_a, count_b), a * mean_a + b * mean_b, finish(m2, count_a + count_b))


MEAN_MISTAKES = (
    wrong("mean-of-means", shares=lambda a, b: (0.5, 0.5)).hint(
        en="You take the plain mean of the two means. A part with more numbers counts for more: weight each mean by "
        "its count.",
        zh="你直接取了两个均值的平均。个数多的部分应当占得更多：请用各自的个数给均值加权。",
    ),
    wrong("mean-of-means-for-both", shares=lambda a, b: (0.5, 0.5), factor=lambda a, b: (a + b) / 4).hint(
        en="You take the plain mean of the two means, and measure M2 from there. A part with more numbers counts for "
        "more: weight each mean by its count, then M2 comes right too.",
        zh="你直接取了两个均值的平均，M2 也从它量起。"
        "个数多的部分应当占得更多：请用各自的个数给均值加权，这样 M2 也就对了。",
    ),
    wrong("shares-swapped", shares=lambda a, b: by_count(b, a)).hint(
        en="Each mean has the weight of the other part. The larger part has the larger weight.",
        zh="两个均值的权重互换了：每个均值用的是另一部分的权重。个数多的部分，权重应当更大。",
    ),
    wrong("means-added", shares=lambda a, b: (1.0, 1.0)).hint(
        en="You add the two means. Only counts and sums can be added: a mean of both lies between the two means.",
        zh="你把两个均值相加了。只有个数与总和才能相加；合起来的均值应当在两个均值之间。",
    ),
    wrong("sum-for-mean", shares=lambda a, b: (float(a), float(b))).hint(
        en="Your second result is the sum of all numbers. Divide it by the common count.",
        zh="你的第二个结果是所有数的总和。还要除以总个数。",
    ),
    wrong("second-mean-alone", shares=lambda a, b: (0.0, 1.0)).hint(
        en="Your mean is that of the second part: you go the whole way from the first mean to the second. Go the share "
        "of the way that the second part has in the count.",
        zh="你的均值就是第二部分的均值：从第一个均值一直走到了第二个均值。走多远，应看第二部分的个数占总个数的多少。",
    ),
    wrong("away-from-the-second", shares=lambda a, b: (1 + b / (a + b), -b / (a + b))).hint(
        en="The sign of the step is wrong: your mean moves away from that of the second part.",
        zh="这一步的符号反了：你的均值在远离第二部分的均值。",
    ),
)

WITHIN_MISTAKES = (
    wrong("counts-multiplied-again", within=lambda m2_a, m2_b, a, b: a * m2_a + b * m2_b).hint(
        en="You multiply each M2 by its count, as if it were a variance. M2 is the sum of squared distances itself: "
        "add the two.",
        zh="你把每个 M2 又乘了个数，好像它是方差一样。M2 本身就是距离平方之和，直接相加即可。",
    ),
    wrong("m2-averaged", within=lambda m2_a, m2_b, a, b: (a * m2_a + b * m2_b) / (a + b)).hint(
        en="You average the two M2, weighted by the counts, as one does with variances. M2 is a sum, not a mean: add "
        "the two.",
        zh="你像处理方差那样，按个数对两个 M2 做了加权平均。M2 是总和，不是均值，应当直接相加。",
    ),
    wrong("m2-divided", within=lambda m2_a, m2_b, a, b: m2_a / a + m2_b / b).hint(
        en="You divide each M2 by its count. M2 is a sum: add the two as they are.",
        zh="你把每个 M2 除以了它的个数。M2 是总和，应当原样相加。",
    ),
    wrong("variances-averaged", within=lambda m2_a, m2_b, a, b: (a + b) * (m2_a / a + m2_b / b) / 2).hint(
        en="You take the plain mean of the two variances. Each variance counts as much as its part has numbers, so "
        "stay with M2, which already holds the count.",
        zh="你直接取了两个方差的平均。每个方差占多少，取决于那一部分有多少个数；M2 已经含有个数，请直接用 M2。",
    ),
    wrong(
        "deviations-averaged",
        within=lambda m2_a, m2_b, a, b: (a + b) * (((m2_a / a).sqrt() + (m2_b / b).sqrt()) / 2).square(),
    ).hint(
        en="You average the two standard deviations. Roots cannot be averaged: squared distances add up, so add the "
        "two M2.",
        zh="你求了两个标准差的均值。开过方的数不能这样平均：能相加的是距离的平方之和，也就是两个 M2。",
    ),
    wrong("second-m2-forgotten", within=lambda m2_a, m2_b, a, b: m2_a).hint(
        en="The M2 of the second part has no effect. That shortcut is for a single new number, which has no spread.",
        zh="第二部分的 M2 没有起作用。只有新来的是单独一个数时，才能省去它：一个数没有离散程度。",
    ),
)

BETWEEN_MISTAKES = (
    wrong("between-missing", factor=lambda a, b: 0.0).hint(
        en="What lies between the two parts is missing in your M2. Each part measured from its own mean; where the "
        "means differ, the numbers are farther from the common one, so a term with `delta²` belongs there. (Distances "
        "that are not squared do not help: weighted by the counts they cancel to 0.)",
        zh="你的 M2 里缺了两部分之间的那一项。"
        "每一部分都从自己的均值量起；两个均值不同时，这些数离共同的均值更远，所以还要加上含 `delta²` 的一项。"
        "（如果你加的是没有平方的距离，按个数加权之后，它们正好抵消成 0。）",
    ),
    wrong("between-without-counts", factor=lambda a, b: 1.0).hint(
        en="You add the squared distance of the means once. It has to count for all numbers of both parts: its factor "
        "is made of the two counts.",
        zh="两个均值之差的平方，你只加了一次。它要算到两部分的所有数上，所以应乘以由两个个数组成的系数。",
    ),
    wrong("between-with-the-common-count", factor=lambda a, b: float(a + b)).hint(
        en="You let every number step from one mean to the other. What counts is how far the mean of its part is from "
        "the *common* mean, which lies between the two, so both steps are shorter.",
        zh="你让每个数都从一个均值走到了另一个均值。该量的是各部分的均值到**共同的**均值有多远；"
        "共同的均值在两者之间，所以两段路都要短一些。",
    ),
    wrong("between-once-for-each-part", factor=lambda a, b: (a * a + b * b) / (a + b) ** 2).hint(
        en="You add the square of each part's step once. All of its numbers take that step, so multiply each square by "
        "the count of its part.",
        zh="每一部分到共同均值的距离，你只加了一份平方。这一部分的每个数都多了这段距离，所以平方要乘以这一部分的个数。",
    ),
    wrong("between-with-the-other-count", factor=lambda a, b: (a**3 + b**3) / (a + b) ** 2).hint(
        en="You multiply the square of each part's step by the count of the other part. Each step counts once for "
        "every number of its own part.",
        zh="每一部分那一步的平方，你乘的是另一部分的个数。自己这一部分有几个数，就该加几份。",
    ),
    wrong("between-not-divided", factor=lambda a, b: float(a * b)).hint(
        en="Your factor is the product of the counts. Divide it by their sum.",
        zh="你的系数是两个个数的乘积，还要除以它们之和。",
    ),
    wrong("between-of-variances", factor=lambda a, b: a * b / (a + b) ** 2).hint(
        en="You divide by the squared count, as the formula for variances does. M2 is larger by the count, so divide "
        "only once.",
        zh="你除以了总个数的平方，那是方差的公式。M2 等于方差乘以总个数，所以只除一次。",
    ),
    wrong("between-upside-down", factor=lambda a, b: (a + b) / (a * b)).hint(
        en="Your factor stands upside down: the product of the counts belongs above, their sum below.",
        zh="你的系数上下颠倒了：个数的乘积应在分子，个数之和应在分母。",
    ),
    wrong("between-with-the-share-of-the-mean", factor=lambda a, b: b / (a + b)).hint(
        en="You multiply `delta²` by the share of the second part, as in the mean. The count of the first part is a "
        "factor too.",
        zh="你给 `delta²` 乘的是第二部分所占的比例，那是均值里的系数。这里还要乘以第一部分的个数。",
    ),
    wrong("between-of-equal-parts", factor=lambda a, b: (a + b) / 4).hint(
        en="Your factor is a quarter of the common count, which holds for two parts of the same size only.",
        zh="你的系数是总个数的四分之一，只有两部分一样大时才成立。",
    ),
    wrong("between-of-one-part", factor=lambda a, b: b * (a / (a + b)) ** 2).hint(
        en="You count how far the mean of the second part is from the common mean, but the mean of the first part has "
        "moved as well.",
        zh="你只算了第二部分的均值到共同均值的距离。第一部分的均值到共同均值也有距离，同样要算进去。",
    ),
    wrong("between-subtracted", factor=lambda a, b: -a * b / (a + b)).hint(
        en="You subtract what the distance of the means brings. It is added: two parts that lie apart spread more, not "
        "less.",
        zh="两个均值之差带来的那一项，你用了减法。应当加上：两部分离得越远，整体就越分散。",
    ),
    wrong("distance-not-squared", apart=lambda delta: delta).hint(
        en="The distance of the means is not squared, so it can even be negative. M2 holds squares.",
        zh="两个均值之差没有平方，于是那一项甚至可能是负数。M2 里都是平方。",
    ),
    wrong("absolute-distance", partial(recipe, apart=torch.abs)).hint(
        en="You take the distance of the means as it is, without its sign. M2 holds squares: square it.",
        zh="你用的是两个均值之差的绝对值。M2 里都是平方，应当把它平方。",
    ),
)

FINISH_MISTAKES = (
    wrong("variance-for-m2", finish=lambda m2, count: m2 / count).hint(
        en="Your third result is the variance. Wanted is M2, the sum that is not divided yet, so that it can be merged "
        "again.",
        zh="你的第三个结果是方差。需要的是 M2，即还没有除过的总和，这样才能继续合并。",
    ),
    wrong("unbiased-variance-for-m2", finish=lambda m2, count: m2 / (count - 1)).hint(
        en="Your third result is the unbiased variance, divided by the count − 1. Wanted is M2, not divided at all.",
        zh="你的第三个结果是无偏方差，即除以了个数 − 1。需要的是完全没有除过的 M2。",
    ),
    wrong("deviation-for-m2", finish=lambda m2, count: (m2 / count).sqrt()).hint(
        en="Your third result is the standard deviation. Wanted is M2: not divided, and no root taken.",
        zh="你的第三个结果是标准差。需要的是 M2：不除以个数，也不开方。",
    ),
)

FIRST_COUNT_ALONE = wrong("first-count-alone", total=lambda a, b: a).hint(
    en="You return the count of the first part. The next merge needs that of both.",
    zh="你返回的是第一部分的个数。下一次合并要用的是两部分的总个数。",
)

EMPTY_PART_DIVIDED = wrong(
    "empty-part-divided",
    within=lambda m2_a, m2_b, a, b: (m2_a / a if a else m2_a / 0) * a + (m2_b / b if b else m2_b / 0) * b,
).hint(
    en="With an empty part you divide 0 by 0. Divide by the common count only, and an empty part changes nothing.",
    zh="有一部分为空时，你会用 0 除以 0。请只除以总个数，这样空的部分就不会影响结果。",
)
COUNT_DIVIDED_BY = wrong("count-divided-by", factor=lambda a, b: 1 / (1 / a + 1 / b)).hint(
    en="With an empty part you divide by its count, which is 0. Divide by the common count only.",
    zh="有一部分为空时，它的个数是 0，而你除以了这个个数。请只除以总个数。",
)

ORDER_MISTAKES = (
    wrong("mean-before-count", order=lambda count, mean, m2: (mean, count, m2)).hint(
        en="Your three results stand in another order: the mean comes first. Wanted are count, mean, M2.",
        zh="三个结果的次序不对，你把均值放在了最前面。应当是：个数、均值、M2。",
    ),
    wrong("m2-before-mean", order=lambda count, mean, m2: (count, m2, mean)).hint(
        en="Your last two results stand in another order. Wanted are count, mean, M2.",
        zh="后两个结果的次序反了。应当是：个数、均值、M2。",
    ),
    wrong("count-last", order=lambda count, mean, m2: (mean, m2, count)).hint(
        en="Your count comes last. Wanted are count, mean, M2.",
        zh="你把个数放在了最后。应当是：个数、均值、M2。",
    ),
)

OFFSET = Text(
    en="With a large offset your digits cancel: count times `mean²` is huge beside M2. Take the difference of the "
    "means first, then square.",
    zh="数值整体偏移很大时，有效数字会互相抵消：个数乘以 `mean²`，比 M2 大得多。请先求两个均值之差，再平方。",
)


def parts(a: int, mean_a: list, m2_a: list, b: int, mean_b: list, m2_b: list) -> dict[str, object]:
    """The arguments, with lists made into tensors."""
    values = (a, mean_a, m2_a, b, mean_b, m2_b)
    names = ("count_a", "mean_a", "m2_a", "count_b", "mean_b", "m2_b")
    return {name: torch.tensor(x) if isinstance(x, list) else x for name, x in zip(names, values, strict=True)}


def waving(a: int, b: int, *shape: int) -> dict[str, object]:
    """Arguments of any shape; no part has a negative M2."""
    means = {"mean_a": waves(*shape), "mean_b": waves(*shape, start=1.0)}
    spreads = {"m2_a": waves(*shape, start=2.0).square() + 1, "m2_b": waves(*shape, start=3.0).square() + 1}
    given = {"count_a": a, "count_b": b} | means | spreads
    return {name: given[name] for name in ("count_a", "mean_a", "m2_a", "count_b", "mean_b", "m2_b")}


GPUS = Text(en="Going further: several GPUs", zh="选读：多块 GPU")

MERGE_STATISTICS = Exercise(
    name="merge_statistics",
    recipe=recipe,
    kernel=batch_statistics.merge_statistics,
    cases=(
        Case("six numbers", parts(2, [2.0], [2.0], 4, [5.0], [8.0])),  # 1, 3 and 3, 5, 5, 7
        Case("one more number", parts(3, [7.0], [6.0], 1, [3.0], [0.0])),
        Case("equal parts", parts(2, [1.0, 4], [2.0, 8], 2, [5.0, 4], [8.0, 2])),
        Case("channels", waving(3, 5, 2, 3)),
        Case("second part empty", parts(2, [2.0], [2.0], 0, [0.0], [0.0])),
        Case("first part empty", parts(0, [0.0], [0.0], 4, [5.0], [8.0])),
        Case("one number in the first", parts(1, [2.0], [0.0], 4, [5.0], [8.0])),
        Case("equal numbers in the first", parts(2, [2.0], [0.0], 4, [5.0], [8.0])),
        Case("equal numbers in the second", parts(4, [5.0], [8.0], 2, [2.0], [0.0])),
        Case("first mean of 0", parts(2, [0.0], [2.0], 4, [5.0], [8.0])),
        Case("second mean of 0", parts(4, [5.0], [8.0], 2, [0.0], [2.0])),
        Case("more in the first", waving(6, 5, 2, 3)),
        Case("more in the second", waving(3, 9, 2, 3)),
        Case("one channel", waving(3, 5, 2, 1)),
        Case("large", parts(2, [2e4], [2e8], 4, [-5e4], [8e8])),
        Case("gradient", waving(7, 4, 2, 3), gradient=True),
        offset_case(lambda offset: parts(2, [offset + 2], [2.0], 4, [offset + 5], [8.0]), OFFSET),
    ),
    mistakes=(
        *with_section(GPUS, *MEAN_MISTAKES, hint_line="mean = mean_a + delta * (count_b / count)"),
        *with_section(GPUS, *WITHIN_MISTAKES, hint_line="within = m2_a + m2_b"),
        *with_section(GPUS, *BETWEEN_MISTAKES, hint_line="between = delta.square() * (count_a * count_b / count)"),
        *with_section(GPUS, *FINISH_MISTAKES, hint_line="return count, mean, within + between"),
        *with_section(GPUS, FIRST_COUNT_ALONE, hint_line="count = count_a + count_b"),
        *with_section(GPUS, EMPTY_PART_DIVIDED, hint_line="within = m2_a + m2_b"),
        *with_section(
            GPUS,
            *exclusive(recipe, COUNT_DIVIDED_BY),
            hint_line="between = delta.square() * (count_a * count_b / count)",
        ),
        *with_section(GPUS, *exclusive(recipe, *ORDER_MISTAKES), hint_line="return count, mean, within + between"),
    ),
    scaled_inputs=lambda n: waving(3, 5, n, n),
    hint_line="delta = mean_b - mean_a",
    section=GPUS,
    panel=Text(
        en="under *Going further: several GPUs*, compare your results for the six numbers with the picture; then move "
        "part b.",
        zh="在“选读：多块 GPU”一节里：先用那六个数，把你的结果与各行右边的数对照，再移动部分 b。",
    ),
    names={
        "result 0": Text(en="count", zh="个数"),
        "result 1": Text(en="mean", zh="均值"),
        "result 2": Text(en="M2", zh="M2"),
    },
)
