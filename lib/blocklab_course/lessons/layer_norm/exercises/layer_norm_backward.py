"""Known mistakes of `layer_norm_backward`."""

from collections.abc import Callable

import torch
from torch import Tensor

from blocklab_course.checks.case import Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, passthrough, with_section, wrong
from blocklab_course.checks.recipes.normalizing import SHARED_MISTAKES, divide, mean, offset_case, select, variance
from blocklab_course.i18n import Text

Gradients = tuple[Tensor, Tensor, Tensor]


def weighted(grad_output: Tensor, weight: Tensor) -> Tensor:
    return grad_output * weight


def of_each_token(x: Tensor) -> Tensor:
    return x.mean(-1, keepdim=True)


def through_mean(g: Tensor, average: Callable) -> Tensor:
    return average(g)


def through_variance(g: Tensor, x_hat: Tensor, _x: Tensor, average: Callable) -> Tensor:
    return x_hat * average(g * x_hat)


def over_deviation(grad_x: Tensor, divide: Callable, variance: Tensor, eps: float) -> Tensor:
    return divide(grad_x, variance, eps)


def unchanged(grad_x: Tensor, _weight: Tensor) -> Tensor:
    return grad_x


def times_standardized(grad_output: Tensor, x_hat: Tensor, _x: Tensor, _g: Tensor) -> Tensor:
    return grad_output * x_hat


def as_it_came(grad_output: Tensor, _g: Tensor) -> Tensor:
    return grad_output


def over_all_tokens(gradient: Tensor) -> Tensor:
    return gradient.flatten(0, -2).sum(0)


def weight_then_bias(grad_x: Tensor, grad_weight: Tensor, grad_bias: Tensor) -> Gradients:
    return grad_x, grad_weight, grad_bias


def recipe(
    grad_output: Tensor,
    x: Tensor,
    weight: Tensor,
    eps: float = 1e-5,
    *,
    centre: Callable = mean,
    spread: Callable = variance,
    small: Callable = passthrough,
    divide: Callable = divide,
    enter: Callable = weighted,
    average: Callable = of_each_token,
    through_mean: Callable = through_mean,
    through_variance: Callable = through_variance,
    outer: Callable = over_deviation,
    leave: Callable = unchanged,
    of_weight: Callable = times_standardized,
    of_bias: Callable = as_it_came,
    total: Callable = over_all_tokens,
    order: Callable = weight_then_bias,
) -> Gradients:
    variance, eps = spread(x, [-1]), small(eps)
    x_hat = divide(x - centre(x, [-1]), variance, eps)
    g = enter(grad_output, weight)
    inner = g - through_mean(g, average) - through_variance(g, x_hat, x, average)
    grad_x = leave(outer(inner, divide, variance, eps), weight)
    return order(grad_x, total(of_weight(grad_output, x_hat, x, g)), total(of_bias(grad_output, g)))


def none(*_anything: object) -> float:
    return 0.0


