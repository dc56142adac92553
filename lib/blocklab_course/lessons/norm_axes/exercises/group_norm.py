"""Known mistakes of `group_norm`."""

from collections.abc import Callable

import torch
from torch import Tensor

from blocklab import normalization
from blocklab._validation import check_axes
from blocklab_course.checks.case import Case, waves, with_outliers
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, passthrough, with_section, wrong
from blocklab_course.checks.modules import attributes_as_arguments
from blocklab_course.checks.recipes.normalizing import (
    AFFINE_ON_THE_LAST_AXIS,
    EPS_MISTAKES,
    RESCALE_MISTAKES,
    SHARED_MISTAKES,
    along_channels,
    divide,
    mean,
    not_reshaped,
    offset_case,
    rescale,
    select,
    variance,
)
from blocklab_course.i18n import Text

from .by_axes import FORMULA

AN_AXIS_CUT = Text(en="Going further: an axis cut in two", zh="选读：把一个轴拆成两个")
GAMMA_AND_BETA = Text(en="Going further: what γ and β can undo", zh="选读：γ 和 β 能抵消什么")


def neighbours(x: Tensor, num_groups: int) -> Tensor:
    """(N, C, *) as (N, G, C/G, *): a group is channels that lie side by side."""
    return x.unflatten(1, (num_groups, -1))


def every_other(x: Tensor, num_groups: int) -> Tensor:
    """(N, C, *) as (N, G, C/G, *): channel c belongs to group c % G."""
    return x.unflatten(1, (-1, num_groups)).transpose(1, 2)


def side_by_side(grouped: Tensor, x: Tensor) -> Tensor:
    return grouped.reshape(x.shape)


def one_of_each(grouped: Tensor, x: Tensor) -> Tensor:
    """Undo `every_other`."""
    return grouped.transpose(1, 2).reshape(x.shape)


def inside_the_group(grouped: Tensor) -> list[int]:
    return list(range(2, grouped.dim()))


def recipe(
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    *,
    split: Callable = neighbours,
    axes: Callable = inside_the_group,
    centre: Callable = mean,
    spread: Callable = variance,
    small: Callable = passthrough,
    divide: Callable = divide,
    join: Callable = side_by_side,
    lay_affine: Callable = along_channels,
    rescale: Callable = rescale,
) -> Tensor:
    grouped = split(x, num_groups)
    over = axes(grouped)
    y = divide(grouped - centre(grouped, over), spread(grouped, over), small(eps))
    return rescale(join(y, x), lay_affine(weight, x), lay_affine(bias, x))


GROUP_MISTAKES = (
    wrong("every-other-channel", split=every_other, join=one_of_each).hint(
        en="Your groups take every G-th channel. A group is channels side by side: with 4 channels and 2 groups, the "
        "first two and the last two.",
        zh="你的每个组是每 G 个通道取一个。一个组应当由相邻的通道组成：4 个通道分成 2 组时，前两个一组，后两个一组。",
    ),
    wrong("number-for-size", split=lambda x, num_groups: x.unflatten(1, (-1, num_groups))).hint(
        en="You read `num_groups` as the number of channels in a group. It is the number of groups; each has `C // "
        "num_groups` channels.",
        zh="你把 `num_groups` 当成了每组的通道数，它其实是组数：每组有 `C // num_groups` 个通道。",
    ),
    wrong("groups-ignored", split=lambda x, num_groups: x.unsqueeze(1)).hint(
        en="`num_groups` has no effect: all the channels of a sample share one mean, as with LayerNorm. Each group has "
        "a mean of its own.",
        zh="`num_groups` 没有起作用：一个样本的所有通道共用一个均值，就像层归一化。每个组应当各有一个均值。",
    ),
    wrong("batch-forgotten-in-the-view", split=lambda x, num_groups: x.reshape(1, num_groups, -1)).hint(
        en="You cut the whole tensor into `num_groups` pieces, and forget the batch axis: a piece may be a whole "
        "sample. Every sample has groups of its own, so N comes first in the view.",
        zh="你把整个张量切成了 `num_groups` 块，忘了批量轴：一块可能就是一整个样本。"
        "每个样本都有自己的组，所以变形之后，最前面仍应是 N。",
    ),
    wrong(
        "groups-of-the-last-axis",
        split=lambda x, num_groups: x.unflatten(-1, (num_groups, -1)),
        axes=lambda grouped: [-1],
        lay_affine=not_reshaped,
    ).hint(
        en="You cut the last axis into groups. The channels are axis 1; only in `(N, C)` are the two the same.",
        zh="你把最后一个轴分成了组。应当分的是通道，也就是轴 1；只有形状为 `(N, C)` 时，两者才是同一个轴。",
    ),
)

