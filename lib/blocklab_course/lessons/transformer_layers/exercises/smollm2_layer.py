"""Known mistakes of `smollm2_layer`, the layer that is joined from parts: it is checked without the model."""

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import Mistake, exclusive, with_section, wrong

from .norm_order import (
    BY_HAND,
    CASES,
    FOUR_NORMS,
    NEITHER,
    NORMS_MISTAKES,
    WHOLE_LAYER_MISTAKES,
    Part,
    attention_first,
    layer,
    norm_inside,
    norm_outside,
    one_after_the_other,
    residual_doubled,
    result_normalized,
    without_norm1,
    without_norm2,
)
from .pre_norm import PRE_NORM

Around = Callable[[Tensor, Part, Part], Tensor]  # of x, a sub-layer and its norm


def pre_norm(x: Tensor, sublayer: Part, norm: Part) -> Tensor:
    return x + sublayer(norm(x))


def recipe(
    x: Tensor,
    attention: Part,
    swiglu: Part,
    norm1: Part,
    norm2: Part,
    around: Around,  # noqa: ARG001
    *,
    parts: Callable = attention_first,
    inside: Callable = norm_inside,
    chain: Callable = one_after_the_other,
) -> Tensor:
    """The right layer. `around` is `pre_norm` in every case; the step `inside` is what mistakes put in its place."""
    return layer(x, (attention, norm1), (swiglu, norm2), parts=parts, around=inside, chain=chain)


def inside(*rows: Mistake) -> tuple[Mistake, ...]:
    """Rows of other exercises, whose step `around` bears another name here, where it is an argument."""
    return tuple(replace(row, replaces={"inside": row.replaces["around"]}, hint_line=None) for row in rows)


def added_to_attention(x: Tensor, first: Callable, second: Callable) -> Tensor:
    h = x + first(x, x)
    return second(h, h)


def added_to_swiglu(x: Tensor, first: Callable, second: Callable) -> Tensor:
    h = first(x, x)
    return h + second(h, h)


def x_added_to_both(x: Tensor, first: Callable, second: Callable) -> Tensor:
    return x + added_to_attention(x, first, second)


def results_handed_over(x: Tensor, attention: Part, _swiglu: Part, norm1: Part, _norm2: Part, around: Around) -> Tensor:
    return around(x, attention(x), norm1)


def first_x_normalized(x: Tensor, attention: Part, swiglu: Part, norm1: Part, norm2: Part, around: Around) -> Tensor:
    return around(around(norm1(x), attention, norm1), swiglu, norm2)


def second_x_normalized(x: Tensor, attention: Part, swiglu: Part, norm1: Part, norm2: Part, around: Around) -> Tensor:
    return around(norm2(around(x, attention, norm1)), swiglu, norm2)


HANDING_MISTAKES = (
    wrong("results-handed-over", results_handed_over).hint(
        en="`around` wants the functions themselves, `attention` and `norm1`, without brackets: it calls them. You "
        "hand it what they give, a tensor.",
        zh="`around` 要的是函数本身，写 `attention` 和 `norm1`，后面不带括号，由它来调用。你传给它的是算好的张量。",
    ),
    wrong("sublayer-and-norm-swapped", inside=result_normalized).hint(
        en="You normalize what the sub-layer gives, not what it reads. `around` wants x, then the sub-layer, then its "
        "norm.",
        zh="你归一化的是子层的输出，不是输入。`around` 的参数依次是 x、子层、归一化。",
    ),
    wrong("normalized-already", inside=lambda carried, read, f, norm: norm(carried) + f(norm(norm(read)))).hint(
        en="You hand `around` a normalized x. It wants x as it came in, and normalizes for the sub-layer itself.",
        zh="你传给 `around` 的 x 已经归一化了。它要的是原样的 x，子层的输入由它来归一化。",
    ),
    wrong("first-x-normalized", first_x_normalized).hint(
        en="You hand `around` a normalized x with attention. It wants x as it came in, and normalizes for attention "
        "itself.",
        zh="注意力那一半，你传给 `around` 的 x 已经归一化了。它要的是原样的 x，注意力的输入由它来归一化。",
    ),
    wrong("second-x-normalized", second_x_normalized).hint(
        en="You hand `around` a normalized x with the feed-forward network. It wants the first half's result as it is, "
        "and normalizes for the sub-layer itself.",
        zh="前馈网络那一半，你传给 `around` 的 x 已经归一化了。它要的是前一半原样的结果，子层的输入由它来归一化。",
        hint_line="return around(x, swiglu, norm2)",
    ),
    wrong("normalized-twice", inside=lambda carried, read, f, norm: carried + f(norm(norm(read)))).hint(
        en="What a sub-layer reads is normalized twice, once by you and once by `around`. Hand it the sub-layer as it "
        "is.",
        zh="子层的输入归一化了两次，一次是你做的，一次是 `around` 做的。把子层原样传给它就行。",
    ),
    wrong("added-again", inside=residual_doubled(norm_inside)).hint(
        en="x is added twice. `around` adds it already.", zh="x 加了两次。`around` 已经加过一次了。"
    ),
    wrong("added-again-to-attention", chain=added_to_attention).hint(
        en="Around attention x is added twice. `around` adds it already.",
        zh="注意力那一半把 x 加了两次。`around` 已经加过一次了。",
    ),
    wrong("added-again-to-swiglu", chain=added_to_swiglu).hint(
        en="Around the feed-forward network the first half's result is added twice. `around` adds it already.",
        zh="前馈网络那一半，把前一半的结果加了两次。`around` 已经加过一次了。",
        hint_line="return around(x, swiglu, norm2)",
    ),
    wrong("x-added-to-both", chain=x_added_to_both).hint(
        en="You add x to what each `around` gives. It adds already what it is handed: add nothing yourself.",
        zh="两次调用 `around`，你都又加了 x。传给它的，它已经加过了，你什么也不用加。",
    ),
    wrong("halves-added", chain=lambda x, first, second: first(x, x) + second(x, x)).hint(
        en="Both halves read the first x, and you add their results. The second half takes what the first one gives.",
        zh="两半读的都是最初的 x，你再把两个结果相加。后一半的 x 应当是前一半的结果。",
    ),
)

