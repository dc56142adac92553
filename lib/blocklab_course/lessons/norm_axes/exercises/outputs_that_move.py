"""Known mistakes of `outputs_that_move`: of 108 outputs, how many move in each of five layers."""

from collections.abc import Callable, Sequence

import torch

from blocklab_course.checks.case import Case
from blocklab_course.checks.exercise import Exercise, to_number
from blocklab_course.checks.mistake import with_section, wrong
from blocklab_course.i18n import Text

from .by_axes import POKE, POKE_PANEL

FIVE_LAYERS = Text(en="Five layers", zh="五种层")
LAYERS = (
    Text(en="BatchNorm", zh="批量归一化"),
    Text(en="LayerNorm", zh="层归一化"),
    Text(en="InstanceNorm", zh="实例归一化"),
    Text(en="GroupNorm", zh="组归一化"),
    Text(en="LayerNorm per position", zh="逐位置的层归一化"),
)
N, C, H, W = 3, 4, 3, 3
FIVE = Text(en="five numbers, `(…, …, …, …, …)`", zh="五个数，写成 `(…, …, …, …, …)`")


def recipe(
    *,
    batch: int = N * H * W,
    sample: int = C * H * W,
    plate: int = H * W,
    group: int = C // 2 * H * W,
    position: int = C,
) -> tuple[int, ...]:
    return batch, sample, plate, group, position


def by_layer(counts: Sequence[float]) -> Callable[[Text], torch.Tensor]:
    """The table as a function from a layer to its count."""
    counts = [to_number(count) for count in counts]
    if len(counts) != len(LAYERS):
        raise ValueError(f"wants {len(LAYERS)} counts, got {len(counts)}")
    return lambda layer: torch.tensor(counts[LAYERS.index(layer)])


BATCH_NORM_MISTAKES = (
    wrong("batch-norm-in-one-sample", batch=H * W).hint(
        en="BatchNorm: you counted the grid of one sample. Its mean runs over `N` too, so the same channel of the "
        "other samples changes with it.",
        zh="批量归一化：你只数了一个样本里的那张特征图。求均值还沿着 `N`，所以其他样本的同一通道也会变。",
    ),
    wrong("batch-norm-in-two-samples", batch=2 * H * W).hint(
        en="BatchNorm: that was the number with two samples. Now there are three, and its mean runs over all of them.",
        zh="批量归一化：这是两个样本时的个数。现在有三个样本，求均值要沿着所有样本。",
    ),
    wrong("batch-norm-in-one-pixel", batch=N).hint(
        en="BatchNorm: you counted the same pixel in every sample. Its mean runs over the whole grid, too.",
        zh="批量归一化：你只数了各个样本里的同一个像素。求均值还要沿着整张特征图。",
    ),
    wrong("batch-norm-in-all-channels", batch=N * C * H * W).hint(
        en="BatchNorm: you counted all the channels. `C` is not among its axes: each channel has a mean of its own.",
        zh="批量归一化：你把所有通道都数了。它的轴里没有 `C`：每个通道各有一个均值。",
    ),
    wrong("batch-norm-as-layer-norm", batch=C * H * W).hint(
        en="BatchNorm: you counted the whole sample, which is LayerNorm's group. BatchNorm leaves out `C` and takes in "
        "`N`.",
        zh="批量归一化：你数的是整个样本，那是层归一化的组。批量归一化不沿 `C`，而沿 `N`。",
    ),
)

SAMPLE_MISTAKES = (
    wrong("layer-norm-in-all-samples", sample=N * C * H * W).hint(
        en="LayerNorm over `(C, H, W)`: you counted all the samples. `N` is not among its axes: each one has a mean of "
        "its own.",
        zh="沿 `(C, H, W)` 的层归一化：你把所有样本都数了。它的轴里没有 `N`：每个样本各有一个均值。",
    ),
    wrong("layer-norm-in-one-plate", sample=H * W).hint(
        en="LayerNorm over `(C, H, W)`: you counted one grid. `C` is among its axes, so the other channels change too.",
        zh="沿 `(C, H, W)` 的层归一化：你只数了一张特征图。它的轴里有 `C`，所以其他通道也会变。",
    ),
    wrong("layer-norm-as-per-position", sample=C).hint(
        en="LayerNorm over `(C, H, W)`: that is the number of LayerNorm per position. Here `H` and `W` are among the "
        "axes, too.",
        zh="沿 `(C, H, W)` 的层归一化：这是逐位置的层归一化的个数。这里的轴里还有 `H` 和 `W`。",
    ),
    wrong("layer-norm-as-batch-norm", sample=N * H * W).hint(
        en="LayerNorm over `(C, H, W)`: that is BatchNorm's number. LayerNorm takes in `C` and leaves out `N`.",
        zh="沿 `(C, H, W)` 的层归一化：这是批量归一化的个数。层归一化沿 `C`，而不沿 `N`。",
    ),
)

PLATE_MISTAKES = (
    wrong("instance-norm-in-all-samples", plate=N * H * W).hint(
        en="InstanceNorm: you counted the channel in every sample. `N` is not among its axes: each grid has a mean of "
        "its own.",
        zh="实例归一化：你把每个样本里的这个通道都数了。它的轴里没有 `N`：每一张特征图各算各的均值。",
    ),
    wrong("instance-norm-in-all-channels", plate=C * H * W).hint(
        en="InstanceNorm: you counted the whole sample. `C` is not among its axes: each grid has a mean of its own.",
        zh="实例归一化：你数的是整个样本。它的轴里没有 `C`：每一张特征图各算各的均值。",
    ),
)