AXES_MISTAKES = (
    wrong("channels-not-pooled", axes=lambda grouped: list(range(3, grouped.dim()))).hint(
        en="You average over the positions only, so each channel has its own mean, as with InstanceNorm. The channels "
        "of a group share one: average over them too.",
        zh="你只沿位置轴求了均值，于是每个通道各有一个均值，那是实例归一化的做法。"
        "同一组的通道应当共用一个均值：还要沿组内的通道轴求。",
        shown_on="sequences",
    ),
    wrong("positions-of-pictures-only", axes=lambda grouped: [3, 4]).hint(
        en="You average over height and width: that is InstanceNorm, and it fits `(N, C, H, W)` only. A group has "
        "channels too, and x may have fewer axes or more.",
        zh="你沿高和宽求了均值，那是实例归一化，而且只适合 `(N, C, H, W)`。"
        "一个组还包含好几个通道，x 的轴也可能更少或更多。",
        shown_on="pictures",
    ),
    wrong("positions-not-pooled", axes=lambda grouped: [2]).hint(
        en="You average over the channels of a group at each position by itself. All the positions of a sample belong "
        "to the group: average over them too.",
        zh="你在每个位置上分别沿组内的通道轴求均值。一个样本的所有位置都属于同一组：还要沿位置轴求。",
    ),
    wrong("over-the-batch-too", axes=lambda grouped: [0, *range(2, grouped.dim())]).hint(
        en="Your mean runs over the batch axis too, so the samples influence each other. GroupNorm looks at one sample "
        "at a time.",
        zh="你求均值时还沿了批量轴，于是样本之间互相影响。组归一化每次只看一个样本。",
    ),
    wrong("over-the-groups", axes=lambda grouped: [1]).hint(
        en="After the view, axis 1 counts the groups, and you average over it. Keep it, and average over the axes "
        "after it.",
        zh="变形之后，轴 1 是组的编号，而你沿它求了均值。这个轴要保留；应当沿它后面的轴求均值。",
    ),
    wrong("over-everything", axes=lambda grouped: list(range(grouped.dim()))).hint(
        en="You average over the whole tensor, groups and samples alike. Say along which axes: those inside a group.",
        zh="你对整个张量求了均值，不分组，也不分样本。请写明沿哪些轴：只沿组内的轴。",
        shown_on="two samples",
    ),
    wrong("pictures-only", axes=lambda grouped: [2, 3, 4]).hint(
        en="Your axes are right for `(N, C, H, W)` only. Take all the axes after the groups, however many x has.",
        zh="你写的这些轴只适合 `(N, C, H, W)`。不论 x 有多少个轴，都应当取组的轴之后的所有轴。",
    ),
)


def for_pictures(grouped: Tensor) -> tuple[int, ...]:
    """As `standardize` takes them, which refuses axes that are not there in words of its own."""
    return check_axes("standardize", grouped, (2, 3, 4))


