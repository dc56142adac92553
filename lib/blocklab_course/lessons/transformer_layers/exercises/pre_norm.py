"""Known mistakes of `pre_norm`, one residual connection with its norm inside."""

from collections.abc import Callable

import torch
from torch import Tensor

from blocklab_course.checks.case import EMPTY_INPUT_ADVICE, Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import wrong

from .norm_order import (
    BY_HAND,
    NEITHER,
    PANEL,
    Part,
    as_it_is,
    both_normalized,
    carried_normalized,
    half_of,
    layer_norm_shifted,
    norm_inside,
    norm_inside_and_outside,
    norm_outside,
    nothing_carried,
    relu_and_neighbour,
    residual_doubled,
    result_normalized,
)


def recipe(x: Tensor, sublayer: Part, norm: Part, *, around: Callable = norm_inside) -> Tensor:
    return around(x, x, sublayer, norm)


def square(x: Tensor) -> Tensor:
    return x * x


def norm_not_called(x: Tensor, sublayer: Part, norm: Part) -> Tensor:
    return x + sublayer(norm)


LIKE_A_TRANSFORMER = {"sublayer": relu_and_neighbour, "norm": layer_norm_shifted}

PRE_NORM_MISTAKES = (
    wrong("post-norm", around=norm_outside).hint(
        en="This is post-norm, the order of 2017: you normalize the sum. In pre-norm you normalize what the sub-layer "
        "reads, and the sum stays as it is.",
        zh="这是后置归一化（post-norm），即 2017 年的顺序：你归一化的是相加的结果。"
        "前置归一化（pre-norm）归一化的是子层的输入，相加的结果保持不变。",
        hint_line="y = x + given",
    ),
    wrong("residual-normalized", around=both_normalized).hint(
        en="You normalize x and go on from there, so the residual connection carries the normalized x. It carries x "
        "exactly as it came in; only the sub-layer reads the normalized one.",
        zh="你先把 x 归一化，后面用的都是它，连残差连接传递的也是。残差连接应当原样传递 x，只有子层的输入才归一化。",
        hint_line="y = x + given",
    ),
    wrong("only-the-residual-normalized", around=carried_normalized).hint(
        en="You normalize what the residual connection carries, and the sub-layer reads the plain x. It is the other "
        "way round.",
        zh="你归一化了残差连接传递的 x，子层的输入却没有归一化，正好反了。",
        hint_line="y = x + given",
    ),
    wrong("residual-missing", around=nothing_carried(norm_inside)).hint(
        en="There is no residual connection: you return what the sub-layer gives. Add x to it.",
        zh="没有残差连接：你返回的只是子层的输出。还要加上 x。",
        hint_line="y = x + given",
    ),
    wrong("result-normalized-without-residual", around=nothing_carried(result_normalized)).hint(
        en="You normalize what the sub-layer gives, and there is no residual connection. Normalize what it reads, and "
        "add x.",
        zh="你归一化的是子层的输出，而且没有残差连接。应当归一化子层的输入，再把 x 加到它的输出上。",
    ),
    wrong("residual-twice", around=residual_doubled(norm_inside)).hint(
        en="x is added twice. Once is right.", zh="x 加了两次。应当只加一次。", hint_line="y = x + given"
    ),
    wrong("result-normalized", around=result_normalized).hint(
        en="You normalize what the sub-layer gives. OLMo 2 does that; pre-norm normalizes what the sub-layer reads.",
        zh="你归一化的是子层的输出，OLMo 2 就是这样。前置归一化（pre-norm）归一化的是子层的输入。",
    ),
    wrong(
        "normalized-before-and-after", around=lambda carried, read, sublayer, norm: carried + norm(sublayer(norm(read)))
    ).hint(
        en="You normalize before the sub-layer and its result once more, a sandwich as in Gemma 2. Pre-norm has only "
        "the first of the two.",
        zh="你把子层的输入和输出各归一化了一次，这是 Gemma 2 的夹心式。前置归一化（pre-norm）只归一化输入。",
    ),
    wrong("sum-normalized-too", around=norm_inside_and_outside).hint(
        en="You normalize before the sub-layer, which is right, and the sum once more. The sum stays as it is.",
        zh="你归一化了子层的输入，这是对的；但你又归一化了相加的结果。相加的结果应当保持不变。",
        hint_line="y = x + given",
    ),
    wrong("sublayer-missing", around=lambda carried, read, sublayer, norm: carried + norm(read)).hint(
        en="The sub-layer is never called: what you add to x is only the normalized x.",
        zh="子层一次也没有调用：你加到 x 上的只是归一化之后的 x。",
    ),
    wrong("multiplied", around=lambda carried, read, sublayer, norm: carried * sublayer(norm(read))).hint(
        en="You multiply x with what the sub-layer gives. A residual connection adds.",
        zh="你把 x 与子层的输出相乘。残差连接是相加。",
        hint_line="y = x + given",
    ),
    wrong("subtracted", around=lambda carried, read, sublayer, norm: carried - sublayer(norm(read))).hint(
        en="You subtract what the sub-layer gives from x. A residual connection adds it.",
        zh="你从 x 里减去了子层的输出。残差连接是相加。",
        hint_line="y = x + given",
    ),
    wrong("norm-not-called", norm_not_called).hint(
        en="You hand the sub-layer the function `norm` itself. Call it on x first; the sub-layer wants the tensor that "
        "comes of it.",
        zh="你把函数 `norm` 本身交给了子层。应当先对 x 调用它，子层要的是由此得到的张量。",
    ),
)

PRE_NORM = Exercise(
    name="pre_norm",
    recipe=recipe,
    cases=(
        Case("by hand", {"x": torch.tensor([6.0]), "sublayer": square, "norm": half_of}),
        Case("tokens", {"x": waves(2, 3, 4)} | LIKE_A_TRANSFORMER),
        Case("one feature", {"x": waves(2, 3, 1)} | LIKE_A_TRANSFORMER),
        Case("one token", {"x": waves(2, 1, 4)} | LIKE_A_TRANSFORMER),
        Case("cube", {"x": waves(3, 3, 3)} | LIKE_A_TRANSFORMER),
        Case("given back", {"x": torch.tensor([[1.0, 2]]), "sublayer": as_it_is, "norm": as_it_is}),
        Case("nothing", {"x": torch.zeros(0, 3, 4)} | LIKE_A_TRANSFORMER, advice=EMPTY_INPUT_ADVICE),
        Case("gradient", {"x": waves(3, 4)} | LIKE_A_TRANSFORMER, gradient=True),
    ),
    mistakes=(*PRE_NORM_MISTAKES, *NEITHER),
    section=BY_HAND,
    panel=PANEL,
    hint_line="given = sublayer(norm(x))",
)
