"""Known mistakes of `batch_norm`."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from blocklab import normalization
from blocklab.moving_average import ema_update
from blocklab_course.checks.case import EMPTY_INPUT_ADVICE, Case, waves, with_outliers
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, passthrough, with_section, wrong
from blocklab_course.checks.modules import attributes_as_arguments
from blocklab_course.checks.recipes.normalizing import (
    AFFINE_ON_THE_LAST_AXIS,
    DIVIDED_FIRST,
    SHARED_MISTAKES,
    along_channels,
    divide,
    mean,
    not_reshaped,
    offset_case,
    rescale,
    select,
    subtract,
    variance,
)
from blocklab_course.i18n import Text


def all_but_channels(x: Tensor) -> list[int]:
    return [axis for axis in range(x.dim()) if axis != 1]


def unbiased_variance(x: Tensor, axes: list[int], _normalized_with: Tensor, _eps: float) -> Tensor:
    return x.var(axes, keepdim=True)


def new_value_gets_momentum(old: Tensor, new: Tensor, momentum: float) -> Tensor:
    return (1 - momentum) * old + momentum * new


def old_value_gets_momentum(old: Tensor, new: Tensor, momentum: float) -> Tensor:
    return momentum * old + (1 - momentum) * new


def at_the_start(old: Tensor) -> bool:
    return bool((old == 0).all() or (old == 1).all())


def in_training(training: bool) -> bool:
    return training


def always(_training: bool) -> bool:
    return True


def never(_training: bool) -> bool:
    return False


def into_the_buffer(buffer: Tensor, moved: Tensor) -> None:
    buffer.copy_(moved)


def into_a_local_name(_buffer: Tensor, _moved: Tensor) -> None:
    pass


def after_the_update(_before: tuple, after: tuple) -> tuple:
    return after


def before_the_update(before: tuple, _after: tuple) -> tuple:
    return before


def recipe(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *,
    uses_batch: Callable = in_training,
    axes: Callable = all_but_channels,
    centre: Callable = mean,
    spread: Callable = variance,
    updates: Callable = in_training,
    stored: Callable = unbiased_variance,
    vector: Callable = Tensor.squeeze,
    blend: Callable = new_value_gets_momentum,
    write: Callable = into_the_buffer,
    read: Callable = after_the_update,
    lay_batch: Callable = not_reshaped,
    lay_running: Callable = along_channels,
    subtract: Callable = subtract,
    small: Callable = passthrough,
    divide: Callable = divide,
    lay_affine: Callable = along_channels,
    rescale: Callable = rescale,
) -> Tensor:
    before = running_mean.clone(), running_var.clone()
    if updates(training):
        over = axes(x)
        new_mean, new_var = centre(x, over), stored(x, over, spread(x, over), small(eps))
        with torch.no_grad():
            write(running_mean, blend(running_mean, vector(new_mean, over), momentum))
            write(running_var, blend(running_var, vector(new_var, over), momentum))
    if uses_batch(training):
        over = axes(x)
        statistics = (lay_batch(statistic(x, over), over) for statistic in (centre, spread))
    else:
        after = running_mean.clone(), running_var.clone()
        statistics = (lay_running(vector, x) for vector in read(before, after))
    mean, variance = statistics
    y = divide(subtract(x, mean), variance, small(eps))
    return rescale(y, lay_affine(weight, x), lay_affine(bias, x))


AXES_MISTAKES = (
    wrong("batch-axis-only", axes=lambda x: [0]).hint(
        en="You average over the batch axis only. BatchNorm keeps one mean for each channel, so on `(N, C, L)` and "
        "`(N, C, H, W)` it runs over the positions too.",
        zh="你只沿批量轴求了均值。"
        "批量归一化的每个通道只有一个均值，所以在 `(N, C, L)` 和 `(N, C, H, W)` 上还要沿位置轴求。",
    ),
    wrong("over-everything", axes=lambda x: list(range(x.dim()))).hint(
        en="You average over the whole tensor, so all channels share one mean. Leave out axis 1: each channel has a "
        "mean of its own.",
        zh="你对整个张量求了均值，于是所有通道共用一个均值。请不要沿轴 1 求：每个通道各有一个均值。",
    ),
    wrong("over-all-but-the-batch", axes=lambda x: list(range(1, x.dim()))).hint(
        en="You average over everything except the batch axis: that gives one mean for each sample, as LayerNorm does. "
        "BatchNorm keeps one for each channel, axis 1.",
        zh="你沿批量轴以外的所有轴求了均值，得到的是每个样本一个均值，那是层归一化的做法。"
        "批量归一化则是每个通道一个均值，通道是轴 1。",
    ),
    wrong("over-the-positions", axes=lambda x: list(range(2, x.dim()))).hint(
        en="You leave the batch axis out and average over the positions only, as InstanceNorm does. BatchNorm runs "
        "over batch and positions together.",
        zh="你漏掉了批量轴，只沿位置轴求均值，那是实例归一化的做法。批量归一化要沿批量轴和位置轴一起求。",
    ),
    wrong(
        "channels-last", axes=lambda x: list(range(x.dim() - 1)), lay_running=not_reshaped, lay_affine=not_reshaped
    ).hint(
        en="You take the last axis for the channels, as Keras does. In torch they are axis 1: where both axes have the "
        "same size nothing fails, and the numbers are still wrong.",
        zh="你把最后一个轴当成了通道轴，那是 Keras 的约定。"
        "在 torch 里，通道是轴 1：两个轴大小相同时不会报错，但数值是错的。",
        shown_on="square",
    ),
    wrong("pictures-only", axes=lambda x: [0, 2, 3]).hint(
        en="The axes 0, 2 and 3 are right for `(N, C, H, W)` only. Take all the axes that x has, except axis 1.",
        zh="轴 0、2 和 3 只适合 `(N, C, H, W)`。应当取 x 的所有轴，只留下轴 1。",
    ),
)

# Where the means are too many, the lesson's ema_update refuses them, in words of its own.
REFUSED_MISTAKES = (
    wrong("batch-axis-only-in-ema-update", axes=lambda x: [0], blend=ema_update).hint(
        en="Your mean has more numbers than there are channels, so `ema_update` refuses it: you average over the batch "
        "axis only. On `(N, C, L)` and `(N, C, H, W)` the positions are averaged over, too.",
        zh="你求出的均值，个数比通道多，所以 `ema_update` 报错：你只沿批量轴求了均值。"
        "在 `(N, C, L)` 和 `(N, C, H, W)` 上，还要沿位置轴求。",
    ),
    wrong("pictures-only-in-ema-update", axes=lambda x: [0, 2, 3], blend=ema_update).hint(
        en="The axes 0, 2 and 3 are all but the channels in `(N, C, H, W)` only; x may also have two axes, or five. "
        "Build the list from `x.dim()`: every axis except axis 1.",
        zh="只有在 `(N, C, H, W)` 里，除了通道，其余的轴才是 0、2 和 3；x 也可能有两个轴，或者五个。"
        "请根据 `x.dim()` 列出除轴 1 以外的每个轴。",
    ),
)


KEPT_AXES_MISTAKES = (
    wrong("axes-kept", vector=not_reshaped).hint(
        en="Your mean kept its axes (`keepdim=True`), and the buffer, a vector of C numbers, cannot take it. Average "
        "without `keepdim`, and reshape the vector with `.view(shape)` only where you normalize.",
        zh="你的均值保留了各个轴（`keepdim=True`），而缓冲区是含 C 个数的向量，写不进去。"
        "求均值时不要写 `keepdim`，到归一化那一行再用 `.view(shape)` 让向量对准通道轴。",
    ),
    wrong("axes-kept-in-ema-update", vector=not_reshaped, blend=ema_update).hint(
        en="Your mean kept its axes (`keepdim=True`), so `ema_update` refuses it: the buffer is a vector of C numbers. "
        "Average without `keepdim`, and reshape the vector with `.view(shape)` only where you normalize.",
        zh="你的均值保留了各个轴（`keepdim=True`），而缓冲区是含 C 个数的向量，所以 `ema_update` 报错。"
        "求均值时不要写 `keepdim`，到归一化那一行再用 `.view(shape)` 让向量对准通道轴。",
    ),
)

LAYOUT_MISTAKES = (
    AFFINE_ON_THE_LAST_AXIS,
    wrong("running-on-the-last-axis", lay_running=not_reshaped).hint(
        en="In eval mode `running_mean` and `running_var` of shape `(C,)` broadcast along the last axis, not along the "
        "channels. View them as `(1, C, 1, …)`.",
        zh="在评估模式下，形状为 `(C,)` 的 `running_mean` 和 `running_var` 会沿最后一个轴广播，而不是沿通道轴。"
        "请把它们变形为 `(1, C, 1, …)`。",
    ),
)

MODE_MISTAKES = (
    wrong("training-ignored", uses_batch=always, updates=always).hint(
        en="In eval mode, where `training` is False, yours does the same as in training. There the running statistics "
        "normalize, and they stay as they are.",
        zh="评估模式（`training` 为 False）下，你写的仍按训练时那样计算。"
        "这时应当用运行统计量来归一化，而且不再更新它们。",
    ),
    wrong("batch-statistics-in-eval", uses_batch=always).hint(
        en="In eval mode you still use the statistics of the batch, so the result for one sample depends on the "
        "others. Use `running_mean` and `running_var` there.",
        zh="在评估模式下，你仍在用小批量的统计量，于是一个样本的结果会受其他样本影响。"
        "这时应当用 `running_mean` 和 `running_var`。",
    ),
    wrong("running-statistics-in-training", uses_batch=never, read=before_the_update).hint(
        en="In training you normalize with the running statistics. They are for eval mode; in training the batch's own "
        "normalize, and gradients flow through them.",
        zh="训练时，你用运行统计量来归一化。"
        "它们是给评估模式用的；训练时要用小批量自己的统计量，梯度也要经过它们传回去。",
    ),
    wrong("updated-statistics-in-training", uses_batch=never).hint(
        en="In training you update the running statistics and then normalize with them. Normalize with the batch's "
        "own; the running ones are only stored, for eval mode.",
        zh="训练时，你先更新运行统计量，再用它们来归一化。"
        "应当用小批量自己的统计量；运行统计量只是存起来，留给评估模式。",
    ),
)

UPDATE_MISTAKES = (
    wrong("updated-in-eval", updates=always).hint(
        en="In eval mode too, you update the running statistics and then use them. There they stay as training left "
        "them.",
        zh="在评估模式下，你仍会先更新运行统计量，再用它们来归一化。这时它们应当保持训练结束时的样子。",
    ),
    wrong("updated-in-eval-afterwards", updates=always, read=before_the_update).hint(
        en="The result in eval mode is right, but afterwards the running statistics have moved. Only training updates "
        "them.",
        zh="评估模式下的结果是对的，但之后运行统计量变了。只有训练时才更新它们。",
    ),
)
NEVER_UPDATED = wrong("never-updated", write=into_a_local_name).hint(
    en="After training `running_mean` and `running_var` are what they were. Write into them, with `copy_`, `lerp_` "
    "or `[:] =`: a local `running_mean = …` only gives a new tensor that name.",
    zh="训练一步之后，`running_mean` 和 `running_var` 还是老样子。要写进原来的张量里，"
    "可以用 `copy_`、`lerp_` 或 `[:] =`：写成局部变量 `running_mean = …`，不过是让这个名字指向一个新张量。",
)


def with_only_the_mean_moving(x: Tensor, running_mean: Tensor, running_var: Tensor, *others: object) -> Tensor:
    return recipe(x, running_mean, running_var.clone(), *others)


def with_only_the_variance_moving(x: Tensor, running_mean: Tensor, running_var: Tensor, *others: object) -> Tensor:
    return recipe(x, running_mean.clone(), running_var, *others)


HALF_UPDATED = (
    wrong("variance-never-updated", with_only_the_mean_moving).hint(
        en="After training `running_mean` has moved, but `running_var` is what it was. Write into both.",
        zh="训练一步之后，`running_mean` 变了，`running_var` 却还是老样子。两个缓冲区都要写入。",
    ),
    wrong("mean-never-updated", with_only_the_variance_moving).hint(
        en="After training `running_var` has moved, but `running_mean` is what it was. Write into both.",
        zh="训练一步之后，`running_var` 变了，`running_mean` 却还是老样子。两个缓冲区都要写入。",
    ),
)

STORED_MISTAKES = (
    wrong(
        "variances-swapped",
        spread=lambda x, axes: x.var(axes, keepdim=True),
        stored=lambda x, axes, normalized_with, eps: variance(x, axes),
    ).hint(
        en="You have both variances, the wrong way round: the biased one, over m, normalizes; the unbiased one, over "
        "m − 1, is stored.",
        zh="两个方差你都有了，只是用反了：归一化用有偏方差，除以 m；存下来的是无偏方差，除以 m − 1。",
        hint_line="mean, variance, stored = x.mean(axes), x.var(axes, correction=0), x.var(axes)",
    ),
    wrong("biased-variance-stored", stored=lambda x, axes, normalized_with, eps: normalized_with).hint(
        en="You store in `running_var` the same variance that you normalize with. Store the unbiased one, "
        "`x.var(axes)`, which divides by m − 1.",
        zh="你存进 `running_var` 的，就是用来归一化的那个方差。应当存无偏方差 `x.var(axes)`，它除以 m − 1。",
    ),
    wrong(
        "count-of-the-batch", stored=lambda x, axes, normalized_with, eps: variance(x, axes) * len(x) / (len(x) - 1)
    ).hint(
        en="You make the variance unbiased with `N/(N − 1)`, where N is the size of the batch. A channel has more "
        "numbers than that: on `(N, C, L)` it is N times L, and the positions count too.",
        zh="你用 `N/(N − 1)` 把方差换算成无偏方差，N 是批量大小。"
        "但每个通道的数不止这些：在 `(N, C, L)` 上有 N 乘 L 个，位置也要计入。",
    ),
    wrong("deviation-stored", stored=lambda x, axes, normalized_with, eps: x.std(axes, keepdim=True)).hint(
        en="You store the standard deviation. `running_var` holds the variance, without the root.",
        zh="你存的是标准差。`running_var` 存的是方差，不开方。",
    ),
    wrong("eps-stored", stored=lambda x, axes, normalized_with, eps: x.var(axes, keepdim=True) + eps).hint(
        en="You store the variance with ε added. ε is for the division only; `running_var` holds the variance itself.",
        zh="你存入的方差加上了 ε。ε 只用在除法里；`running_var` 存的是方差本身。",
    ),
)

MOMENTUM_MISTAKES = (
    wrong("momentum-of-keras", blend=old_value_gets_momentum).hint(
        en="You weight the **old** value with `momentum`, as Keras does. In torch `momentum` is the weight of the new "
        "one.",
        zh="你把 `momentum` 当作**旧**值的权重，那是 Keras 的约定。在 torch 里，`momentum` 是新值的权重。",
    ),
    wrong(
        "default-of-keras",
        # 0.1 is a momentum that was left out: no case hands it in
        blend=lambda old, new, momentum: old_value_gets_momentum(old, new, 0.99 if momentum == 0.1 else momentum),
    ).hint(
        en="You follow Keras: `momentum` is the weight of the old value, 0.99 by default. In torch it is the weight of "
        "the new one, 0.1 by default.",
        zh="你用的是 Keras 的约定：`momentum` 是旧值的权重，默认为 0.99。在 torch 里，它是新值的权重，默认为 0.1。",
    ),
    wrong("momentum-ignored", blend=lambda old, new, momentum: new_value_gets_momentum(old, new, 0.1)).hint(
        en="Your function weights the new value with 0.1, whatever `momentum` it is given.",
        zh="不论传入的 `momentum` 是多少，你的函数总是给新值 0.1 的权重。",
    ),
)

START_MISTAKES = (
    wrong("last-batch-stored", blend=lambda old, new, momentum: new).hint(
        en="After this step your running statistics are those of the batch alone. They move only a little with each "
        "batch, with the first one too: by the share `momentum`.",
        zh="这一步之后，你的运行统计量就是这个小批量的统计量。"
        "每来一个小批量，它们只应移动一点，第一个也不例外：移动的比例是 `momentum`。",
    ),
    wrong(
        "first-batch-stored",
        blend=lambda old, new, momentum: new if at_the_start(old) else new_value_gets_momentum(old, new, momentum),
    ).hint(
        en="As long as the running statistics are 0 and 1, you put the batch's in their place. torch starts from 0 and "
        "1 as from any other values, and moves by the share `momentum` with the first batch, too.",
        zh="运行统计量还是 0 和 1 时，你直接换成了小批量的统计量。"
        "torch 把 0 和 1 当作普通的起点：第一个小批量也只移动 `momentum` 那么大的比例。",
    ),
)

EPS_OF_KERAS = wrong("eps-default-of-keras", small=lambda eps: 1e-3 if eps == 1e-5 else eps).hint(
    en="Your default for `eps` is 0.001, as in Keras. In torch it is 1e-5.",
    zh="你的 `eps` 默认值是 0.001，与 Keras 相同。torch 的默认值是 1e-5。",
)
MEAN_NOT_SUBTRACTED = wrong("mean-not-subtracted", subtract=lambda x, mean: x).hint(
    en="The mean is not subtracted above the fraction line, so your channels do not have mean 0.",
    zh="分子没有减去均值，所以各个通道的均值不是 0。",
)


def in_training_on(x: Tensor, **others: object) -> dict[str, object]:
    """Arguments of a first training step; without weight and bias, unless the others hold them."""
    C = x.shape[1]
    start = {"running_mean": torch.zeros(C), "running_var": torch.ones(C), "weight": None, "bias": None}
    return {"x": x, **start, "training": True} | others


ALL_ON_THE_LAST_AXIS = wrong(
    "all-on-the-last-axis", lay_batch=Tensor.squeeze, lay_running=not_reshaped, lay_affine=not_reshaped
).hint(
    en="Right for `(N, C)`. With more axes your vectors of C numbers land on the last axis, but the channels are axis "
    "1: view them as `(1, C, 1, …)` first.",
    zh="在 `(N, C)` 上是对的。"
    "轴再多时，含 C 个数的那些向量会对准最后一个轴，而通道是轴 1：要先把它们变形为 `(1, C, 1, …)`。",
    shown_on="square",
)

AFFINE = {"weight": torch.tensor([2.0, -1, 3]), "bias": torch.tensor([0.5, 10, -4])}
RUNNING = {"running_mean": waves(3), "running_var": waves(3).exp()}
EVAL = {"x": waves(2, 3, 4), **RUNNING}
COLUMN = torch.tensor([[1.0], [2], [3], [6]])

CASES = (
    Case("rows", in_training_on(torch.tensor([[1.0, 10], [2, 30], [3, 20], [6, 60]]))),
    Case("tiny", in_training_on(1e-3 * COLUMN)),
    Case("constant", in_training_on(torch.tensor([[2.0], [2], [2]]))),
    Case("weighted", in_training_on(torch.tensor([[1.0, 3, 5], [2, 9, 4], [6, 7, 8]]), **AFFINE)),
    Case(
        "other momentum",
        in_training_on(COLUMN, running_mean=torch.tensor([5.0]), running_var=torch.tensor([2.0]), momentum=0.25),
    ),
    Case("other eps", in_training_on(COLUMN, momentum=0.25, eps=3.0)),
    Case("tiny variance stored", in_training_on(1e-3 * COLUMN, running_var=torch.tensor([1e-6]), momentum=0.5)),
    Case(
        "eval",
        {
            "x": torch.tensor([[3.0, 12], [5, 20]]),
            "running_mean": torch.tensor([1.0, 8]),
            "running_var": torch.tensor([4.0, 16]),
        },
    ),
    Case(
        "sequence in eval",
        {
            "x": torch.tensor([[[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]]),
            "running_mean": torch.tensor([2.0, 5, 6]),
            "running_var": torch.tensor([1.0, 4, 9]),
            **AFFINE,
            "training": False,
        },
    ),
    Case("square", in_training_on(torch.tensor([[[1.0, 2], [4, 8]], [[3, 9], [5, 6]]]))),
    Case("sequences", in_training_on(waves(2, 3, 4), **AFFINE)),
    Case("pictures", in_training_on(waves(2, 3, 2, 3), **AFFINE)),
    Case(
        "pictures in eval",
        in_training_on(waves(2, 3, 4, 5), running_mean=waves(3), running_var=waves(3).exp(), **AFFINE)
        | {"training": False},
    ),
    Case("one sample", in_training_on(waves(1, 3, 4, 1), **AFFINE)),
    Case("one column", in_training_on(waves(4, 3, 1), **AFFINE)),
    Case("one row of pixels", in_training_on(waves(4, 1, 1, 3))),
    Case("cube", in_training_on(waves(3, 3, 3), **AFFINE)),
    Case("volumes", in_training_on(waves(2, 3, 2, 3, 4), **AFFINE)),
    Case("flat volumes", in_training_on(waves(2, 3, 2, 3, 1), **AFFINE)),
    Case("many samples in eval", EVAL | {"x": waves(40, 3)}),
    Case("weight of 0 in eval", EVAL | {"weight": torch.zeros(3)}),
    Case("outlier", in_training_on(with_outliers(2, 3, 401), **AFFINE)),
    Case("large", in_training_on(1e4 * waves(3, 2))),
    Case("no eps in eval", EVAL | {**AFFINE, "training": False, "momentum": 0.1, "eps": 0.0}),
    Case("one sample in eval", EVAL | {"x": waves(1, 3, start=1.0)}),
    Case("weight alone in eval", EVAL | {"weight": AFFINE["weight"]}),
    Case("bias alone in eval", EVAL | {"weight": None, "bias": AFFINE["bias"]}),
    Case(
        "no sample in eval",
        in_training_on(torch.zeros(0, 3, 2), **AFFINE) | {"training": False},
        advice=EMPTY_INPUT_ADVICE,
    ),
    Case("gradient", in_training_on(waves(3, 3, 2), **RUNNING, **AFFINE, momentum=0.25, eps=0.01), gradient=True),
    offset_case(lambda offset: in_training_on(COLUMN + offset)),
)

BY_HAND = Text(en="A moving average by hand", zh="动手算移动平均")
WITH_THE_BATCH = Text(en="Exercise, step 1: normalize with the batch", zh="练习，第 1 步：用小批量归一化")
THE_LAYER = Text(en="Exercise: the whole layer", zh="练习：写出完整的一层")
OTHER_CODE = Text(en="What other code does differently", zh="别的代码怎么写")
GOING_ON = "self.running_mean.copy_((1 - self.momentum) * self.running_mean + self.momentum * mean)"
NORMALIZING = "y = (x - mean) / (variance + eps).sqrt()"

BATCH_NORM = Exercise(
    name="batch_norm",
    recipe=recipe,
    kernel=normalization.batch_norm,
    module=attributes_as_arguments,
    cases=tuple(replace(case, changes=("running_mean", "running_var")) for case in CASES),
    mistakes=(
        *with_section(
            WITH_THE_BATCH,
            *AXES_MISTAKES,
            *REFUSED_MISTAKES,
            hint_line="axes = [axis for axis in range(x.dim()) if axis != 1]",
        ),
        *with_section(
            WITH_THE_BATCH,
            *exclusive(recipe, *KEPT_AXES_MISTAKES),
            hint_line="mean = x.mean(axes)  # without keepdim: (C,), as the buffers",
        ),
        *with_section(
            WITH_THE_BATCH,
            *LAYOUT_MISTAKES,
            ALL_ON_THE_LAST_AXIS,
            hint_line="mean.view(1, -1, *[1] * (x.dim() - 2))",
        ),
        *with_section(
            THE_LAYER, *MODE_MISTAKES, hint_line="mean = x.mean(axes) if self.training else self.running_mean"
        ),
        *with_section(THE_LAYER, *UPDATE_MISTAKES, hint_line=f"if self.training: {GOING_ON}"),
        *with_section(THE_LAYER, NEVER_UPDATED, *HALF_UPDATED, hint_line=GOING_ON),
        *with_section(THE_LAYER, *STORED_MISTAKES, hint_line="unbiased = x.var(axes, correction=1)"),
        *with_section(BY_HAND, *MOMENTUM_MISTAKES, hint_line=GOING_ON),
        *with_section(BY_HAND, *START_MISTAKES, hint_line=GOING_ON),
        *with_section(
            WITH_THE_BATCH,
            *select(SHARED_MISTAKES, "eps-outside-root", "eps-missing", "root-missing", "eps-argument-ignored"),
            MEAN_NOT_SUBTRACTED,
            DIVIDED_FIRST,
            hint_line=NORMALIZING,
        ),
        *with_section(OTHER_CODE, EPS_OF_KERAS, hint_line="eps: float = 1e-5"),
        *with_section(
            WITH_THE_BATCH,
            *select(SHARED_MISTAKES, "unbiased-variance"),
            hint_line="biased = x.var(axes, correction=0)",
        ),
        *with_section(THE_LAYER, *select(SHARED_MISTAKES, "statistics-detached"), hint_line="mean = x.mean(axes)"),
        *with_section(
            WITH_THE_BATCH,
            *select(SHARED_MISTAKES, "weight-ignored", "bias-ignored", "weight-and-bias-ignored"),
            *exclusive(recipe, *select(SHARED_MISTAKES, "weight-and-bias-swapped")),
            hint_line="y = y * weight.view(shape) + bias.view(shape)",
        ),
    ),
    exempt={"eps of 0": "torch refuses it in training", "empty": "torch refuses it in training"},
    scaled_inputs=lambda n: in_training_on(waves(4, n, n)),
    section=THE_LAYER,
    panel=Text(
        en="set the momentum to 0.1 and see what eval() makes of new data after 10 and after 44 steps.",
        zh="把动量调到 0.1，看看 10 步和 44 步之后评估模式的输出。",
    ),
    hint_line=NORMALIZING,
)
