"""Known mistakes of `relu`, the first block that a learner writes and keeps."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab import feed_forward
from blocklab_course.checks.case import Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text


def above_zero(x: Tensor) -> Tensor:
    return x > 0


def as_it_is(x: Tensor) -> Tensor:
    return x


def recipe(
    x: Tensor,
    *,
    passes: Callable = above_zero,
    high: Callable = as_it_is,
    low: Callable = torch.zeros_like,
) -> Tensor:
    return torch.where(passes(x), high(x), low(x))


MISTAKES = (
    wrong("negative-kept", passes=lambda x: x < 0).hint(
        en="You keep the negative numbers and make the positive ones 0. It is the other way round: the larger of 0 and "
        "x, not the smaller.",
        zh="你留下了负数，把正数变成了 0，正好反了：应当取 0 和 x 中较大的那个，而不是较小的。",
    ),
    wrong("absolute-value", low=lambda x: -x).hint(
        en="You drop the sign: −2 becomes 2. ReLU makes it 0.", zh="你去掉了负号，−2 变成了 2。ReLU 应当把它变成 0。"
    ),
    wrong("leaky", low=lambda x: 0.01 * x).hint(
        en="You let a hundredth of the negative numbers through. That is leaky ReLU, as `F.leaky_relu` has it; here "
        "they become 0.",
        zh="你让负数的百分之一通过了，那是 leaky ReLU（`F.leaky_relu`）的做法；这里负数都变成 0。",
    ),
    wrong("step", high=torch.ones_like).hint(
        en="You return 1 for every positive number: that is only the answer to `x > 0`. Hand the number itself on.",
        zh="凡是正数，你都返回 1，那只是 `x > 0` 的真假。应当把这个数本身传下去。",
    ),
    wrong("step-of-integers", lambda x: torch.where(x > 0, 1, 0)).hint(
        en="You return 1 where x is positive. ReLU hands the number itself on: `torch.where(x > 0, x, 0)`.",
        zh="x 为正时，你返回的是 1。ReLU 要把这个数本身传下去：`torch.where(x > 0, x, 0)`。",
    ),
    wrong("only-whether-positive", above_zero).hint(
        en="You return only whether each number is positive. What is wanted is numbers: the positive ones as they are, "
        "and 0 for the others.",
        zh="你返回的只是各个数是不是正的。要返回的是数：正数原样返回，其余的都是 0。",
    ),
    wrong("capped-at-1", high=lambda x: x.clamp(max=1)).hint(
        en="You also cut off at 1, as in `clamp(0, 1)`. There is no upper limit.",
        zh="你在 1 处也截断了，例如写成了 `clamp(0, 1)`。往上没有限制。",
    ),
    wrong("capped-at-6", high=lambda x: x.clamp(max=6)).hint(
        en="You also cut off at 6. That is ReLU6, which networks on phones use; here there is no upper limit.",
        zh="你在 6 处也截断了。那是手机网络用的 ReLU6；这里往上没有限制。",
    ),
    wrong("squared", high=torch.square).hint(
        en="You square what passes. Hand it on as it is.", zh="你把通过的数平方了。应当原样传下去。"
    ),
    wrong("max-of-python", lambda x: max(0, x)).hint(
        en="Python's `max` and `if` decide once, about the whole, and a tensor of many numbers is neither larger nor "
        "smaller than 0. Take a function of torch, which goes through them one by one.",
        zh="Python 的 `max` 和 `if` 只对整体判断一次，而一个张量里有许多数，说不上比 0 大还是小。"
        "请用 torch 的函数，它会逐个判断。",
        hint_line="y = torch.clamp(x, min=0)",
    ),
    wrong("largest-along-an-axis", lambda x: torch.max(x, 0)).hint(
        en="In `torch.max(x, 0)` the 0 is an axis, along which the largest number is looked for, and back comes that "
        "number with its place. To compare every number with 0, take `clamp`, or `torch.maximum` with a tensor of "
        "zeros.",
        zh="`torch.max(x, 0)` 里的 0 是轴的编号，不是要比较的数：它沿这个轴找出最大的数，连同位置一起返回。"
        "要让每个数都与 0 比，请用 `clamp`，或者用 `torch.maximum`，再给它一个全零的张量。",
        hint_line="y = torch.clamp(x, min=0)",
    ),
    wrong("maximum-of-a-number", lambda x: torch.maximum(x, 0)).hint(
        en="`torch.maximum` compares two tensors, and 0 is a number: give it `torch.zeros_like(x)`. `clamp` takes a "
        "number.",
        zh="`torch.maximum` 比较的是两个张量，而 0 只是一个数：请写 `torch.zeros_like(x)`。`clamp` 则可以直接用数。",
        hint_line="y = torch.clamp(x, min=0)",
    ),
    wrong("softplus", F.softplus).hint(
        en="This is softplus, a smooth relative, which is a little above 0 even for negative numbers. ReLU is exactly "
        "0 there.",
        zh="这是 softplus，ReLU 的光滑版本：输入为负数时，它还比 0 略大一点，而 ReLU 恰好是 0。",
    ),
    wrong("gelu", F.gelu).hint(
        en="This is GELU, which comes in lesson 07. It lets a little of the negative numbers through; ReLU nothing.",
        zh="这是 GELU，第 07 课才讲。它会让负数通过一点点，而 ReLU 一点也不让。",
    ),
)

RELU = Exercise(
    name="relu",
    recipe=recipe,
    kernel=feed_forward.relu,
    cases=(
        Case("both sides", {"x": torch.tensor([-2.0, -1, 0, 1, 2])}),
        Case("large", {"x": torch.tensor([-30.0, 5, 7.5, 40])}),
        Case("tokens", {"x": waves(2, 3, 4)}),
        Case("square", {"x": waves(3, 3)}),
        Case("one number", {"x": torch.tensor([[[0.7]]])}),  # positive: there Python's max is right
        Case("gradient", {"x": waves(2, 4)}, gradient=True),
    ),
    mistakes=MISTAKES,
    scaled_inputs=lambda n: {"x": waves(n, 3)},
    section=Text(en="Blocks that you keep", zh="你写的模块会保存下来"),
    hint_line="y = torch.where(x > 0, x, 0)",
)
