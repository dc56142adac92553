"""The steps that the normalization layers share, and the known mistakes in each of them.

Every recipe takes these steps: which axes (`axes`), what is subtracted (`centre`), what is divided by (`spread`, the
eps that goes with it in `small`, and `divide`), and the learned weight and bias (`rescale`).
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from blocklab_course.i18n import Text

from ..case import Advice, Case, cast_floats
from ..mistake import AnyError, Mistake, wrong


def mean(x: Tensor, axes: list[int]) -> Tensor:
    return x.mean(axes, keepdim=True)


def variance(x: Tensor, axes: list[int]) -> Tensor:
    return x.var(axes, correction=0, keepdim=True)


def subtract(x: Tensor, mean: Tensor) -> Tensor:
    return x - mean


def divide(centred: Tensor, spread: Tensor, eps: float) -> Tensor:
    return centred / (spread + eps).sqrt()


def rescale(y: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


OVERFLOW = Text(
    en="In float16 the square of a number from 256 on is infinite. Convert to float32 first, `x.float()`, and "
    "convert the result back.",
    zh="在 float16 里，256 及以上的数，平方就是无穷大。请先用 `x.float()` 转成 float32，算完再转回去。",
)
OFFSET = Text(
    en="With a large offset your digits cancel: `mean(x²) − mean(x)²` is the difference of two huge numbers. Subtract "
    "the mean first, then square.",
    zh="数值整体偏移很大时，有效数字会互相抵消：`mean(x²) − mean(x)²` 是两个巨大的数之差。请先减去均值，再平方。",
)


def overflow_case(arguments: dict[str, object], text: Text = OVERFLOW, **weak: object) -> Case:
    """Return a case whose squares overflow in float16. A function that computes in float16 is weak, not wrong."""
    advice = Advice(text, milder=cast_floats(arguments, torch.float64), **weak)
    return Case("overflows-in-float16", arguments, tolerance=1e-2, advice=advice)


def offset_case(arguments: Callable[[float], dict[str, object]], text: Text = OFFSET) -> Case:
    """Return a case with a large offset. A function that loses digits only at a large offset is weak, not wrong."""
    return Case("large-offset", arguments(1e4), tolerance=1e-2, advice=Advice(text, milder=arguments(1e2)))


DIVIDED_FIRST = wrong(
    "divided-before-subtracting",
    centre=mean,  # unchanged: without it the result would be the input itself, which is another mistake
    subtract=lambda x, mean: (x, mean),
    divide=lambda apart, spread, eps: apart[0] - apart[1] / (spread + eps).sqrt(),
).hint(
    en="You divide the mean alone: in `x - mean / root` the division comes first. Put the difference in brackets.",
    zh="你只用均值去除：`x - mean / root` 会先算除法。请给相减的部分加上括号。",
    hint_line="y = (x - mean) / (variance + eps).sqrt()",
)

EPS_MISTAKES = (
    wrong("eps-outside-root", divide=lambda centred, spread, eps: centred / (spread.sqrt() + eps)).hint(
        en="ε stands outside the root: for small inputs you divide by too little. It belongs under the root.",
        zh="ε 写在了根号外面：输入很小时，你的除数太小。ε 应当加在根号里面。",
    ),
    wrong("eps-missing", small=lambda eps: 0.0).hint(
        en="ε is missing. Small inputs are blown up, and where the root is 0 you divide 0 by 0.",
        zh="漏掉了 ε：输入很小时，结果会放得过大；根号内为 0 时，就成了 0 除以 0。",
        shown_on="tiny",
    ),
    wrong("root-missing", divide=lambda centred, spread, eps: centred / (spread + eps)).hint(
        en="The root is missing: with 10 times the input you divide by 100 times as much. Take the root, then divide.",
        zh="漏了开方：输入变为 10 倍，你的除数却变为 100 倍。请先开方，再相除。",
    ),
    wrong("root-of-each", divide=lambda centred, spread, eps: centred / (spread.sqrt() + eps**0.5)).hint(
        en="You take the root of ε by itself. Add ε first, then take one root: the sum of two roots is larger than the "
        "root of the sum, so you divide by too much.",
        zh="你把 ε 单独开了方。应当先加上 ε，再开一次方：分别开方再相加，比相加再开方要大，所以你的除数偏大。",
        shown_on="tiny",
    ),
    wrong("eps-twice", small=lambda eps: 2 * eps).hint(
        en="The place of ε is right, but it is added twice.", zh="ε 的位置是对的，但你加了两次。"
    ),
    wrong(
        "eps-under-and-outside-root", divide=lambda centred, spread, eps: centred / ((spread + eps).sqrt() + eps)
    ).hint(
        en="ε is added twice: under the root, where it belongs, and once more to the root itself.",
        zh="ε 加了两次：一次加在根号里面，这是对的；一次又加在根号外面，是多余的。",
        shown_on="tiny",
    ),
    wrong("eps-as-floor", divide=lambda centred, spread, eps: centred / spread.clamp(min=eps).sqrt()).hint(
        en="You use ε as the least number allowed under the root. It is always added, to large numbers too.",
        zh="你把 ε 当成了根号内的下限，数小于它时才用到。应当总是加上 ε，根号内的数很大时也一样。",
        shown_on="tiny",
    ),
    wrong("eps-argument-ignored", small=lambda eps: 1e-5).hint(
        en="Your function uses an ε of its own, 1e-5, whatever `eps` it is given. Use the argument.",
        zh="不论传入的 `eps` 是多少，你的函数都用自己的 ε，即 1e-5。请用传入的值。",
        shown_on="other eps",
    ),
    wrong("eps-default-too-small", small=lambda eps: 1e-12 if eps == 1e-5 else eps).hint(  # 1e-5: it was left out
        en="Your default for `eps` is 1e-12, as in BERT. Here it is 1e-5: the smaller one is 0 in float16, and in "
        "float32 it lets rounding noise through.",
        zh="你的 `eps` 默认值是 1e-12，与 BERT 相同。"
        "这里应当是 1e-5：更小的那个数在 float16 里就是 0，在 float32 里则会放大舍入噪声。",
        shown_on="tiny",
    ),
)

SPREAD_MISTAKES = (
    wrong("unbiased-variance", spread=lambda x, axes: x.var(axes, keepdim=True)).hint(
        en="You take the variance of n numbers and divide by n − 1, so your standardized numbers are "
        "`√((n − 1)/n)` times the right ones. A normalization layer divides by n: write `correction=0`.",
        zh="一共 n 个数，你求方差时却除以了 n − 1，所以标准化之后的数是正确值的 `√((n − 1)/n)` 倍。"
        "归一化层求方差时应除以 n，请写 `correction=0`。",
    ),
    wrong("mean-square-for-variance", spread=lambda x, axes: x.square().mean(axes, keepdim=True)).hint(
        en="You square x itself. The variance is the mean of the squared distances **from the mean**.",
        zh="你直接对 x 取了平方。求方差时要平方的是 x **与均值之差**，平方之后再求均值。",
    ),
    wrong("sum-for-mean-of-squares", spread=lambda x, axes: (x - mean(x, axes)).square().sum(axes, keepdim=True)).hint(
        en="You add up the squared distances but never divide by how many there are.",
        zh="你把离差（各个数与均值之差）的平方加了起来，却没有除以个数。",
    ),
    wrong(
        "absolute-deviation", spread=lambda x, axes: (x - mean(x, axes)).abs().mean(axes, keepdim=True).square()
    ).hint(
        en="You average the absolute distances from the mean. Square them, average, and take the root at the end.",
        zh="你直接对各数与均值之差的绝对值求了均值。应当先把差平方，再求均值，最后开方。",
    ),
)

PLAIN_VARIANCE = wrong("plain-variance", spread=lambda x, axes: x.var(axes)).hint(
    en="`x.var(axes)` is wrong here in two ways: it divides by n − 1, and it loses its axes, so the division runs "
    "along a wrong one or fits none. Write `correction=0, keepdim=True`.",
    zh="`x.var(axes)` 在这里错了两处：它除以的是 n − 1；"
    "它又没有保留这些轴，相除时就对到了别的轴上，或者形状根本对不上。请写 `correction=0, keepdim=True`。",
    shown_on="square",
)

CENTRE_MISTAKES = (
    wrong("mean-not-subtracted", centre=lambda x, axes: torch.zeros_like(mean(x, axes))).hint(
        en="The mean is not subtracted in the numerator, so the numbers that share a mean do not average 0.",
        zh="分子没有减去均值，所以共用一个均值的那些数，标准化之后平均起来不是 0。",
    ),
    wrong("median-for-mean", centre=lambda x, axes: _median(x, axes)).hint(
        en="You subtract the median. Subtract the mean.", zh="你减去的是中位数，应当减去均值。", shown_on="skewed"
    ),
)


def _median(x: Tensor, axes: list[int]) -> Tensor:
    """Return the median over several axes; torch's takes only one. No axes mean all axes, as in torch's mean."""
    axes = [axis % x.dim() for axis in axes] or list(range(x.dim()))
    rest = [axis for axis in range(x.dim()) if axis not in axes]
    middle = x.permute(*rest, *axes).flatten(len(rest)).median(-1).values
    return middle.view([1 if axis in axes else n for axis, n in enumerate(x.shape)])


DETACHED = wrong(
    "statistics-detached",
    centre=lambda x, axes: mean(x.detach(), axes),
    spread=lambda x, axes: variance(x.detach(), axes),
).hint(
    en="Even where the numbers are right, the gradients are not: mean and variance depend on x too, but you cut them "
    "off from it (`detach`, `no_grad` or `.data`).",
    zh="即使数值是对的，梯度也不对：均值和方差也依赖 x，而你用 `detach`、`no_grad` 或 `.data` 切断了它们与 x 的联系。",
)


KEEPDIM_MISTAKES = (
    wrong("mean-without-keepdim", centre=lambda x, axes: x.mean(axes)).hint(
        en="Your mean loses its axes, so it is subtracted along a wrong axis, or its shape fits none. Keep them with "
        "`keepdim=True`.",
        zh="你求均值时没有保留这些轴，相减时就对到了别的轴上，或者形状根本对不上。请用 `keepdim=True` 保留它们。",
        shown_on="square",
    ),
    wrong("variance-without-keepdim", spread=lambda x, axes: x.var(axes, correction=0)).hint(
        en="Your variance loses its axes, so it divides along a wrong axis, or its shape fits none. Keep them with "
        "`keepdim=True`.",
        zh="你求方差时没有保留这些轴，相除时就对到了别的轴上，或者形状根本对不上。请用 `keepdim=True` 保留它们。",
        shown_on="square",
    ),
)

WEIGHT_MISTAKES = (
    wrong("weight-ignored", rescale=lambda y, weight, bias: rescale(y, None, bias)).hint(
        en="The scale `weight` (γ) has no effect. Multiply by it after normalizing.",
        zh="缩放参数 `weight`（γ）没有起作用。归一化之后要乘以它。",
    ),
    wrong(
        "weight-plus-one", rescale=lambda y, weight, bias: rescale(y, None if weight is None else 1 + weight, bias)
    ).hint(
        en="You multiply by 1 + weight. That is for models that store γ − 1; here `weight` is γ itself.",
        zh="你乘的是 1 + weight。有些模型存的是 γ − 1，才要这样乘；这里的 `weight` 就是 γ 本身。",
    ),
)

WEIGHT_OF_NONE = (
    wrong("times-none", rescale=lambda y, weight, bias: y * weight + bias).hint(
        en="Without a `weight` you multiply by None. Multiply only where there is one: `if weight is not None`.",
        zh="没有传入 `weight` 时，你乘的是 None。请先判断 `if weight is not None`，有了再乘。",
    ),
    wrong("weight-as-condition", rescale=lambda y, weight, bias: rescale(y * weight if weight else y, None, bias)).hint(
        en="`if weight:` asks whether a whole tensor is true, which has no answer. Ask `if weight is not None`.",
        zh="`if weight:` 问的是整个张量是真是假，这没有答案。请写 `if weight is not None`。",
    ),
)


def rescale_needing(*needed: str) -> Callable:
    """Return `rescale`, but for a function that stops, with whatever error, where one of these arguments is None."""

    def rescale_or_stop(y: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
        if any({"weight": weight, "bias": bias}[name] is None for name in needed):
            raise AnyError
        return rescale(y, weight, bias)

    return rescale_or_stop


WEIGHT_NEEDED = wrong("weight-of-none", rescale=rescale_needing("weight")).hint(
    en="Your function stops where no `weight` is given, for then it is None. Use it only `if weight is not None`.",
    zh="没有传入 `weight` 时，它是 None，而你的函数这时会报错。请先判断 `if weight is not None`，有了再用。",
)
BIAS_NEEDED = (
    wrong("bias-of-none", rescale=rescale_needing("bias")).hint(
        en="Your function stops where no `bias` is given, for then it is None. Use it only `if bias is not None`.",
        zh="没有传入 `bias` 时，它是 None，而你的函数这时会报错。请先判断 `if bias is not None`，有了再用。",
    ),
    wrong("weight-and-bias-of-none", rescale=rescale_needing("weight", "bias")).hint(
        en="Your function stops unless both `weight` and `bias` are given. Each of them may be None: ask `is not None` "
        "of both before you use them.",
        zh="只要 `weight` 和 `bias` 缺了一个，你的函数就会报错。"
        "两者都可以是 None：使用之前，请分别判断 `is not None`。",
    ),
)
WEIGHT_AND_BIAS_AS_CONDITIONS = wrong(
    "weight-and-bias-as-conditions", rescale=lambda y, weight, bias: (y * weight if weight else y) + (bias or 0)
).hint(
    en="`if weight:` and `if bias:` ask whether a whole tensor is true, which has no answer. Ask `is not None` of "
    "both.",
    zh="`if weight:` 和 `if bias:` 问的是整个张量是真是假，这没有答案。两处都请写 `is not None`。",
)


def swapped_in_module(y: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """A Module has both always: of ones and zeros, where the input has None."""
    return y * (0 if bias is None else bias) + (1 if weight is None else weight)


WEIGHT_AND_BIAS_SWAPPED = wrong(
    "weight-and-bias-swapped", rescale=lambda y, weight, bias: rescale(y, bias, weight)
).hint(
    en="You multiply by `bias` and add `weight`. It is the other way round.",
    zh="你乘了 `bias`，加了 `weight`，正好反了。",
)
BIAS_MISTAKES = (
    wrong("bias-ignored", rescale=lambda y, weight, bias: rescale(y, weight, None)).hint(
        en="The shift `bias` (β) has no effect. Add it at the end.", zh="平移参数 `bias`（β）没有起作用。最后要加上它。"
    ),
    wrong(
        "bias-before-weight", rescale=lambda y, weight, bias: rescale(y if bias is None else y + bias, weight, None)
    ).hint(
        en="You add the bias first and then multiply, so the bias is scaled too. Multiply, then add.",
        zh="你先加平移参数，再乘缩放参数，于是平移参数也跟着缩放了。应当先乘，后加。",
    ),
    WEIGHT_AND_BIAS_SWAPPED,
    WEIGHT_AND_BIAS_SWAPPED.spelled({"rescale": swapped_in_module}),
)

BOTH_IGNORED = wrong("weight-and-bias-ignored", rescale=lambda y, weight, bias: y).hint(
    en="You standardize and stop there: `weight` (γ) and `bias` (β) have no effect. Multiply by the one, then add the "
    "other.",
    zh="你只做了标准化，`weight`（γ）和 `bias`（β）都没有起作用。还要乘以前者，再加上后者。",
)
RESCALE_MISTAKES = (*WEIGHT_MISTAKES, *BIAS_MISTAKES, BOTH_IGNORED)


SHARED_MISTAKES = (*EPS_MISTAKES, *SPREAD_MISTAKES, *CENTRE_MISTAKES, DETACHED, *RESCALE_MISTAKES)


def select(mistakes: Iterable[Mistake], *names: str) -> tuple[Mistake, ...]:
    """Return the mistakes with these ids: a recipe with many steps of its own takes only the commonest."""
    mistakes = tuple(mistakes)
    return tuple(mistake for name in names for mistake in mistakes if mistake.id == name)


def along_channels(vector: Tensor | None, x: Tensor) -> Tensor | None:
    """Reshape (C,) to (1, C, 1, ...), with as many axes as x."""
    return None if vector is None else vector.view(1, -1, *[1] * (x.dim() - 2))


def not_reshaped(vector: Tensor | None, _x: Tensor) -> Tensor | None:
    """Return the vector unchanged, so that it broadcasts along the last axis."""
    return vector


AFFINE_ON_THE_LAST_AXIS = wrong("affine-on-the-last-axis", lay_affine=not_reshaped).hint(
    en="`weight` and `bias` of shape `(C,)` broadcast along the last axis, not along the channels: that fails, or "
    "gives every column a scale of its own. View them as `(1, C, 1, …)`.",
    zh="形状为 `(C,)` 的 `weight` 和 `bias` 会沿最后一个轴广播，"
    "而不是沿通道轴：要么报错，要么变成每一列各有一个缩放参数。请把它们变形为 `(1, C, 1, …)`。",
)