X_MISTAKES = (
    wrong("statistics-as-constants", through_mean=none, through_variance=none).hint(
        en="You treat the mean and the standard deviation as constants. Both depend on x, so two more terms are "
        "subtracted: the mean of g, and x̂ times the mean of `g * x̂`.",
        zh="你把均值和标准差当成了常数。它们都依赖 x，所以还要再减去两项：g 的均值，以及 x̂ 乘以 `g * x̂` 的均值。",
    ),
    wrong("mean-term-missing", through_mean=none).hint(
        en="The path through the mean is missing, so the gradients of a token do not have the sum 0. A shift of all "
        "features changes nothing, and the gradient has to say so.",
        zh="漏掉了经过均值的那条路径，所以一个词元的梯度之和不是 0。"
        "所有特征都加上同一个数，结果不变，梯度也应当体现这一点。",
    ),
    wrong("variance-term-added", through_variance=lambda g, x_hat, x, average: -x_hat * average(g * x_hat)).hint(
        en="The term with x̂ has the wrong sign: both terms are taken away from g.",
        zh="含 x̂ 的那一项符号反了：两项都要从 g 里减去。",
    ),
    wrong("variance-term-missing", through_variance=none).hint(
        en="The path through the variance is missing. A larger scale of x changes hardly anything, so the part of g "
        "along x̂ has to be taken out.",
        zh="漏掉了经过方差的那条路径。x 整体放大，结果几乎不变，所以要从 g 里去掉沿 x̂ 方向的部分。",
    ),
    wrong("variance-term-without-outer-x-hat", through_variance=lambda g, x_hat, x, average: average(g * x_hat)).hint(
        en="The term of the variance is the same for all features in your result. It is multiplied by x̂: far from the "
        "mean, a feature moves the variance more.",
        zh="在你的结果里，方差那一项对所有特征都相同。它还要乘以 x̂：离均值越远的特征，对方差的影响越大。",
    ),
    wrong("variance-term-without-inner-x-hat", through_variance=lambda g, x_hat, x, average: x_hat * average(g)).hint(
        en="In the term of the variance you average g alone. Average `g * x̂`: it is the share of g along x̂ that goes.",
        zh="在方差那一项里，你只对 g 求了均值。应当对 `g * x̂` 求均值：要去掉的是 g 沿 x̂ 的那一份。",
    ),
    wrong("variance-term-with-x", through_variance=lambda g, x_hat, x, average: x * average(g * x)).hint(
        en="In the term of the variance you take x itself. It is x̂, the standardized numbers, in both places.",
        zh="在方差那一项里，你用的是 x 本身。两处都应当用 x̂，也就是标准化之后的数。",
    ),
    wrong("sums-for-means", average=lambda x: x.sum(-1, keepdim=True)).hint(
        en="In the two terms that are subtracted you add up and do not divide. Both are means over the d features.",
        zh="在要减去的两项里，你只求了和，没有除以个数。这两项都是 d 个特征的均值。",
    ),
    wrong("means-over-everything", average=torch.mean).hint(
        en="In the two terms that are subtracted, your mean runs over all tokens. Each token has its own: `dim=-1`, "
        "with `keepdim=True`.",
        zh="在要减去的两项里，你把所有词元合在一起求了均值。"
        "每个词元应当各有一个均值：`dim=-1`，并加上 `keepdim=True`。",
    ),
    wrong("means-over-the-tokens", average=lambda x: x.flatten(0, -2).mean(0)).hint(
        en="In the two terms that are subtracted, your mean runs over the tokens, as in the gradient of BatchNorm. The "
        "mean runs over the axis that LayerNorm normalizes, the last one.",
        zh="在要减去的两项里，你沿词元的轴求了均值，那是批量归一化（BatchNorm）求梯度的做法。"
        "层归一化（LayerNorm）沿哪个轴归一化，这里就沿哪个轴求均值，也就是最后一个轴。",
        shown_on="two tokens",
    ),
    wrong("not-divided", outer=lambda inner, divide, variance, eps: inner).hint(
        en="The division at the end of `grad_x` is missing. x̂ changes by 1 over the standard deviation when x changes "
        "by 1.",
        zh="`grad_x` 最后少了一次除法。x 变化 1 时，x̂ 的变化是 1 除以标准差。",
    ),
    wrong("divided-by-the-variance", outer=lambda inner, divide, variance, eps: inner / (variance + eps)).hint(
        en="At the end you divide `grad_x` by the variance. Divide by the standard deviation, once.",
        zh="最后你把 `grad_x` 除以了方差。应当除以标准差，只除一次。",
    ),
    wrong("d-times-too-large", leave=lambda grad_x, weight: grad_x * grad_x.shape[-1]).hint(
        en="Your `grad_x` is d times the right one. The form with `d * g` and sums in place of means has a factor 1/d "
        "in front.",
        zh="你的 `grad_x` 是正确值的 d 倍。如果写成 `d * g`，并用总和代替均值，前面还要乘以系数 1/d。",
    ),
    wrong("weight-forgotten", enter=lambda grad_output, weight: grad_output).hint(
        en="`weight` has no part in your `grad_x`. The way back starts with the last step of the way there: multiply "
        "`grad_output` by it first.",
        zh="你的 `grad_x` 里没有用到 `weight`。反向传播从前向的最后一步开始：请先把 `grad_output` 乘以它。",
    ),
    wrong(
        "weight-at-the-end", enter=lambda grad_output, weight: grad_output, leave=lambda grad_x, weight: grad_x * weight
    ).hint(
        en="You multiply `grad_x` by `weight` at the end. It comes before the means are taken: they are means of "
        "`grad_output * weight`.",
        zh="你最后才把 `grad_x` 乘以 `weight`。这一步要在求均值之前：均值是对 `grad_output * weight` 求的。",
    ),
)

