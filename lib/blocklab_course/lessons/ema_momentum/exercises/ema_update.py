"""Known mistakes of `ema_update`."""

from collections.abc import Callable

import torch
from torch import Tensor

from blocklab import moving_average
from blocklab_course.checks.case import Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import passthrough, with_section, wrong
from blocklab_course.i18n import Text


def rest(new: float) -> float:
    return 1 - new


def recipe(
    average: Tensor,
    value: Tensor,
    momentum: float,
    *,
    share: Callable = passthrough,
    old_weight: Callable = rest,
    new_weight: Callable = passthrough,
    correct: Callable = lambda new, share: new,
) -> Tensor:
    new = share(momentum)
    return correct(old_weight(new) * average + new_weight(new) * value, new)


BY_HAND = Text(en="A moving average by hand", zh="动手算移动平均")

SHARE_MISTAKES = (
    wrong("keras-momentum", share=lambda momentum: 1 - momentum).hint(
        en="You give the old average the weight `momentum`, as Keras does. In PyTorch `momentum` is the weight of the "
        "new value: 0.1 there is 0.9 in Keras.",
        zh="你把 `momentum` 当成了旧平均值的权重，那是 Keras 的约定。"
        "在 PyTorch 里，`momentum` 是新值的权重：它的 0.1 相当于 Keras 的 0.9。",
    ),
    wrong("momentum-ignored", share=lambda momentum: 0.1).hint(
        en="Whatever `momentum` it is given, your function takes 0.1 of the new value. Use the argument.",
        zh="不论传入的 `momentum` 是多少，你给新值的权重总是 0.1。请使用传入的参数。",
    ),
    wrong("keras-momentum-ignored", share=lambda momentum: 0.01).hint(
        en="Your weights are always 0.99 and 0.01, the default of Keras, whatever `momentum` says.",
        zh="不论 `momentum` 是多少，你用的权重总是 0.99 和 0.01，即 Keras 的默认值。",
    ),
    wrong("plain-mean", share=lambda momentum: 0.5).hint(
        en="You return the plain mean of the two, half and half. How much the new value counts is what `momentum` "
        "says.",
        zh="你返回的是两者的普通均值，各占一半。新值占多少，应由 `momentum` 决定。",
    ),
)

WEIGHT_MISTAKES = (
    wrong("rest-on-both", new_weight=rest).hint(
        en="Old and new both have the weight 1 − `momentum`. The new value gets `momentum` itself, and the two weights "
        "sum to 1.",
        zh="新值和旧平均值的权重都是 1 − `momentum`。新值的权重应当就是 `momentum`，两个权重之和为 1。",
    ),
    wrong("momentum-on-both", old_weight=passthrough).hint(
        en="Old and new have the same weight, so the two weights do not sum to 1. What the new value gets, the old "
        "average loses.",
        zh="新值和旧平均值的权重相同，两个权重之和不是 1。新值占多少，旧平均值就应少多少。",
    ),
    wrong("old-average-in-full", old_weight=lambda new: 1.0).hint(
        en="You add to the old average without taking anything off it, so it becomes a sum. Its weight is what is left "
        "of 1.",
        zh="你只往旧平均值上加，却没有减小它的权重，于是它成了总和。它的权重应是 1 减去新值的权重。",
        shown_on="arrived",
    ),
    wrong("new-value-in-full", new_weight=lambda new: 1.0).hint(
        en="The new value comes in full, without its weight. Fed the same value again and again, your average ends at "
        "`value / momentum`.",
        zh="新值没有乘以权重，整个加了进来。反复输入同一个值，你的平均值会趋于 `value / momentum`，而不是这个值。",
        shown_on="arrived",
    ),
    wrong("optimizer-momentum", old_weight=passthrough, new_weight=lambda new: 1.0).hint(
        en="This is the momentum of an optimizer: a fading sum, `momentum` times the old one plus the new value in "
        "full. An average needs two weights that sum to 1.",
        zh="这是优化器里的动量：旧值乘以 `momentum`，再加上整个新值，得到的是逐渐衰减的总和。"
        "求平均需要两个权重，二者之和为 1。",
        shown_on="arrived",
    ),
    wrong("away-from-the-value", old_weight=lambda new: 1 + new, new_weight=lambda new: -new).hint(
        en="The sign of the step is wrong: your average moves away from the new value, by as much as it should move "
        "towards it.",
        zh="这一步的符号反了：你的平均值在远离新值，而它本应以同样的幅度靠近新值。",
    ),
    wrong("step-alone", old_weight=lambda new: -new).hint(
        en="You return the step alone, `momentum` times the difference. Add it to the old average.",
        zh="你只返回了这一步的变化量，即 `momentum` 乘以差值。还要加上旧平均值。",
        shown_on="arrived",
    ),
    wrong("old-weight-squared", old_weight=lambda new: (1 - new) ** 2).hint(
        en="The old average is faded twice: its weight is squared in your result. Once a step is enough.",
        zh="旧平均值衰减了两次：在你的结果里，它的权重成了平方。每一步只衰减一次就够了。",
    ),
)