IN_ONE_CALL = (
    wrong("attention-and-norm1-swapped", parts=lambda one, two: (one[::-1], two)).hint(
        en="In the first call sub-layer and norm are swapped. `around` wants x, then the sub-layer, then its norm.",
        zh="第一次调用把子层和归一化写反了。`around` 的参数依次是 x、子层、归一化。",
    ),
    wrong("swiglu-and-norm2-swapped", parts=lambda one, two: (one, two[::-1])).hint(
        en="In the second call sub-layer and norm are swapped. `around` wants x, then the sub-layer, then its norm.",
        zh="第二次调用把子层和归一化写反了。`around` 的参数依次是 x、子层、归一化。",
        hint_line="return around(x, swiglu, norm2)",
    ),
)

ORDER_MISTAKES = (
    wrong("post-norm", inside=norm_outside).hint(
        en="This is post-norm: you normalize the sum. Hand `around` the sub-layer and its norm, and it does the rest.",
        zh="这是后置归一化（post-norm）：你归一化的是相加的结果。把子层和它的归一化传给 `around`，其余的由它来做。",
    ),
    *inside(*map(PRE_NORM.mistake, ("residual-normalized", "residual-missing", "sum-normalized-too"))),
)


MISSING = (
    wrong("norm1-missing", parts=without_norm1).hint(
        en="`norm1` is never called: attention has no norm. Each sub-layer has its own.",
        zh="`norm1` 一次也没有调用：注意力的输入没有归一化。每个子层都要有自己的归一化层。",
    ),
    wrong("norm2-missing", parts=without_norm2).hint(
        en="`norm2` is never called: the feed-forward network has no norm. Each sub-layer has its own.",
        zh="`norm2` 一次也没有调用：前馈网络的输入没有归一化。每个子层都要有自己的归一化层。",
        hint_line="return around(x, swiglu, norm2)",
    ),
)


def _renamed(arguments: dict[str, object]) -> dict[str, object]:
    """Those of a layer in post-norm, with the name that SmolLM2's feed-forward network has, and `around`."""
    names = {"feed_forward": "swiglu"}
    return {names.get(name, name): part for name, part in arguments.items()} | {"around": pre_norm}


SMOLLM2_LAYER = Exercise(
    name="smollm2_layer",
    recipe=recipe,
    cases=tuple(replace(case, arguments=_renamed(case.arguments)) for case in CASES),
    mistakes=(
        *HANDING_MISTAKES,
        *ORDER_MISTAKES,
        *NORMS_MISTAKES,
        *with_section(FOUR_NORMS, *WHOLE_LAYER_MISTAKES, hint_line="return around(x, swiglu, norm2)"),
        # with another mistake two of these would give the same
        *exclusive(recipe, *MISSING, *IN_ONE_CALL, *inside(*NEITHER)),
    ),
    section=BY_HAND,
    hint_line="x = around(x, attention, norm1)",
)
