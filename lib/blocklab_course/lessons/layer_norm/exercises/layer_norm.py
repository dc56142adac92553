"""Known mistakes of `layer_norm`."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from blocklab import normalization
from blocklab_course.checks.case import Case, waves, with_outliers
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, passthrough, with_section, wrong
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
    BIAS_NEEDED,
    CENTRE_MISTAKES,
    DETACHED,
    DIVIDED_FIRST,
    EPS_MISTAKES,
    KEEPDIM_MISTAKES,
    PLAIN_VARIANCE,
    RESCALE_MISTAKES,
    SPREAD_MISTAKES,
    WEIGHT_AND_BIAS_AS_CONDITIONS,
    WEIGHT_NEEDED,
    WEIGHT_OF_NONE,
    divide,
    mean,
    offset_case,
    overflow_case,
    rescale,
    select,
    subtract,
    variance,
)
from blocklab_course.i18n import Text


def recipe(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    *,
    axes: Callable = last_axes,
    centre: Callable = mean,
    spread: Callable = variance,
    subtract: Callable = subtract,
    small: Callable = passthrough,
    divide: Callable = divide,
    rescale: Callable = rescale,
) -> Tensor:
    over = axes(x, normalized_shape)
    return rescale(divide(subtract(x, centre(x, over)), spread(x, over), small(eps)), weight, bias)


BY_HAND = Text(en="By hand", zh="动手算")
THE_FORMULA = Text(en="The formula", zh="公式")
BLIND_TEST = Text(en="Where the mistake shows", zh="错误在哪里露馅")
THE_EXERCISE = Text(en="Exercise: LayerNorm", zh="练习：层归一化")
WRITE_THE_TEST = Text(en="Write the test", zh="轮到你写测试")
BACKWARD = Text(en="Going further: backward by hand", zh="选读：手算反向传播")
QUOTIENT = "y = centred / (variance + eps).sqrt()"
VARIANCE = "variance = centred.square().mean(axes, keepdim=True)"
OF_THE_ROOT = (
    "eps-outside-root",
    "eps-missing",
    "root-missing",
    "root-of-each",
    "eps-twice",
    "eps-under-and-outside-root",
    "eps-as-floor",
)
WEIGHT = "y = y if weight is None else y * weight"
CENTRED = "centred = x - x.mean(axes, keepdim=True)"

WEIGHT_AS_CONDITION_OF_BOTH = wrong(
    "weight-as-condition-of-both", rescale=lambda y, weight, bias: y * weight + bias if weight else y
).hint(
    en="`if weight` asks whether a whole tensor is true, which has no answer. Write `is not None`, and ask for `bias` "
    "by itself: either may be None alone.",
    zh="`if weight` 问的是整个张量是真是假，这没有答案。"
    "请写 `is not None`；`bias` 要另外判断，两者可以只有一个是 None。",
)

MACHINE_EPSILON = wrong("machine-epsilon", small=lambda eps: torch.finfo(torch.float32).eps).hint(
    en="`eps` has no effect. Your function adds 1.2e-7, the machine epsilon of float32, as `F.rms_norm` does where it "
    "is given none: pass `eps` on.",
    zh="`eps` 没有起作用：你的函数加的是 1.2e-7，即 float32 的机器精度，`F.rms_norm` 没有收到它时就是这样。"
    "请把 `eps` 传进去。",
)

BIAS_WITH_WEIGHT_ONLY = wrong(
    "bias-with-weight-only", rescale=lambda y, weight, bias: y if weight is None else y * weight + bias
).hint(
    en="You add `bias` only where there is a `weight`. Each of the two may be None by itself: ask twice.",
    zh="你只在有 `weight` 的时候才加 `bias`。两者可以只有一个是 None，所以要分别判断。",
)
BIAS_OF_NONE = (
    wrong("plus-none", rescale=lambda y, weight, bias: (y if weight is None else y * weight) + bias).hint(
        en="Without a `bias` you add None. Add only where there is one: `if bias is not None`.",
        zh="没有传入 `bias` 时，你加的是 None。请先判断 `if bias is not None`，有了再加。",
    ),
    BIAS_WITH_WEIGHT_ONLY,
    BIAS_WITH_WEIGHT_ONLY.spelled(
        {"rescale": lambda y, weight, bias: y if weight is None else rescale(y, weight, bias)}
    ),
)

MEAN_WITHOUT_KEEPDIM = select(KEEPDIM_MISTAKES, "mean-without-keepdim")[0]


def deviating_without_keepdim(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    *,
    keep: bool,
) -> Tensor:
    """The deviations are misaligned. The variance is the mean of their squares, and is aligned if `keep`."""
    over = last_axes(x, normalized_shape)
    centred = x - x.mean(over)
    return rescale(divide(centred, centred.square().mean(over, keepdim=keep), eps), weight, bias)


LAYER_NORM = Exercise(
    name="layer_norm",
    recipe=recipe,
    kernel=normalization.layer_norm,
    module=attributes_as_arguments,
    cases=(
        Case("rows", {"x": torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40]]), "normalized_shape": (4,)}),
        Case("tiny", {"x": 1e-3 * torch.tensor([[1.0, 2, 3, 4]]), "normalized_shape": (4,)}),
        Case("skewed", {"x": torch.tensor([[0.0, 0, 0, 4]]), "normalized_shape": (4,)}),
        Case("constant", {"x": torch.tensor([[2.0, 2, 2, 2]]), "normalized_shape": (4,)}),
        Case(
            "weighted",
            {
                "x": torch.tensor([[1.0, 3, 5]]),
                "normalized_shape": (3,),
                "weight": torch.tensor([2.0, -1, 3]),
                "bias": torch.tensor([0.5, 10, -4]),
            },
        ),
        Case(
            "shifted",
            {
                "x": torch.tensor([[1.0, 3, 5]]),
                "normalized_shape": (3,),
                "weight": None,
                "bias": torch.tensor([0.5, 10, -4]),
            },
        ),
        Case(
            "other eps",
            {"x": torch.tensor([[1.0, 3]]), "normalized_shape": (2,), "weight": None, "bias": None, "eps": 3.0},
        ),
        Case("square", {"x": torch.tensor([[1.0, 2, 6], [4, 10, 1], [7, 3, 5]]), "normalized_shape": (3,)}),
        Case("tokens", {"x": waves(2, 5, 3), "normalized_shape": (3,)}),
        Case("pictures", {"x": waves(2, 3, 4, 5), "normalized_shape": (4, 5), "weight": waves(4, 5, start=1.0)}),
        *CUBE_CASES,
        *SIZE_ONE_CASES,
        *NO_BATCH_CASES,
        Case("weight of 0", {"x": waves(2, 3), "normalized_shape": (3,), "weight": torch.zeros(3)}),
        Case("outlier", {"x": with_outliers(2, 1025), "normalized_shape": (1025,)}),
        Case("large", {"x": 1e4 * waves(2, 3), "normalized_shape": (3,)}),
        Case(
            "no eps",
            {"x": 1e-6 * waves(2, 3), "normalized_shape": (3,), "weight": None, "bias": None, "eps": 1e-12},
        ),
        Case(
            "gradient",
            {
                "x": waves(2, 4, 3),
                "normalized_shape": (3,),
                "weight": waves(3, start=1.0),
                "bias": waves(3, start=2.0),
                "eps": 0.01,
            },
            gradient=True,
        ),
        overflow_case({"x": torch.tensor([[300.0, -400, 500, 600]]).half(), "normalized_shape": (4,)}),
        offset_case(lambda offset: {"x": torch.tensor([[1.0, 2, 3, 4]]) + offset, "normalized_shape": (4,)}),
    ),
    mistakes=(
        *with_section(
            THE_EXERCISE,
            *AXES_MISTAKES,
            *exclusive(recipe, SIZES_AS_AXES),
            hint_line="axes = tuple(range(-len(normalized_shape), 0))",
        ),
        *with_section(THE_FORMULA, *select(EPS_MISTAKES, *OF_THE_ROOT), hint_line=QUOTIENT),
        *with_section(
            THE_FORMULA,
            *select(EPS_MISTAKES, "eps-argument-ignored", "eps-default-too-small"),
            MACHINE_EPSILON,
            hint_line=QUOTIENT,
        ),
        *with_section(
            THE_FORMULA, *select(SPREAD_MISTAKES, "unbiased-variance", "sum-for-mean-of-squares"), hint_line=VARIANCE
        ),
        *with_section(
            THE_FORMULA, *select(SPREAD_MISTAKES, "mean-square-for-variance", "absolute-deviation"), hint_line=VARIANCE
        ),
        *with_section(THE_FORMULA, *CENTRE_MISTAKES, hint_line=CENTRED),
        *with_section(
            BY_HAND,
            *KEEPDIM_MISTAKES,
            MEAN_WITHOUT_KEEPDIM.spelled(partial(deviating_without_keepdim, keep=True)),
            MEAN_WITHOUT_KEEPDIM.spelled(partial(deviating_without_keepdim, keep=False)),
            hint_line=CENTRED,
        ),
        *with_section(THE_EXERCISE, PLAIN_VARIANCE, hint_line=VARIANCE),
        *with_section(BACKWARD, DETACHED, hint_line=VARIANCE),
        *with_section(THE_FORMULA, DIVIDED_FIRST),
        *with_section(THE_EXERCISE, *RESCALE_MISTAKES, hint_line=WEIGHT),
        *with_section(
            THE_EXERCISE,
            *exclusive(
                recipe,
                *WEIGHT_OF_NONE,
                WEIGHT_AND_BIAS_AS_CONDITIONS,
                WEIGHT_AS_CONDITION_OF_BOTH,
                *BIAS_OF_NONE,
                WEIGHT_NEEDED,
                *BIAS_NEEDED,
            ),
            hint_line=WEIGHT,
        ),
    ),
    scaled_inputs=lambda n: {"x": waves(n, n, 4), "normalized_shape": (4,)},
    section=THE_FORMULA,
    hint_line=VARIANCE,
)