GRAD_X_LAST = wrong("grad-x-last", order=lambda grad_x, grad_weight, grad_bias: (grad_weight, grad_bias, grad_x)).hint(
    en="The gradient of x comes last in your result. Return `grad_x, grad_weight, grad_bias`.",
    zh="你把 x 的梯度放在了最后。请返回 `grad_x, grad_weight, grad_bias`。",
)
WEIGHT_AND_BIAS_MISTAKES = (
    wrong("grad-weight-without-x-hat", of_weight=lambda grad_output, x_hat, x, g: grad_output).hint(
        en="Your `grad_weight` is the gradient of the bias. The weight is multiplied by x̂, so its gradient is too.",
        zh="你的 `grad_weight` 其实是平移参数的梯度。缩放参数乘的是 x̂，所以它的梯度也要乘以 x̂。",
    ),
    wrong("grad-weight-with-x", of_weight=lambda grad_output, x_hat, x, g: grad_output * x).hint(
        en="In `grad_weight` you multiply by x. The weight was multiplied by x̂, the standardized numbers.",
        zh="在 `grad_weight` 里，你乘的是 x。缩放参数乘的是 x̂，也就是标准化之后的数。",
    ),
    wrong(
        "grad-weight-with-centred-x",
        of_weight=lambda grad_output, x_hat, x, g: grad_output * (x - x.mean(-1, keepdim=True)),
    ).hint(
        en="In `grad_weight` you multiply by x minus its mean. The division by the standard deviation is missing.",
        zh="在 `grad_weight` 里，你乘的是 x 减去均值之后的数，还没有除以标准差。",
    ),
    wrong("grad-weight-with-weight", of_weight=lambda grad_output, x_hat, x, g: g * x_hat).hint(
        en="Your `grad_weight` contains the weight itself. The output is linear in it, so its gradient is "
        "`grad_output` times x̂ alone.",
        zh="你的 `grad_weight` 里又乘了缩放参数本身。输出对它是线性的，所以它的梯度只是 `grad_output` 乘以 x̂。",
    ),
    wrong("grad-bias-with-weight", of_bias=lambda grad_output, g: g).hint(
        en="Your `grad_bias` contains the weight. The bias is added after it, so its gradient is the sum of "
        "`grad_output` alone.",
        zh="你的 `grad_bias` 里乘了缩放参数。平移参数是在它之后加上的，所以梯度只是 `grad_output` 之和。",
    ),
    wrong("tokens-not-summed", total=lambda gradient: gradient).hint(
        en="Your `grad_weight` and `grad_bias` have a row for every token. All tokens use the same weight and bias, so "
        "their gradients are summed.",
        zh="你的 `grad_weight` 和 `grad_bias` 里，每个词元各占一行。所有词元共用缩放参数和平移参数，所以梯度要加起来。",
        shown_on="two tokens",
    ),
    wrong("batch-axis-summed-only", total=lambda gradient: gradient.sum(0)).hint(
        en="Your `grad_weight` and `grad_bias` are summed over the first axis only. Sum over all axes but the last, "
        "the positions too.",
        zh="你的 `grad_weight` 和 `grad_bias` 只沿第一个轴求了和。除最后一个轴以外，所有的轴都要求和，位置轴也在内。",
    ),
    wrong("tokens-averaged", total=lambda gradient: gradient.flatten(0, -2).mean(0)).hint(
        en="You average `grad_weight` and `grad_bias` over the tokens. They are sums; a mean belongs in the loss.",
        zh="你把 `grad_weight` 和 `grad_bias` 沿词元的轴求了均值。它们应当是总和；要求均值，那是损失函数的事。",
    ),
    wrong(
        "grad-weight-averaged",
        of_weight=lambda grad_output, x_hat, x, g: grad_output * x_hat / (x.numel() / x.shape[-1]),
    ).hint(
        en="You average `grad_weight` over the tokens. They all use the same weight, so their gradients are added up.",
        zh="你对各个词元的 `grad_weight` 取了平均。它们共用同一个参数，梯度要相加。",
    ),
    wrong("grad-bias-averaged", of_bias=lambda grad_output, g: grad_output / (g.numel() / g.shape[-1])).hint(
        en="You average `grad_bias` over the tokens. They all use the same bias, so their gradients are added up.",
        zh="你对各个词元的 `grad_bias` 取了平均。它们共用同一个参数，梯度要相加。",
    ),
    wrong(
        "weight-and-bias-swapped", order=lambda grad_x, grad_weight, grad_bias: (grad_x, grad_bias, grad_weight)
    ).hint(
        en="The gradients of bias and weight come in the wrong order. Return `grad_x, grad_weight, grad_bias`.",
        zh="平移参数和缩放参数的梯度顺序反了。请返回 `grad_x, grad_weight, grad_bias`。",
    ),
    *exclusive(
        recipe,
        GRAD_X_LAST,
        GRAD_X_LAST.spelled({"order": lambda grad_x, grad_weight, grad_bias: (grad_bias, grad_weight, grad_x)}),
    ),
)