GROUP_MISTAKES = (
    wrong("group-norm-in-all-channels", group=C * H * W).hint(
        en="GroupNorm: you counted the whole sample. With 2 groups only half of its channels share a mean.",
        zh="组归一化：你数的是一整个样本。分 2 组时，共用一个均值的只有其中一半通道。",
    ),
    wrong("group-norm-in-all-samples", group=N * C // 2 * H * W).hint(
        en="GroupNorm: you counted the group in every sample. `N` is not among its axes: each sample has means of its "
        "own.",
        zh="组归一化：你把每个样本里的这一组都数了。它的轴里没有 `N`：每个样本各有自己的均值。",
    ),
    wrong("group-norm-in-one-plate", group=H * W).hint(
        en="GroupNorm: you counted one grid. A group holds 4 / 2 = 2 channels, and both change.",
        zh="组归一化：你只数了一张特征图。每组有 4 / 2 = 2 个通道，两个都会变。",
    ),
    wrong("group-norm-channels-alone", group=C // 2).hint(
        en="GroupNorm: a group has 2 channels, but each is a grid of 9 numbers.",
        zh="组归一化：每组有 2 个通道没错，但每个通道是一张有 9 个数的特征图。",
    ),
    wrong("group-norm-in-the-whole-tensor", group=N * C * H * W).hint(
        en="GroupNorm: you counted the whole tensor. No other sample has the same mean, nor has the other group.",
        zh="组归一化：你数的是整个张量。别的样本、另一组用的都是别的均值。",
    ),
)

POSITION_MISTAKES = (
    wrong("per-position-in-all-samples", position=N * C).hint(
        en="LayerNorm per position: you counted all the samples. `C` is its only axis.",
        zh="逐位置的层归一化：你把所有样本都数了。它的轴只有 `C`。",
    ),
    wrong("per-position-in-one-channel", position=1).hint(
        en="LayerNorm per position: a position has 4 channels, and they share one mean, so all of them change.",
        zh="逐位置的层归一化：一个位置有 4 个通道，它们共用一个均值，所以全都会变。",
    ),
    wrong("per-position-in-all-positions", position=C * H * W).hint(
        en="LayerNorm per position: you counted the positions too. `H` and `W` are not among its axes: each position "
        "has a mean of its own.",
        zh="逐位置的层归一化：你把所有位置都数了。它的轴里没有 `H` 和 `W`：每个位置各有一个均值。",
    ),
)

SAMPLES_EVERYWHERE = wrong(
    "all-samples-everywhere", sample=N * C * H * W, plate=N * H * W, group=N * C // 2 * H * W, position=N * C
).hint(
    en="You counted all the samples in every row. `N` is among the axes of BatchNorm alone: in the others each "
    "sample has means of its own.",
    zh="每一行你都把所有样本数了进去。只有批量归一化的轴里有 `N`；在其他几种层里，每个样本各有自己的均值。",
)

WHOLE_TABLE = (
    wrong("pushed-one-not-counted", **{step: count - 1 for step, count in recipe.__kwdefaults__.items()}).hint(
        en="Each of your numbers is one too small: the output of the pushed number changes as well.",
        zh="你的每个数都少了一：你推的那个数，自己的输出也会变。",
    ),
    wrong("pushed-one-alone", batch=1, sample=1, plate=1, group=1, position=1).hint(
        en="Not only the output of the pushed number changes. Its mean does, and with it every output that this mean "
        "is subtracted from.",
        zh="改变的不只是你推的那个数。它的均值变了，凡是要减去这个均值的输出都会变。",
    ),
)

MEANS = {"batch": C, "sample": N, "plate": N * C, "group": N * 2, "position": N * H * W}
MEANS_COUNTED = (
    wrong("means-counted", **MEANS).hint(
        en="You counted the means that each layer has. Count the numbers that share *one* mean, that of the pushed "
        "number.",
        zh="你数的是每种层有多少个均值。要数的是，有多少个数与你推的那个数共用**一个**均值。",
    ),
    *(
        wrong(f"{layer.en.lower().replace(' ', '-')}-means-counted", **{step: count}).hint(
            en=f"{layer.en}: there are {count} means. Count the numbers that share the one of the pushed number.",
            zh=f"{layer.zh}：{count} 是均值的个数。要数的是，有多少个数与你推的那个数共用一个均值。",
        )
        for layer, (step, count) in zip(LAYERS, MEANS.items(), strict=True)
    ),
)

OUTPUTS_THAT_MOVE = Exercise(
    name="outputs_that_move",
    recipe=recipe,
    evaluate=by_layer,
    expects=FIVE,
    names={"result": Text(en="outputs that change", zh="改变的输出")},
    cases=tuple(Case(layer.en, {"layer": layer}) for layer in LAYERS),
    expected_from=3,
    mistakes=(
        *with_section(FIVE_LAYERS, *BATCH_NORM_MISTAKES, hint_line="batch_norm = N * H * W"),
        *with_section(FIVE_LAYERS, *SAMPLE_MISTAKES, hint_line="layer_norm = C * H * W"),
        *with_section(FIVE_LAYERS, *PLATE_MISTAKES, hint_line="instance_norm = H * W"),
        *with_section(FIVE_LAYERS, *GROUP_MISTAKES, hint_line="group_norm = (C // 2) * H * W"),
        *with_section(FIVE_LAYERS, *POSITION_MISTAKES, hint_line="per_position = C"),
        *with_section(FIVE_LAYERS, SAMPLES_EVERYWHERE),
        *WHOLE_TABLE,
        *with_section(POKE, *MEANS_COUNTED),
    ),
    section=POKE,
    panel=POKE_PANEL,
    hint_line="batch_norm = N * H * W",
)
