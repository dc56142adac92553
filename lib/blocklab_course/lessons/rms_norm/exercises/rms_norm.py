"""Known mistakes of `rms_norm`, and of the two orders in which models round it."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab import normalization
from blocklab_course.checks.case import Advice, Case, waves, with_outliers
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import AnyError, exclusive, passthrough, with_section, wrong
from blocklab_course.checks.modules import attributes_as_arguments
from blocklab_course.checks.recipes.axes import (
    AXES_MISTAKES,
    CUBE_CASES,
    NO_BATCH_CASES,
    SIZE_ONE_CASES,
    SIZES_AS_AXES,
    last_axes,
)
from blocklab_course.checks.recipes.normalizing import (
    EPS_MISTAKES,
    WEIGHT_MISTAKES,
    WEIGHT_NEEDED,
    WEIGHT_OF_NONE,
    divide,
    mean,
    overflow_case,
    rescale,
    rescale_needing,
    select,
    variance,
)
from blocklab_course.i18n import Text


def nothing(_x: Tensor, _axes: list[int]) -> float:
    return 0.0


def mean_square(x: Tensor, axes: list[int]) -> Tensor:
    return x.square().mean(axes, keepdim=True)


def float32_or_wider(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def machine_epsilon(x: Tensor) -> float:
    """Of the type computed in: float32 for the 16-bit types, too."""
    return torch.finfo(float32_or_wider(x).dtype).eps


def back(y: Tensor, dtype: torch.dtype) -> Tensor:
    return y.to(dtype)


def left_out(eps: float | None) -> bool:
    return eps is None


def recipe(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
    *,
    widen: Callable = float32_or_wider,
    axes: Callable = last_axes,
    centre: Callable = nothing,
    spread: Callable = mean_square,
    absent: Callable = left_out,
    default: Callable = machine_epsilon,
    small: Callable = passthrough,
    divide: Callable = divide,
    rescale: Callable = rescale,
    finish: Callable = back,
) -> Tensor:
    over = axes(x, normalized_shape)
    eps = default(x) if absent(eps) else eps
    wide = widen(x)
    y = divide(wide - centre(wide, over), spread(wide, over), small(eps))
    return finish(rescale(y, weight, 0.0), x.dtype)  # no bias


BY_HAND = Text(en="By hand", zh="动手算")
THE_FORMULA = Text(en="The formula", zh="公式")
SIZES = Text(en="Going further: very small and very large numbers", zh="选读：很小的数与很大的数")
THE_EXERCISE = Text(en="Exercise: RMSNorm", zh="练习：RMSNorm")
WHEN_TO_ROUND = Text(en="Going further: when to round", zh="选读：何时舍入")
MEAN_SQUARE = "mean_square = wide.square().mean(axes, keepdim=True)"
OF_EACH_TOKEN = "mean_square = wide.square().mean(-1, keepdim=True)"
QUOTIENT = "y = wide / (mean_square + eps).sqrt()"
WEIGHTED = "y = y if weight is None else y * weight"
LAST = "return (y if weight is None else y * weight).to(x.dtype)"

LAYER_NORM = wrong("layer-norm", centre=mean, spread=variance).hint(
    en="This is LayerNorm: you subtract the mean above and below the fraction line. RMSNorm subtracts it nowhere, so "
    "no number changes its sign.",
    zh="这是层归一化（LayerNorm）：分子和分母都减去了均值。RMSNorm 哪里都不减，所以没有一个数会变号。",
)


def less_its_mean(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True)


DIVISOR_MISTAKES = (
    LAYER_NORM,
    wrong("layer-norm-unbiased", centre=mean, spread=lambda x, axes: x.var(axes, keepdim=True)).hint(
        en="This is LayerNorm: you subtract the mean, and `x.var()` subtracts it, too, and divides by n − 1 besides. "
        "RMSNorm subtracts it nowhere.",
        zh="这是层归一化（LayerNorm）：你减去了均值，`x.var()` 也减了均值，还除以了 n − 1。RMSNorm 哪里都不减均值。",
    ),
    wrong("mean-subtracted", centre=mean).hint(
        en="You subtract the mean above the fraction line. RMSNorm does not: it divides x itself.",
        zh="你在分子里减去了均值。RMSNorm 不减，分子就是 x 本身。",
    ),
    wrong("standard-deviation", spread=variance).hint(
        en="You divide by the standard deviation, which measures the distance from the mean. Divide by the root mean "
        "square, which measures the distance from 0.",
        zh="你除以的是标准差，它衡量各数离均值多远。应当除以均方根，它衡量各数离 0 多远。",
        hint_line=MEAN_SQUARE,
    ),
)

SQUARE_MISTAKES = (
    wrong("sum-for-mean-of-squares", spread=lambda x, axes: x.square().sum(axes, keepdim=True)).hint(
        en="You add up the squares, so every vector gets length 1. Take their mean: then its length is the root of the "
        "number of features.",
        zh="你把平方加了起来，没有求均值，于是每个向量的长度都成了 1。应当求平方的均值，这时长度是特征个数的平方根。",
    ),
    wrong(
        "length-over-count",
        spread=lambda x, axes: x.square().mean(axes, keepdim=True) ** 2 / x.square().sum(axes, keepdim=True),
    ).hint(
        en="You take the length of the vector and divide it by the number of features. The count stands under the root "
        "too: divide the sum of squares by it first.",
        zh="你先求出向量的长度，再除以特征个数。个数也应当在根号里：请先把平方和除以它，再开方。",
    ),
    wrong("absolute-mean", spread=lambda x, axes: x.abs().mean(axes, keepdim=True).square()).hint(
        en="You divide by the mean of the absolute values. Square, average, take the root: the root mean square is at "
        "least as large.",
        zh="你除以的是绝对值的均值。应当先平方，再求均值，最后开方：均方根不会比它小。",
    ),
    wrong(
        "unbiased-mean-of-squares",
        spread=lambda x, axes: x.square().mean(axes, keepdim=True) * count(x, axes) / (count(x, axes) - 1),
    ).hint(
        en="You divide the sum of squares by n − 1. No mean was estimated here, so nothing is to be corrected: divide "
        "by n.",
        zh="你把平方和除以了 n − 1。这里没有估计均值，不需要修正：请除以 n。",
    ),
    wrong("multiplied", divide=lambda centred, spread, eps: centred * (spread + eps).sqrt()).hint(
        en="You multiply by the root mean square; dividing by `rsqrt` comes to the same. Divide by the root.",
        zh="你乘上了均方根；写成除以 `rsqrt`，效果也是乘。应当除以均方根。",
    ),
)


def count(x: Tensor, axes: list[int]) -> int:
    return torch.Size(x.shape[axis] for axis in axes).numel()


DEFAULT_MISTAKES = (
    wrong("default-of-layer-norm", default=lambda x: 1e-5).hint(
        en="With `eps=None` you take 1e-5, as LayerNorm does. torch takes the machine epsilon of the type it computes "
        "in, which for float32 is `torch.finfo(torch.float32).eps`.",
        zh="`eps=None` 时你取了 1e-5，那是层归一化（LayerNorm）的默认值。"
        "torch 取的是计算类型的机器精度，对 float32 就是 `torch.finfo(torch.float32).eps`。",
    ),
    wrong("default-of-llama", default=lambda x: 1e-6).hint(
        en="With `eps=None` you take 1e-6, as Llama does. torch takes the machine epsilon of the type it computes in, "
        "which for float32 is `torch.finfo(torch.float32).eps`.",
        zh="`eps=None` 时你取了 1e-6，那是 Llama 的默认值。"
        "torch 取的是计算类型的机器精度，对 float32 就是 `torch.finfo(torch.float32).eps`。",
    ),
    wrong("default-of-the-authors", default=lambda x: 1e-8).hint(
        en="With `eps=None` you take 1e-8, as the authors' code does. torch takes the machine epsilon of the type it "
        "computes in, which for float32 is `torch.finfo(torch.float32).eps`.",
        zh="`eps=None` 时你取了 1e-8，那是 RMSNorm 作者的代码里的值。"
        "torch 取的是计算类型的机器精度，对 float32 就是 `torch.finfo(torch.float32).eps`。",
    ),
    wrong("default-of-zero", default=lambda x: 0.0).hint(
        en="With `eps=None` you add nothing, so a row of zeros gives 0 / 0. None stands for the machine epsilon of the "
        "type computed in, for float32 `torch.finfo(torch.float32).eps`.",
        zh="`eps=None` 时你什么也没有加，于是全零的一行会得到 0 / 0。"
        "None 表示计算类型的机器精度，对 float32 就是 `torch.finfo(torch.float32).eps`。",
        shown_on="zeros",
    ),
    wrong("zero-taken-for-none", absent=lambda eps: not eps).hint(
        en="`eps or …` takes the default for an `eps` of 0, too. Ask `if eps is None`.",
        zh="`eps or …` 在 `eps` 为 0 时也会换成默认值。请写 `if eps is None`。",
    ),
)


def stop(_x: Tensor) -> float:
    raise AnyError


EPS_OF_NONE = wrong("eps-of-none", absent=lambda eps: False).hint(
    en="Your function stops where `eps` is None. Put a number in its place first: `if eps is None`.",
    zh="`eps` 是 None 时，你的函数会报错。请先用 `if eps is None` 判断，换成一个数。",
)

EPS_AND_WEIGHT_OF_NONE = wrong(
    "eps-and-weight-of-none", absent=lambda eps: False, rescale=lambda y, weight, bias: y * weight
).hint(
    en="`eps` and `weight` may both be None. Where `eps` is None, take `torch.finfo(dtype).eps` of the type you "
    "compute in; where `weight` is None, do not multiply.",
    zh="`eps` 和 `weight` 都可以是 None。`eps` 是 None 时，请取计算类型的 `torch.finfo(dtype).eps`；"
    "`weight` 是 None 时，就不乘。",
)

STAYS_WIDE = wrong("stays-wide", finish=lambda y, _dtype: y).hint(
    en="For a 16-bit input your result stays float32. Convert it back to the type of x: the next layer expects the "
    "type it was given.",
    zh="输入是 16 位的类型时，你的结果还是 float32。请转回 x 的类型：下一层要的仍是原来的类型。",
)

KEEPDIM = wrong("mean-of-squares-without-keepdim", spread=lambda x, axes: x.square().mean(axes)).hint(
    en="Your mean of squares loses its axes, so the division runs along a wrong one, or the shapes fit nowhere. Keep "
    "them with `keepdim=True`.",
    zh="你求均方时没有保留这些轴，相除时就对到了别的轴上，或者形状根本对不上。请用 `keepdim=True` 保留它们。",
    shown_on="tokens",
)

EPS_OF_NORMALIZE = wrong("eps-of-normalize", small=lambda eps: 1e-24).hint(
    en="`eps` has no effect. `F.normalize` has one of its own, 1e-12, which only keeps a vector of zeros from giving 0 "
    "/ 0; here `eps` is added to the mean of squares.",
    zh="`eps` 没有起作用。"
    "`F.normalize` 自带一个 1e-12，只是让全零的向量不至于得到 0 / 0；这里的 `eps` 要加到平方的均值上。",
)

DETACHED = wrong("statistics-detached", spread=lambda x, axes: mean_square(x.detach(), axes)).hint(
    en="Even where the numbers are right, the gradients are not: the mean of squares depends on x too, but you cut it "
    "off from it (`detach`, `no_grad` or `.data`).",
    zh="即使数值是对的，梯度也不对：平方的均值也依赖 x，而你用 `detach`、`no_grad` 或 `.data` 切断了它与 x 的联系。",
)

WEIGHT = torch.tensor([2.0, -1, 3])
EPSILON_OF_BFLOAT16 = Text(
    en="With `eps=None` and a bfloat16 input you take the machine epsilon of bfloat16, 0.0078. That outweighs the "
    "squares of small numbers, so they stay small. torch computes in float32 there and takes the epsilon of float32.",
    zh="`eps=None` 而输入是 bfloat16 时，你取的是 bfloat16 的机器精度 0.0078。它比小数的平方还大，"
    "所以小的数归一化之后仍然小。torch 这时用 float32 计算，取的也是 float32 的机器精度。",
)

ROUNDED_BEFORE_WEIGHT = Text(
    en="Your numbers are in the type of x already when you multiply by γ, so in 16 bits they are rounded more than "
    "once. Llama rounds before γ, too, as the section on when to round shows. To round once, convert at the very end.",
    zh="乘 γ 的时候，你的数已经是 x 的类型了，所以在 16 位的类型里，舍入不止一次。"
    "Llama 也在乘 γ 之前舍入（见“选读：何时舍入”）。想只舍入一次，就到最后才转换类型。",
)


TWICE_ROUNDED = {
    "x": torch.tensor([[-8.0, -7, 4]]).bfloat16(),
    "normalized_shape": (3,),
    "weight": torch.tensor([1.7, 1.4, 1.1]).bfloat16(),
}


def rounded_before_weight(y: Tensor, weight: Tensor | None, _bias: float, dtype: torch.dtype) -> Tensor:
    return y.to(dtype) if weight is None else y.to(dtype) * weight.to(dtype)


RMS_NORM = Exercise(
    name="rms_norm",
    recipe=recipe,
    kernel=normalization.rms_norm,
    module=attributes_as_arguments,
    cases=(
        Case("rows", {"x": torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40]]), "normalized_shape": (4,)}),
        Case("tiny", {"x": 1e-4 * torch.tensor([[1.0, 2, 3, 4]]), "normalized_shape": (4,)}),
        Case("zeros", {"x": torch.zeros(1, 3), "normalized_shape": (3,)}),
        Case("bfloat16", {"x": torch.tensor([[3.0, -7, 5]]).bfloat16(), "normalized_shape": (3,)}, tolerance=1e-2),
        Case("float16", {"x": torch.tensor([[3.0, -7, 5]]).half(), "normalized_shape": (3,)}, tolerance=1e-2),
        Case("weighted", {"x": torch.tensor([[1.0, -3, 5]]), "normalized_shape": (3,), "weight": WEIGHT}),
        Case("other eps", {"x": torch.tensor([[1.0, 3]]), "normalized_shape": (2,), "weight": None, "eps": 4.0}),
        Case("tokens", {"x": waves(2, 5, 3), "normalized_shape": (3,), "weight": WEIGHT}),
        Case("pictures", {"x": waves(2, 3, 4, 5), "normalized_shape": (4, 5), "weight": waves(4, 5, start=1.0)}),
        *CUBE_CASES,
        *SIZE_ONE_CASES,
        *NO_BATCH_CASES,
        Case("outlier", {"x": with_outliers(2, 1025), "normalized_shape": (1025,)}),
        Case("large", {"x": 1e4 * waves(2, 3), "normalized_shape": (3,)}),
        Case("no eps", {"x": 1e-6 * waves(2, 3), "normalized_shape": (3,), "weight": None, "eps": 0.0}),
        Case(
            "gradient",
            {"x": waves(2, 4, 3), "normalized_shape": (3,), "weight": WEIGHT, "eps": 0.01},
            gradient=True,
        ),
        Case(
            "small-in-bfloat16",
            {"x": torch.tensor([[0.03, -0.07, 0.05]]).bfloat16(), "normalized_shape": (3,)},
            tolerance=1e-2,
            advice=Advice(
                EPSILON_OF_BFLOAT16,
                weak_functions=(partial(recipe, default=lambda x: torch.finfo(x.dtype).eps),),
            ),
        ),
        Case(
            "rounded-before-weight",
            TWICE_ROUNDED,
            advice=Advice(
                ROUNDED_BEFORE_WEIGHT,
                weak_functions=(partial(recipe, rescale=partial(rounded_before_weight, dtype=torch.bfloat16)),),
            ),
        ),
        overflow_case({"x": torch.tensor([[300.0, -400, 500]]).half(), "normalized_shape": (3,)}),
    ),
    mistakes=(
        *with_section(
            THE_EXERCISE,
            *AXES_MISTAKES,
            *exclusive(recipe, SIZES_AS_AXES),
            hint_line="axes = tuple(range(-len(normalized_shape), 0))",
        ),
        *with_section(
            THE_FORMULA,
            *DIVISOR_MISTAKES,
            LAYER_NORM.spelled(lambda x, *given: recipe(less_its_mean(x), *given)),
            hint_line=QUOTIENT,
        ),
        *SQUARE_MISTAKES,
        *with_section(THE_EXERCISE, KEEPDIM, hint_line=MEAN_SQUARE),
        *with_section(
            THE_EXERCISE,
            *DEFAULT_MISTAKES,
            *exclusive(recipe, EPS_OF_NONE, EPS_AND_WEIGHT_OF_NONE),
            EPS_OF_NONE.spelled(partial(recipe, default=stop)),
            EPS_AND_WEIGHT_OF_NONE.spelled(partial(recipe, default=stop, rescale=rescale_needing("weight"))),
            hint_line="eps = torch.finfo(wide.dtype).eps if eps is None else eps",
        ),
        *with_section(
            THE_FORMULA,
            *select(EPS_MISTAKES, "eps-outside-root", "eps-missing", "root-missing"),
            EPS_OF_NORMALIZE,
            hint_line=QUOTIENT,
        ),
        *with_section(THE_EXERCISE, *select(EPS_MISTAKES, "eps-argument-ignored"), hint_line=QUOTIENT),
        DETACHED,
        *with_section(THE_EXERCISE, STAYS_WIDE, hint_line=LAST),
        *with_section(THE_FORMULA, *WEIGHT_MISTAKES, hint_line=WEIGHTED),
        *with_section(THE_EXERCISE, *exclusive(recipe, *WEIGHT_OF_NONE, WEIGHT_NEEDED), hint_line=WEIGHTED),
    ),
    scaled_inputs=lambda n: {"x": waves(n, n, 4), "normalized_shape": (4,)},
    section=BY_HAND,
    panel=Text(
        en="under *Going further: two divisors*, drag shift and see which side of the triangle RMSNorm divides by.",
        zh="在“选读：两个除数”一节拖动“平移”，看看 RMSNorm 除以三角形的哪条边。",
    ),
    hint_line=MEAN_SQUARE,
)


# The two orders. Normalizing is float32 in both; they differ in what is rounded to the type of x, and when.


def wide(x: Tensor) -> Tensor:
    return x.float()


def as_it_is(x: Tensor) -> Tensor:
    return x


def itself(weight: Tensor) -> Tensor:
    return weight


def plus_one(weight: Tensor) -> Tensor:
    return 1 + weight.float()


def round_then_weigh(y: Tensor, gain: Tensor, dtype: torch.dtype) -> Tensor:
    return y.to(dtype) * gain.to(dtype)


def weigh_then_round(y: Tensor, gain: Tensor, dtype: torch.dtype) -> Tensor:
    return (y * gain.float()).to(dtype)


def llama(
    x: Tensor,
    weight: Tensor,
    eps: float = 1e-6,
    *,
    widen: Callable = wide,
    axes: Callable = last_axes,
    centre: Callable = nothing,
    spread: Callable = mean_square,
    small: Callable = passthrough,
    divide: Callable = divide,
    gain: Callable = itself,
    order: Callable = round_then_weigh,
) -> Tensor:
    y = widen(x)
    over = axes(y, weight.shape)
    return order(divide(y - centre(y, over), spread(y, over), small(eps)), gain(weight), x.dtype)


gemma = partial(llama, gain=plus_one, order=weigh_then_round)


def scale_rounded(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    scale = torch.rsqrt(mean_square(x.float(), [-1]) + eps)
    return x * scale.to(x.dtype) * weight


OWN_TYPE = wrong("not-in-float32", widen=as_it_is).hint(
    en="You compute in the type of x. In 16 bits every step is rounded, and in float16 the square of a number from 256 "
    "on is infinite. Normalize `x.float()` instead.",
    zh="你直接用 x 的类型计算。"
    "16 位的类型每一步都要舍入，而且在 float16 里，256 及以上的数一平方就成了无穷大。请对 `x.float()` 做归一化。",
    shown_on="overflows in float16",
    section=SIZES,
    hint_line="wide = x.float()",
)
NOT_CONVERTED_BACK = wrong("not-converted-back", order=lambda y, gain, dtype: y * gain.float()).hint(
    en="Your result stays float32. Convert it back to the type of x: the next layer expects the type it was given.",
    zh="你的结果还是 float32。请转回 x 的类型：下一层要的仍是原来的类型。",
)
WEIGHT_IGNORED = wrong("weight-ignored", gain=torch.ones_like).hint(
    en="`weight` has no effect. After normalizing comes a multiplication in which it takes part.",
    zh="`weight` 没有起作用。归一化之后还有一次乘法，要用到它。",
)
DEFAULT_EPS_ALWAYS = wrong("default-eps-always", small=lambda eps: 1e-6).hint(
    en="Your function always adds 1e-6, the default, whatever `eps` it is given. Use the argument.",
    zh="不论传入的 `eps` 是多少，你的函数总是加上默认值 1e-6。请用传入的值。",
)
FORMULA_MISTAKES = (
    *with_section(THE_FORMULA, *DIVISOR_MISTAKES, hint_line=QUOTIENT),
    *with_section(BY_HAND, *select(SQUARE_MISTAKES, "sum-for-mean-of-squares"), hint_line=OF_EACH_TOKEN),
    *with_section(
        THE_FORMULA, *select(EPS_MISTAKES, "eps-outside-root", "eps-missing", "root-missing"), hint_line=QUOTIENT
    ),
    *with_section(THE_EXERCISE, *select(EPS_MISTAKES, "eps-argument-ignored"), DEFAULT_EPS_ALWAYS, hint_line=QUOTIENT),
    *with_section(THE_EXERCISE, *select(AXES_MISTAKES, "over-everything"), hint_line=OF_EACH_TOKEN),
)

LLAMA_MISTAKES = (
    LAYER_NORM.spelled(lambda x, *given: llama(less_its_mean(x), *given), section=THE_FORMULA, hint_line=QUOTIENT),
    LAYER_NORM.spelled(
        lambda x, weight, eps=1e-6: F.rms_norm(less_its_mean(x), weight.shape, weight, eps),
        section=THE_FORMULA,
        hint_line=QUOTIENT,
    ),
    wrong("rounded-once", order=weigh_then_round).hint(
        en="You multiply by `weight` in float32 and round at the end. Llama rounds the normalized numbers to the type "
        "of x first and multiplies then: the last digit can differ.",
        zh="你在 float32 里乘以 `weight`，最后才舍入。"
        "Llama 先把归一化后的数舍入到 x 的类型，然后才相乘：最后一位可能不同。",
    ),
    wrong("scale-rounded", scale_rounded).hint(
        en="You round one over the root mean square to 16 bits, and multiply x by that. Multiply in float32 and round "
        "the product.",
        zh="你先把均方根的倒数舍入到 16 位，再与 x 相乘。应当在 float32 里相乘，再舍入乘积。",
    ),
    wrong("weight-plus-one", gain=lambda weight: 1 + weight).hint(
        en="You multiply by 1 + weight. Gemma stores γ − 1; Llama stores γ itself.",
        zh="你乘的是 1 + weight。Gemma 存的是 γ − 1，Llama 存的是 γ 本身。",
    ),
    wrong("as-in-gemma", gain=plus_one, order=weigh_then_round).hint(
        en="This is Gemma's order: 1 + weight, multiplied in float32 and rounded once. Llama rounds first, and its "
        "weight is γ itself.",
        zh="这是 Gemma 的顺序：用 1 + weight 在 float32 里相乘，只舍入一次。Llama 先舍入，而且它的权重就是 γ 本身。",
        shown_on="bfloat16",
    ),
)

GEMMA_MISTAKES = (
    LAYER_NORM.spelled(lambda x, *given: gemma(less_its_mean(x), *given), section=THE_FORMULA, hint_line=QUOTIENT),
    LAYER_NORM.spelled(
        lambda x, weight, eps=1e-6: F.rms_norm(less_its_mean(x), weight.shape, 1 + weight, eps),
        section=THE_FORMULA,
        hint_line=QUOTIENT,
    ),
    wrong("rounded-first", order=round_then_weigh).hint(
        en="You round to the type of x before you multiply, as Llama does. Gemma multiplies in float32 and rounds "
        "once, at the end: the last digit can differ.",
        zh="你在相乘之前就舍入到 x 的类型，那是 Llama 的做法。"
        "Gemma 在 float32 里相乘，最后只舍入一次：最后一位可能不同。",
    ),
    wrong("sum-rounded", gain=lambda weight: 1 + weight).hint(
        en="1 + weight is computed in 16 bits, and rounds away the last digits of a small weight. Convert the weight "
        "to float32 before adding.",
        zh="你用 16 位计算 1 + weight，权重很小时，最后几位会丢失。请先把权重转成 float32 再相加。",
    ),
    wrong("weight-without-one", gain=itself).hint(
        en="You multiply by `weight` alone. Gemma stores γ − 1, so that a weight of 0 changes nothing: multiply by 1 + "
        "weight.",
        zh="你只乘了 `weight`。Gemma 存的是 γ − 1，所以权重为 0 时什么也不改变：应当乘以 1 + weight。",
    ),
    wrong("as-in-llama", gain=itself, order=round_then_weigh).hint(
        en="This is Llama's order: rounded first, then multiplied by the weight alone. Gemma multiplies by 1 + weight "
        "in float32 and rounds once.",
        zh="这是 Llama 的顺序：先舍入，再只乘权重。Gemma 用 1 + weight 在 float32 里相乘，只舍入一次。",
        shown_on="bfloat16",
    ),
)


def cases(bfloat16: tuple[list, list], float16: tuple[list, list]) -> tuple[Case, ...]:
    """The formula in float32, and numbers on which every order of rounding gives something else."""
    (x, weight), (y, other_weight) = bfloat16, float16
    return (
        Case("rows", {"x": torch.tensor([[1.0, 2, 4], [10, 20, 30]]), "weight": WEIGHT}),
        Case("tiny", {"x": 1e-3 * torch.tensor([[1.0, 2, 4]]), "weight": WEIGHT}),
        Case("zeros", {"x": torch.zeros(1, 3), "weight": WEIGHT}),
        Case("other eps", {"x": torch.tensor([[1.0, 2, 4]]), "weight": WEIGHT, "eps": 4.0}),
        Case("bfloat16", {"x": torch.tensor([x]).bfloat16(), "weight": torch.tensor(weight).bfloat16()}),
        Case("float16", {"x": torch.tensor([y]).half(), "weight": torch.tensor(other_weight).half()}),
        Case(
            "overflows in float16",
            {"x": torch.tensor([[300.0, -400, 500]]).half(), "weight": WEIGHT.half()},
        ),
        Case("one feature", {"x": waves(3, 1, 1, 1), "weight": WEIGHT[:1]}),
        Case("one token", {"x": waves(3), "weight": WEIGHT}),
        Case("four axes", {"x": waves(2, 4, 5, 3), "weight": WEIGHT}),
        Case("cube", {"x": waves(3, 3, 3), "weight": WEIGHT}),
        Case("outlier", {"x": with_outliers(2, 1025), "weight": waves(1025)}),
        Case("large", {"x": 1e4 * waves(2, 3), "weight": WEIGHT}),
        Case("gradient", {"x": waves(2, 4, 3), "weight": WEIGHT, "eps": 0.01}, gradient=True),
    )


def growing(n: int) -> dict[str, object]:
    return {"x": waves(n, n, 4), "weight": waves(4, start=1.0)}


RMS_NORM_LLAMA = Exercise(
    name="rms_norm_llama",
    recipe=llama,
    module=attributes_as_arguments,
    cases=cases(([3.0, -7], [0.2, 0.7]), ([2.0, 3, -2], [-1.1, 0.2, 1.5])),
    mistakes=(*LLAMA_MISTAKES, OWN_TYPE, NOT_CONVERTED_BACK, WEIGHT_IGNORED, *FORMULA_MISTAKES),
    scaled_inputs=growing,
    exempt={"float64": "both models compute in float32, whatever comes in"},
    section=WHEN_TO_ROUND,
    hint_line="return normalized.to(x.dtype) * weight",
)
RMS_NORM_GEMMA = Exercise(
    name="rms_norm_gemma",
    recipe=gemma,
    module=attributes_as_arguments,
    cases=cases(([1.0, -6], [-0.2, 1.5]), ([2.0, 2, 3], [0.2, -1.5, 0.1])),
    mistakes=(*GEMMA_MISTAKES, OWN_TYPE, NOT_CONVERTED_BACK, WEIGHT_IGNORED, *FORMULA_MISTAKES),
    scaled_inputs=growing,
    exempt={"float64": "both models compute in float32, whatever comes in"},
    section=WHEN_TO_ROUND,
    hint_line="return (normalized * (1 + weight.float())).to(x.dtype)",
)