GRADIENT = {"grad_output": torch.tensor([[3.0, -1, 2]])}
TOKEN = torch.tensor([[1.0, 2, 6]])
WEIGHT = torch.tensor([2.0, 1, -1])

BACKWARD = Text(en="Going further: backward by hand", zh="选读：手算反向传播")
SUMS = "return grad_x, (grad_output * x_hat).sum(tokens), grad_output.sum(tokens)"


def sentences(*shape: int) -> dict[str, object]:
    return {"grad_output": waves(*shape), "x": waves(*shape, start=1.0), "weight": waves(shape[-1], start=2.0)}


LAYER_NORM_BACKWARD = Exercise(
    name="layer_norm_backward",
    recipe=recipe,
    cases=(
        Case("rows", GRADIENT | {"x": TOKEN, "weight": WEIGHT}),
        Case(
            "two tokens",
            {
                "grad_output": torch.tensor([[3.0, -1, 2], [1, 5, -2]]),
                "x": torch.tensor([[1.0, 2, 6], [4, 0, 3]]),
                "weight": WEIGHT,
            },
        ),
        Case("tiny", GRADIENT | {"x": 1e-3 * TOKEN, "weight": WEIGHT}),
        Case("constant", GRADIENT | {"x": torch.tensor([[2.0, 2, 2]]), "weight": WEIGHT}),
        Case("other eps", GRADIENT | {"x": TOKEN, "weight": WEIGHT, "eps": 3.0}),
        Case("sentences", sentences(2, 3, 4) | {"eps": 0.01}),
        Case("one token", sentences(2, 1, 4)),
        Case("one sentence", sentences(1, 3, 4)),
        Case("cube", sentences(3, 3, 3)),
        Case("wide", sentences(2, 1025)),
        offset_case(lambda offset: GRADIENT | {"x": TOKEN + offset, "weight": WEIGHT}),
    ),
    mistakes=(
        *X_MISTAKES,
        *with_section(BACKWARD, *WEIGHT_AND_BIAS_MISTAKES, hint_line=SUMS),
        *with_section(
            BACKWARD,
            *select(SHARED_MISTAKES, "eps-outside-root", "eps-missing", "root-missing", "eps-argument-ignored"),
            *select(SHARED_MISTAKES, "unbiased-variance"),
            hint_line="r = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()",
        ),
        *with_section(
            BACKWARD,
            *select(SHARED_MISTAKES, "mean-not-subtracted"),
            hint_line="centred = x - x.mean(-1, keepdim=True)",
        ),
    ),
    scaled_inputs=lambda n: sentences(n, n, 4),
    exempt={"gradient": "it is itself one", "axis 2 of size 1": "of one feature it is nothing but rounding"},
    names={
        "result 0": Text(en="grad_x", zh="grad_x"),
        "result 1": Text(en="grad_weight", zh="grad_weight"),
        "result 2": Text(en="grad_bias", zh="grad_bias"),
    },
    section=BACKWARD,
    hint_line="grad_x = r * (g - g.mean(-1, keepdim=True) - x_hat * (g * x_hat).mean(-1, keepdim=True))",
)