BIAS_CORRECTED = wrong("bias-corrected", correct=lambda new, share: new / share).hint(
    en="You divide by the weight of the new value at the end: that is the bias correction that Adam makes after its "
    "first step. BatchNorm makes none.",
    zh="你最后除以了新值的权重，那是 Adam 在第一步之后做的偏差修正。批量归一化不做这种修正。",
)

WHOLE_MISTAKES = (
    wrong("last-value", lambda average, value, momentum: value.clone()).hint(
        en="You return the new value alone: the average remembers nothing of what came before.",
        zh="你只返回了新值：以前的值全都忘掉了，这就不是平均了。",
    ),
    wrong("nothing-new", lambda average, value, momentum: average.clone()).hint(
        en="You return the old average as it was: the new value has no effect.",
        zh="你原样返回了旧平均值：新值没有起作用。",
    ),
    wrong("divided-by-momentum", lambda average, value, momentum: average + (value - average) / momentum).hint(
        en="You divide the difference by `momentum`, so the average overshoots the new value. It goes only a part of "
        "the way: multiply.",
        zh="你把差值除以了 `momentum`，于是平均值越过了新值。它只应走一部分的路：要用乘法。",
    ),
)

EMA_UPDATE = Exercise(
    name="ema_update",
    recipe=recipe,
    kernel=moving_average.ema_update,
    cases=(
        Case("a quarter", {"average": torch.tensor([4.0]), "value": torch.tensor([8.0]), "momentum": 0.25}),
        Case("arrived", {"average": torch.tensor([2.0]), "value": torch.tensor([2.0]), "momentum": 0.1}),
        Case("from zero", {"average": torch.tensor([0.0]), "value": torch.tensor([10.0]), "momentum": 0.1}),
        Case("mostly new", {"average": torch.tensor([3.0, -1]), "value": torch.tensor([1.0, 2]), "momentum": 0.9}),
        Case("nothing new", {"average": torch.tensor([3.0]), "value": torch.tensor([1.0]), "momentum": 0.0}),
        Case("all new", {"average": torch.tensor([3.0]), "value": torch.tensor([1.0]), "momentum": 1.0}),
        Case("one channel", {"average": waves(3, 1), "value": waves(3, 1, start=1.0), "momentum": 0.6}),
        Case("large", {"average": torch.tensor([3e4, 5]), "value": torch.tensor([1.0, -2e5]), "momentum": 0.2}),
        Case("channels", {"average": waves(2, 3), "value": waves(2, 3, start=1.0), "momentum": 0.3}),
    ),
    mistakes=(
        *with_section(BY_HAND, *SHARE_MISTAKES, hint_line="new_part = momentum * value"),
        *WEIGHT_MISTAKES,
        *with_section(BY_HAND, BIAS_CORRECTED, hint_line="return change + average"),
        *WHOLE_MISTAKES,
    ),
    scaled_inputs=lambda n: {"average": waves(n, n), "value": waves(n, n, start=1.0), "momentum": 0.1},
    exempt={
        "gradient": "a running average is kept outside of the graph",
        "empty": "there is nothing to average",
    },
    section=BY_HAND,
    panel=Text(
        en="type the same momentum for both frameworks and see which batches count.",
        zh="给两个框架同一个动量，看看各个小批量占多少权重。",
    ),
    hint_line="change = momentum * (value - average)",
)