def of_a_picture(x: Tensor, num_groups: int) -> Tensor:
    n, c, h, w = x.shape
    return x.view(n, num_groups, c // num_groups, h, w)


PICTURES_ONLY = (
    wrong("standardize-for-pictures-only", axes=for_pictures).hint(
        en="You name the axes 2, 3 and 4, which only `(N, C, H, W)` has after the cut. x may have any number of axes "
        "behind the channels: count those of the cut tensor with `dim()`, and name all from 2 on.",
        zh="你写的是轴 2、3、4，而拆开之后，只有 `(N, C, H, W)` 才有这些轴。"
        "x 的通道后面可以有任意多个轴：请用 `dim()` 数一数拆开后的张量有几个轴，从轴 2 起都写上。",
    ),
    wrong("four-axes-unpacked", split=of_a_picture).hint(
        en="`N, C, H, W = x.shape` fits four axes only, and x may have any number behind the channels. `unflatten` "
        "cuts axis 1 and leaves the others, however many there are.",
        zh="`N, C, H, W = x.shape` 只适合四个轴，而 x 的通道后面可以有任意多个轴。"
        "`unflatten` 只拆轴 1，其余的轴不论有几个，都原样留着。",
    ),
)

AFFINE_FOR_PICTURES = wrong(
    "affine-for-pictures-only", lay_affine=lambda vector, x: None if vector is None else vector.view(-1, 1, 1)
).hint(
    en="`(C, 1, 1)` fits two axes behind the channels only. Give the view as many ones as there are axes behind "
    "axis 1.",
    zh="`(C, 1, 1)` 只适合通道后面恰有两个轴的情形。轴 1 后面有几个轴，变形时就要补上几个。",
)
AFFINE_OF_NONE = wrong("none-viewed", lay_affine=lambda vector, x: vector.view(-1, *[1] * (x.dim() - 2))).hint(
    en="`weight` and `bias` may be left out, and then they are `None`, which has no `view`. Ask `is not None` first.",
    zh="`weight` 和 `bias` 可以不给，那时它们是 `None`，没有 `view`。请先判断 `is not None`。",
)

AFFINE = {"weight": torch.tensor([2.0, -1, 3, 1]), "bias": torch.tensor([0.5, 10, -4, 1])}

GROUP_NORM = Exercise(
    name="group_norm",
    recipe=recipe,
    kernel=normalization.group_norm,
    module=attributes_as_arguments,
    cases=(
        Case("rows", {"x": torch.tensor([[1.0, 3, 10, 40]]), "num_groups": 2}),
        Case("two samples", {"x": torch.tensor([[1.0, 3, 10, 40], [5, 6, 20, 70]]), "num_groups": 2}),
        Case("six channels", {"x": torch.tensor([[1.0, 3, 10, 40, 20, 90]]), "num_groups": 2}),
        Case("sequences", {"x": torch.tensor([[[1.0, 2], [4, 8], [10, 60], [30, 20]]]), "num_groups": 2}),
        Case("tiny", {"x": 1e-3 * torch.tensor([[1.0, 2, 3, 4]]), "num_groups": 2}),
        Case("constant", {"x": torch.tensor([[2.0, 2, 1, 3]]), "num_groups": 2}),
        Case("weighted", {"x": torch.tensor([[1.0, 3, 10, 40]]), "num_groups": 2, **AFFINE}),
        Case("other eps", {"x": torch.tensor([[1.0, 3, 6, 8]]), "num_groups": 2, **AFFINE, "eps": 3.0}),
        Case("weight of 0", {"x": waves(2, 4), "num_groups": 2, "weight": torch.zeros(4)}),
        Case("square", {"x": waves(1, 4, 4), "num_groups": 2, **AFFINE}),
        Case("one group", {"x": waves(2, 4, 3), "num_groups": 1, **AFFINE}),
        Case("pictures", {"x": waves(3, 4, 2, 5), "num_groups": 2, **AFFINE}),
        Case("one channel", {"x": waves(2, 1, 5), "num_groups": 1}),
        Case("a group for each channel", {"x": waves(2, 4, 3), "num_groups": 4, **AFFINE}),
        Case("one position", {"x": waves(2, 4, 1, 1), "num_groups": 2, **AFFINE}),
        Case("groups of three", {"x": waves(2, 6, 2), "num_groups": 2}),
        Case("three groups", {"x": waves(2, 6, 2), "num_groups": 3}),
        Case("cube", {"x": waves(4, 4, 4), "num_groups": 2, **AFFINE}),
        Case("outlier", {"x": with_outliers(2, 4, 401), "num_groups": 2, **AFFINE}),
        Case("large", {"x": 1e4 * waves(2, 4), "num_groups": 2}),
        Case("gradient", {"x": waves(2, 4, 3), "num_groups": 2, **AFFINE, "eps": 0.01}, gradient=True),
        offset_case(lambda offset: {"x": torch.tensor([[1.0, 2, 3, 4]]) + offset, "num_groups": 1}),
    ),
    mistakes=(
        *GROUP_MISTAKES,
        *with_section(
            AN_AXIS_CUT,
            *AXES_MISTAKES,
            *exclusive(recipe, *PICTURES_ONLY),
            hint_line="y = standardize(grouped, tuple(range(2, grouped.dim())), eps)",
        ),
        *with_section(
            GAMMA_AND_BETA,
            AFFINE_ON_THE_LAST_AXIS,
            AFFINE_FOR_PICTURES,
            hint_line="per_channel = (-1, *[1] * (x.dim() - 2))",
        ),
        *with_section(
            GAMMA_AND_BETA,
            *exclusive(recipe, AFFINE_OF_NONE),
            hint_line="y = y if weight is None else y * weight.view(per_channel)",
        ),
        *with_section(
            GAMMA_AND_BETA, *RESCALE_MISTAKES, hint_line="y = y * weight.view(per_channel) + bias.view(per_channel)"
        ),
        *with_section(FORMULA, *EPS_MISTAKES, hint_line="y = (grouped - mean) / (variance + eps).sqrt()"),
        *with_section(
            FORMULA,
            *select(SHARED_MISTAKES, "unbiased-variance", "mean-square-for-variance"),
            hint_line="variance = (grouped - mean).square().mean(axes, keepdim=True)",
        ),
        *with_section(
            FORMULA,
            *select(SHARED_MISTAKES, "mean-not-subtracted", "statistics-detached"),
            hint_line="mean = grouped.mean(axes, keepdim=True)",
        ),
    ),
    scaled_inputs=lambda n: {"x": waves(n, 2 * (n or 1), 3), "num_groups": n or 1},
    section=AN_AXIS_CUT,
    panel=Text(
        en="choose GroupNorm, push one number, and see which channels rise together.",
        zh="选组归一化，推一个数，看看哪些通道一起升起来。",
    ),
    hint_line="grouped = x.unflatten(1, (num_groups, -1))  # (N, G, C/G, *)",
)
