"""Known mistakes of `standardize`."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from blocklab import normalization
from blocklab_course.checks.case import Case, waves, with_outliers
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import passthrough, with_section, wrong
from blocklab_course.checks.recipes.normalizing import (
    CENTRE_MISTAKES,
    DETACHED,
    DIVIDED_FIRST,
    EPS_MISTAKES,
    KEEPDIM_MISTAKES,
    SPREAD_MISTAKES,
    divide,
    mean,
    offset_case,
    select,
    subtract,
    variance,
)
from blocklab_course.i18n import Text


def as_list(_x: Tensor, axes: int | Sequence[int]) -> list[int]:
    return [axes] if isinstance(axes, int) else list(axes)


def at_once(once: Callable, x: Tensor, axes: list[int]) -> Tensor:
    return once(x, axes)


def one_after_another(once: Callable, x: Tensor, axes: list[int]) -> Tensor:
    for axis in axes:
        x = once(x, [axis])
    return x


def recipe(
    x: Tensor,
    axes: int | Sequence[int],
    eps: float = 1e-5,
    *,
    axes_of: Callable = as_list,
    over: Callable = at_once,
    centre: Callable = mean,
    spread: Callable = variance,
    subtract: Callable = subtract,
    small: Callable = passthrough,
    divide: Callable = divide,
) -> Tensor:
    def once(x: Tensor, axes: list[int]) -> Tensor:
        return divide(subtract(x, centre(x, axes)), spread(x, axes), small(eps))

    return over(once, x, axes_of(x, axes))


def only_a_number(_x: Tensor, axes: int | Sequence[int]) -> list[int]:
    if not isinstance(axes, int):
        raise TypeError("axes as a tuple")
    return [axes]


def the_others(x: Tensor, axes: int | Sequence[int]) -> list[int]:
    named = {axis % x.dim() for axis in as_list(x, axes)}
    return [axis for axis in range(x.dim()) if axis not in named]


AXES_MISTAKES = (
    wrong("first-axis-only", axes_of=lambda x, axes: as_list(x, axes)[:1]).hint(
        en="Of several axes you use only the first. All the numbers along all of them share one mean.",
        zh="给出好几个轴时，你只用了第一个。所有这些轴上的数应当合在一起，共用一个均值。",
    ),
    wrong("one-axis-after-another", over=one_after_another).hint(
        en="You standardize along one axis, and the result along the next. Take the mean and the variance over all the "
        "axes at once: the second step changes what the first one set right.",
        zh="你先沿一个轴标准化，再把结果沿下一个轴标准化。应当一次沿所有的轴求均值和方差：第二步会打乱第一步的结果。",
    ),
    wrong("all-axes", axes_of=lambda x, axes: list(range(x.dim()))).hint(
        en="You average over the whole tensor. Average only over the axes in `axes`; every place along the others "
        "keeps a mean of its own.",
        zh="你对整个张量求了均值。只应沿 `axes` 中的轴求均值；在其余的轴上，每个位置各有自己的均值。",
    ),
    wrong("other-axes", axes_of=the_others).hint(
        en="You average over the axes that are not in `axes`. It names the axes that the mean runs along, not those "
        "that keep means of their own.",
        zh="你沿 `axes` 以外的轴求了均值。它指明的是沿哪些轴求均值，而不是保留哪些轴。",
    ),
    wrong("always-the-last-axis", axes_of=lambda x, axes: [-1]).hint(
        en="Your function takes the last axis whatever `axes` says.",
        zh="不论 `axes` 是什么，你的函数都只沿最后一个轴计算。",
    ),
    wrong("always-the-first-axis", axes_of=lambda x, axes: [0]).hint(
        en="Your function takes axis 0 whatever `axes` says, as BatchNorm would.",
        zh="不论 `axes` 是什么，你的函数都只沿轴 0 计算，像批量归一化那样。",
    ),
    wrong("one-axis-refused", axes_of=lambda x, axes: list(axes)).hint(
        en="`axes` may be a single number too, and there your function stops. torch itself takes both: hand `axes` on "
        "as it is, or make a tuple of a number first.",
        zh="`axes` 也可以只是一个数，而你的函数这时会报错。"
        "torch 本身两种都接受：请把 `axes` 原样传下去，或者先把单个数变成元组。",
    ),
    wrong("tuple-refused", axes_of=only_a_number).hint(
        en="`axes` may be a tuple, and there your function stops. `mean` takes a tuple as it is; if you count the "
        "numbers yourself, multiply the sizes of all the axes.",
        zh="`axes` 可以是元组，而你的函数这时会报错。"
        "`mean` 可以直接接受元组；如果要自己算个数，就把这些轴的大小都乘起来。",
    ),
)

# Whole: without the subtraction too it would be the input itself, which is told otherwise.
NOT_DIVIDED = wrong("not-divided", lambda x, axes, eps=1e-5: x - mean(x, as_list(x, axes))).hint(
    en="You subtract the mean and stop there, so the place is right and the size is not. Divide by the root of "
    "variance plus ε.",
    zh="你减去均值就停了，位置对了，大小还不对。还要除以方差加 ε 的平方根。",
)

MEAN_OF_VARIANCES = wrong("mean-of-variances", spread=lambda x, axes: mean(variance(x, axes[-1:]), axes)).hint(
    en="You take the variance along the last of the axes and average it over the others. The means differ too, and "
    "that is missing: take one variance over all the axes.",
    zh="你先沿最后一个轴求方差，再把这些方差沿其余的轴平均。"
    "各处的均值也不相同，这部分差别漏掉了：应当一次沿所有的轴求方差。",
)

VARIANCE_OVER_EVERYTHING = wrong(
    "variance-over-everything", spread=lambda x, axes: (x - mean(x, axes)).square().mean()
).hint(
    en="Your mean runs along `axes`, but your variance over the whole tensor, so all the groups are divided by one "
    "number. The second `mean` wants `axes` and `keepdim=True`, too.",
    zh="你求均值时沿着 `axes`，求方差时却用了整个张量，于是各组都除以同一个数。"
    "第二次调用 `mean` 时，也要写上 `axes` 和 `keepdim=True`。",
)

AVERAGED_BEFORE_SQUARED = wrong(
    "averaged-before-squared", spread=lambda x, axes: mean(x - mean(x, axes), axes).square()
).hint(
    en="You average the differences and square that. Their mean is 0, so nothing but ε is left to divide by. Square "
    "first, then average.",
    zh="你先对各数与均值之差求了均值，再平方。可是这些差的均值是 0，除数就只剩下 ε。应当先平方，再求均值。",
)

OTHER_SCALES = (
    wrong(
        "min-max",
        centre=lambda x, axes: x.amin(axes, keepdim=True),
        spread=lambda x, axes: (x.amax(axes, keepdim=True) - x.amin(axes, keepdim=True)).square(),
    ).hint(
        en="You squeeze the numbers between 0 and 1 by the smallest and the largest one. To standardize is to give "
        "them mean 0 and variance 1.",
        zh="你用最小值和最大值把数压缩到 0 和 1 之间。标准化则是让均值为 0、方差为 1。",
    ),
    wrong(
        "unit-length",
        centre=lambda x, axes: torch.zeros_like(mean(x, axes)),
        spread=lambda x, axes: x.square().sum(axes, keepdim=True),
    ).hint(
        en="You give every vector the length 1, as `F.normalize` does. To standardize is to subtract the mean and "
        "divide by the standard deviation.",
        zh="你让每个向量的长度为 1，那是 `F.normalize` 的做法。标准化则是减去均值，再除以标准差。",
    ),
)

# Whole: a learner's own formula, in which ε stands where no root is.
MEAN_DISTANCE = wrong(
    "mean-distance",
    lambda x, axes, eps=1e-5: (
        (x - mean(x, as_list(x, axes))) / ((x - mean(x, as_list(x, axes))).abs().mean(axes, keepdim=True) + eps)
    ),
).hint(
    en="You divide by the mean distance from the mean. Divide by the standard deviation: square the distances, "
    "average, add ε, and take the root.",
    zh="你除以的是各数与均值之差的绝对值的均值。除数应当是标准差：先把差平方，再求均值，加上 ε，最后开方。",
)
MIN_MAX_BY_HAND = (
    wrong(
        "min-max-with-eps",
        lambda x, axes, eps=1e-5: (
            (x - x.amin(axes, keepdim=True)) / (x.amax(axes, keepdim=True) - x.amin(axes, keepdim=True) + eps)
        ),
    ).hint(
        en="You squeeze the numbers between 0 and 1, by the smallest and the largest one. Subtract the mean instead, "
        "and divide by the standard deviation.",
        zh="你按最小值和最大值把数压缩到了 0 和 1 之间。应当减去均值，再除以标准差。",
    ),
    wrong(
        "min-max-without-eps",
        lambda x, axes, eps=1e-5: (
            (x - x.amin(axes, keepdim=True)) / (x.amax(axes, keepdim=True) - x.amin(axes, keepdim=True))
        ),
    ).hint(
        en="You squeeze the numbers between 0 and 1, and equal ones become 0 divided by 0. Subtract the mean, and "
        "divide by the root of variance plus ε.",
        zh="你把数压缩到了 0 和 1 之间，而几个数都相等时，就成了 0 除以 0。应当减去均值，再除以“方差加 ε”的平方根。",
    ),
)

VARIANCE_DETACHED = wrong("variance-detached", spread=lambda x, axes: variance(x.detach(), axes)).hint(
    en="The numbers are right, and the gradient is not: the variance depends on x, too, but you cut it off from x "
    "(`detach`, `no_grad` or `.data`).",
    zh="数值是对的，梯度却不对：方差也依赖 x，而你用 `detach`、`no_grad` 或 `.data` 切断了它与 x 的联系。",
)

# Whole: the mistakes of the one call `std(axes)`, or `var(axes)`, stand in one step and cannot be put together.
FIRST_DRAFTS = (
    wrong("std-without-arguments", lambda x, axes, eps=1e-5: (x - x.mean(axes)) / (x.std(axes) + eps)).hint(
        en="The right idea, with three slips: without `keepdim=True` the averaged axes are gone and the shapes do not "
        "line up; `std` divides by the count minus 1, so it wants `correction=0`; and ε belongs under the root, next "
        "to the variance.",
        zh="思路是对的，还差三处：不写 `keepdim=True`，求过均值的轴就消失了，形状对不上；`std` 除以个数减 1，"
        "要写 `correction=0`；ε 应当在根号里，与方差相加。",
    ),
    wrong("var-without-arguments", lambda x, axes, eps=1e-5: (x - x.mean(axes)) / (x.var(axes) + eps).sqrt()).hint(
        en="The right formula, with two slips: without `keepdim=True` the averaged axes are gone and the shapes do not "
        "line up; and `var` divides by the count minus 1, so it wants `correction=0`.",
        zh="公式是对的，还差两处：不写 `keepdim=True`，求过均值的轴就消失了，形状对不上；`var` 除以个数减 1，"
        "要写 `correction=0`。",
    ),
)

MEAN_WITHOUT, VARIANCE_WITHOUT = KEEPDIM_MISTAKES
BOTH_WITHOUT = wrong(
    "mean-and-variance-without-keepdim",
    centre=lambda x, axes: x.mean(axes),
    spread=lambda x, axes: x.var(axes, correction=0),
).hint(
    en="Your mean and your variance lose their axes, so they are paired with the wrong axes, or their shapes fit none. "
    "Both need `keepdim=True`.",
    zh="你求均值和方差时都没有保留这些轴，相减、相除时就对到了别的轴上，或者形状根本对不上。"
    "两处都要写 `keepdim=True`。",
    shown_on="square",
)


def misaligned(*, keepdim: bool) -> dict[str, Callable]:
    """The steps where the mean is subtracted along a wrong axis, and the variance is taken of these differences."""
    return {
        "centre": lambda x, axes: x.mean(axes),
        "spread": lambda x, axes: (x - x.mean(axes)).square().mean(axes, keepdim=keepdim),
    }


WITHOUT_KEEPDIM = (
    MEAN_WITHOUT,
    MEAN_WITHOUT.spelled(misaligned(keepdim=True)),
    BOTH_WITHOUT,
    BOTH_WITHOUT.spelled(misaligned(keepdim=False)),
)

THE_FORMULA = Text(en="The formula", zh="公式")
SUBTRACT_AND_DIVIDE = Text(en="By hand: subtract, then divide", zh="动手算：先减，再除")
ELSEWHERE = Text(en="What other code does differently", zh="别的代码怎么写")
MEAN = "mean = x.mean(axes, keepdim=True)"
VARIANCE = "variance = (x - mean).square().mean(axes, keepdim=True)"
UNBIASED = select(SPREAD_MISTAKES, "unbiased-variance")
OTHER_SPREADS = tuple(row for row in SPREAD_MISTAKES if row not in UNBIASED)
SMALLER_DEFAULT = select(EPS_MISTAKES, "eps-default-too-small")
OTHER_EPS = tuple(row for row in EPS_MISTAKES if row not in SMALLER_DEFAULT)

STANDARDIZE = Exercise(
    name="standardize",
    recipe=recipe,
    kernel=normalization.standardize,
    cases=(
        Case("rows", {"x": torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40]]), "axes": -1}),
        Case("columns", {"x": torch.tensor([[1.0, 20], [3, 10], [8, 90]]), "axes": 0}),
        Case("two axes", {"x": torch.tensor([[[1.0, 2]], [[3, 10]]]), "axes": (0, 2)}),
        Case("tiny", {"x": 1e-3 * torch.tensor([[1.0, 2, 3, 4]]), "axes": (1,)}),
        Case("skewed", {"x": torch.tensor([[0.0, 0, 0, 4]]), "axes": -1}),
        Case("constant", {"x": torch.tensor([2.0, 2, 2, 2]), "axes": 0}),
        Case("other eps", {"x": torch.tensor([1.0, 3]), "axes": 0, "eps": 3.0}),
        Case("square", {"x": torch.tensor([[1.0, 2, 6], [4, 10, 1], [7, 3, 5]]), "axes": 1}),
        Case("pictures", {"x": waves(2, 3, 4, 5), "axes": (0, 2, 3)}),
        Case("from the end", {"x": waves(2, 3, 4, 5), "axes": (-2, -1)}),
        Case("the middle from the end", {"x": waves(2, 3, 4, 5), "axes": (-2, 1)}),
        Case("sizes of 1", {"x": waves(2, 3, 1, 1), "axes": (1, -1)}),
        Case("one number each", {"x": waves(3, 1), "axes": -1}),
        Case("outlier", {"x": with_outliers(2, 1025), "axes": -1}),
        Case("large", {"x": 1e4 * waves(3, 5), "axes": -1}),
        Case("no eps", {"x": 1e-6 * waves(3, 5), "axes": 1, "eps": 1e-12}),
        Case("gradient", {"x": waves(2, 4, 3), "axes": (0, 1), "eps": 0.01}, gradient=True),
        offset_case(lambda offset: {"x": torch.tensor([[1.0, 2, 3, 4]]) + offset, "axes": -1}),
    ),
    mistakes=(
        *with_section(THE_FORMULA, *AXES_MISTAKES, *WITHOUT_KEEPDIM, hint_line=MEAN),
        *with_section(THE_FORMULA, MEAN_OF_VARIANCES, VARIANCE_OVER_EVERYTHING, VARIANCE_WITHOUT, hint_line=VARIANCE),
        *with_section(THE_FORMULA, *FIRST_DRAFTS, hint_line="variance = x.var(axes, correction=0, keepdim=True)"),
        *OTHER_EPS,
        *with_section(SUBTRACT_AND_DIVIDE, *SMALLER_DEFAULT, hint_line="def my_standardize(x, axes, eps=1e-5):"),
        *with_section(ELSEWHERE, *UNBIASED, hint_line=VARIANCE),
        *with_section(SUBTRACT_AND_DIVIDE, *OTHER_SPREADS, hint_line=VARIANCE),
        *with_section(SUBTRACT_AND_DIVIDE, *CENTRE_MISTAKES, DETACHED, hint_line=MEAN),
        *with_section(SUBTRACT_AND_DIVIDE, VARIANCE_DETACHED, AVERAGED_BEFORE_SQUARED, hint_line=VARIANCE),
        NOT_DIVIDED,
        DIVIDED_FIRST,
        *with_section(SUBTRACT_AND_DIVIDE, MEAN_DISTANCE, hint_line=VARIANCE),
        *with_section(ELSEWHERE, *OTHER_SCALES, *MIN_MAX_BY_HAND),
    ),
    scaled_inputs=lambda n: {"x": waves(n, n, 4), "axes": -1},
    section=SUBTRACT_AND_DIVIDE,
    hint_line="y = (x - mean) / (variance + eps).sqrt()",
)
