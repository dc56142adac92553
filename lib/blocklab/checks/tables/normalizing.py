"""The steps that the normalization layers share, and the mistakes that can be made in each of them.

Every recipe takes these steps: which axes (`axes`), what is subtracted (`centre`), what is divided by (`spread`, the
eps that goes with it in `small`, and `divide`), and the learned weight and bias (`rescale`).
"""

import torch
from torch import Tensor

from blocklab.language import Text

from ..exercise import Mistake


def mean(x: Tensor, axes: list[int]) -> Tensor:
    return x.mean(axes, keepdim=True)


def variance(x: Tensor, axes: list[int]) -> Tensor:
    return x.var(axes, correction=0, keepdim=True)


def given(eps: float) -> float:
    return eps


def divide(centred: Tensor, spread: Tensor, eps: float) -> Tensor:
    return centred / (spread + eps).sqrt()


def rescale(y: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


OVERFLOW = Text(
    en="In float16 your squares overflow above 255: they become infinite. Convert to float32 first, `x.float()`, and "
    "convert the result back.",
    zh="在 float16 里，大于 255 的数一平方就溢出，变成无穷大。请先用 `x.float()` 转成 float32，算完再转回去。",
)
OFFSET = Text(
    en="With a large offset your digits cancel: `mean(x²) − mean(x)²` is the difference of two huge numbers. Subtract "
    "the mean first, then square.",
    zh="数值整体偏移很大时，有效数字会互相抵消：`mean(x²) − mean(x)²` 是两个巨大的数之差。请先减去均值，再平方。",
)

EPS_MISTAKES = (
    Mistake(
        "eps-outside-root",
        {"divide": lambda centred, spread, eps: centred / (spread.sqrt() + eps)},
        Text(
            en="ε stands outside the root: you divide by √variance + ε, which is too little for small inputs. It "
            "belongs inside, next to the variance.",
            zh="ε 写在了根号外面：你除以的是 √方差 + ε，输入很小时，这个除数太小。ε 应加在根号内的方差上。",
        ),
        "tiny",
    ),
    Mistake(
        "eps-missing",
        {"small": lambda eps: 0.0},
        Text(
            en="ε is missing. Small inputs are blown up, and a constant input gives 0 / 0.",
            zh="漏掉了 ε：很小的输入会被放得过大，常数输入会得到 0 / 0。",
        ),
        "tiny",
    ),
    Mistake(
        "root-missing",
        {"divide": lambda centred, spread, eps: centred / (spread + eps)},
        Text(
            en="You divide by the variance. Take its root: the standard deviation has the unit of the input.",
            zh="你除以了方差。请先开方：标准差的单位才与输入相同。",
        ),
        "rows",
    ),
    Mistake(
        "root-of-each",
        {"divide": lambda centred, spread, eps: centred / (spread.sqrt() + eps**0.5)},
        Text(
            en="You take the roots of the variance and of ε one by one and add them. Add first, then take one root: "
            "the sum of two roots is larger than the root of the sum, so your result comes out too small.",
            zh="你把方差和 ε 分别开方再相加。应当先相加，再开一次方：两个根之和大于和的根，所以你的结果偏小。",
        ),
        "tiny",
    ),
    Mistake(
        "eps-twice",
        {"small": lambda eps: 2 * eps},
        Text(
            en="The place of ε is right, but it is added twice.",
            zh="ε 的位置是对的，但加了两次。",
        ),
        "tiny",
    ),
    Mistake(
        "eps-as-floor",
        {"divide": lambda centred, spread, eps: centred / spread.clamp(min=eps).sqrt()},
        Text(
            en="You use ε as the least variance allowed. It is added to every variance, large or small.",
            zh="你把 ε 当成了方差的下限。应当把它加到每个方差上，不论方差是大是小。",
        ),
        "tiny",
    ),
    Mistake(
        "eps-argument-ignored",
        {"small": lambda eps: 1e-5},
        Text(
            en="Your function uses an ε of its own, 1e-5, whatever `eps` it is given.",
            zh="不论传入的 `eps` 是多少，你的函数都用自己的 ε，即 1e-5。",
        ),
        "other eps",
    ),
)

SPREAD_MISTAKES = (
    Mistake(
        "unbiased-variance",
        {"spread": lambda x, axes: x.var(axes, keepdim=True)},
        Text(
            en="Your variance divides by n − 1, so your result is `√((n − 1)/n)` times the right one. A normalization "
            "layer divides by n: write `correction=0`.",
            zh="你的方差除以了 n − 1，所以结果是正确值的 `√((n − 1)/n)` 倍。"
            "归一化层的方差应除以 n，请写 `correction=0`。",
        ),
        "rows",
    ),
    Mistake(
        "mean-square-for-variance",
        {"spread": lambda x, axes: x.square().mean(axes, keepdim=True)},
        Text(
            en="You square x itself. The variance is the mean of the squared distances **from the mean**.",
            zh="你直接对 x 取了平方。方差是**到均值的距离**的平方的均值。",
        ),
        "rows",
    ),
    Mistake(
        "sum-for-mean-of-squares",
        {"spread": lambda x, axes: (x - mean(x, axes)).square().sum(axes, keepdim=True)},
        Text(
            en="You add up the squared distances but never divide by how many there are.",
            zh="你把距离的平方加了起来，却没有除以个数。",
        ),
        "rows",
    ),
    Mistake(
        "absolute-deviation",
        {"spread": lambda x, axes: (x - mean(x, axes)).abs().mean(axes, keepdim=True).square()},
        Text(
            en="You average the absolute distances from the mean. Square them, average, and take the root at the end.",
            zh="你取的是到均值的距离的绝对值的均值。应当先平方，再取均值，最后开方。",
        ),
        "rows",
    ),
)

CENTRE_MISTAKES = (
    Mistake(
        "mean-not-subtracted",
        {"centre": lambda x, axes: torch.zeros_like(mean(x, axes))},
        Text(
            en="The mean is not subtracted above the fraction line: your rows do not have mean 0.",
            zh="分子没有减去均值：你的每一行的均值都不是 0。",
        ),
        "rows",
    ),
    Mistake(
        "median-for-mean",
        {"centre": lambda x, axes: _median(x, axes)},
        Text(
            en="You subtract the median. Subtract the mean.",
            zh="你减去的是中位数，应当减去均值。",
        ),
        "skewed",
    ),
)


def _median(x: Tensor, axes: list[int]) -> Tensor:
    """The median over several axes, which torch has for one axis only."""
    axes = [axis % x.dim() for axis in axes]
    rest = [axis for axis in range(x.dim()) if axis not in axes]
    middle = x.permute(*rest, *axes).flatten(len(rest)).median(-1).values
    return middle.view([1 if axis in axes else n for axis, n in enumerate(x.shape)])


RESCALE_MISTAKES = (
    Mistake(
        "weight-ignored",
        {"rescale": lambda y, weight, bias: rescale(y, None, bias)},
        Text(
            en="The scale `weight` (γ) has no effect. Multiply by it after standardizing.",
            zh="缩放参数 `weight`（γ）没有起作用。标准化之后要乘以它。",
        ),
        "weighted",
    ),
    Mistake(
        "bias-ignored",
        {"rescale": lambda y, weight, bias: rescale(y, weight, None)},
        Text(
            en="The shift `bias` (β) has no effect. Add it at the end.",
            zh="平移参数 `bias`（β）没有起作用。最后要加上它。",
        ),
        "weighted",
    ),
    Mistake(
        "bias-before-weight",
        {"rescale": lambda y, weight, bias: rescale(y if bias is None else y + bias, weight, None)},
        Text(
            en="You add the bias first and then multiply, so the bias is scaled too. Multiply, then add.",
            zh="你先加了平移参数再相乘，于是它也被缩放了。应当先乘，后加。",
        ),
        "weighted",
    ),
    Mistake(
        "weight-plus-one",
        {"rescale": lambda y, weight, bias: rescale(y, None if weight is None else 1 + weight, bias)},
        Text(
            en="You multiply by 1 + weight. That is how some models store γ, but here `weight` is γ itself.",
            zh="你乘的是 1 + weight。有些模型这样保存 γ，但这里的 `weight` 就是 γ 本身。",
        ),
        "weighted",
    ),
    Mistake(
        "weight-and-bias-swapped",
        {"rescale": lambda y, weight, bias: rescale(y, bias, weight)},
        Text(
            en="You multiply by `bias` and add `weight`. It is the other way round.",
            zh="你乘了 `bias`，加了 `weight`，正好反了。",
        ),
        "weighted",
    ),
)
