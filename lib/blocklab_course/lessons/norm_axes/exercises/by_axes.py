"""Exercises whose answer is a choice of axes, or one line over `standardize`."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from blocklab._validation import check_axes
from blocklab.normalization import layer_norm, standardize
from blocklab_course.checks.case import Case, waves, with_outliers
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import wrong
from blocklab_course.checks.recipes.axes import CUBE_CASES, NO_BATCH_CASES, SIZE_ONE_CASES, compare_by_means, last_axes
from blocklab_course.i18n import Text

POKE = Text(en="Poke one number", zh="推一推：只改一个数")
MISSING_AXIS = Text(en="Going further: the missing axis", zh="选读：少了一个轴")
FORMULA = Text(en="The formula", zh="公式")
ANY_AXES = Text(en="Going further: any layout, any axes", zh="选读：任意布局，任意几个轴")
LAST_AXES = Text(en="The last axes", zh="最后几个轴")
LAYOUT_TRAP = Text(en="The layout trap", zh="布局陷阱")


POKE_PANEL = Text(
    en="choose the layer, push one number, and look along which axes the raised blocks lie.",
    zh="选好层，推一个数，看看升起的方块沿哪些轴排列。",
)


AXES = Text(
    en="one of the axes 0 and 1 of `x`, or a tuple of them, each at most once",
    zh=" `x` 的轴 0、1 中的一个，或由它们组成的元组，每个最多写一次",
)

ONE_MEAN_AXES = Exercise(
    name="one_mean_axes",
    recipe=lambda: (0, 1),
    evaluate=compare_by_means(check_axes),
    expects=AXES,
    names={"result": Text(en="mean", zh="均值")},
    cases=(Case("rows", {"x": torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40]])}),),
    mistakes=(
        wrong("batch-axis-only", answer=(0,)).hint(
            en="Axis 0 alone makes one mean per column, four in all. Name every axis that is to disappear.",
            zh="只写轴 0，每一列各有一个均值，共四个。要让哪些轴消失，就把它们都写上。",
        ),
        wrong("feature-axis-only", answer=(1,)).hint(
            en="Axis 1 alone makes one mean per row, two in all. Name every axis that is to disappear.",
            zh="只写轴 1，每一行各有一个均值，共两个。要让哪些轴消失，就把它们都写上。",
        ),
    ),
    section=ANY_AXES,
    hint_line="x.mean(my_axes).shape == ()",
)


def over(x: Tensor, *, axes: Sequence[int] = (0, 2, 3)) -> Tensor:
    return standardize(x, axes)


def with_unbiased_variance(x: Tensor) -> Tensor:
    axes = (0, 2, 3)
    return (x - x.mean(axes, keepdim=True)) / (x.var(axes, keepdim=True) + 1e-5).sqrt()


def with_unbiased_deviation(x: Tensor) -> Tensor:
    axes = (0, 2, 3)
    return (x - x.mean(axes, keepdim=True)) / x.std(axes, keepdim=True)


def without_keepdim(x: Tensor) -> Tensor:
    axes = (0, 2, 3)
    return (x - x.mean(axes)) / (x.var(axes, correction=0) + 1e-5).sqrt()


BATCH_NORM_MISTAKES = (
    wrong("unbiased-variance", with_unbiased_variance).hint(
        en="Your results are a little too small: `x.var()` divides by the count minus 1. Write `correction=0`, or let "
        "`standardize` do it.",
        zh="你的结果偏小一点：`x.var()` 除以个数减 1。请写 `correction=0`，或者直接用 `standardize`。",
        section=FORMULA,
        hint_line="(x - mean) / (variance + eps).sqrt()",
    ),
    wrong("unbiased-deviation-without-eps", with_unbiased_deviation).hint(
        en="Two slips: `x.std()` divides by the count minus 1, and ε is missing, so that a constant channel is 0 "
        "divided by 0. `standardize` does both right.",
        zh="有两处不对：`x.std()` 除以个数减 1；又漏了 ε，一个通道里的数都相等时，就成了 0 除以 0。"
        "用 `standardize`，两处都不会错。",
        section=FORMULA,
        hint_line="(x - mean) / (variance + eps).sqrt()",
    ),
    wrong("without-keepdim", without_keepdim).hint(
        en="Your mean has the shape `(C,)` and is subtracted along the last axis, if it fits at all. Keep the averaged "
        "axes with `keepdim=True`, or let `standardize` do it.",
        zh="你的均值形状是 `(C,)`，相减时对到了最后一个轴上，甚至根本对不上。"
        "请用 `keepdim=True` 保留求过均值的轴，或者直接用 `standardize`。",
        shown_on="images",
        section=MISSING_AXIS,
        hint_line="mean = x.mean((0, 2, 3), keepdim=True)  # (1, C, 1, 1)",
    ),
    wrong("evaluation-mode", lambda x: x / (1 + 1e-5) ** 0.5).hint(  # running statistics of 0 and 1
        en="Nothing is normalized: with running statistics of 0 and 1, evaluation mode only divides by √(1 + ε). Use "
        "the mean and the variance of the batch itself, as in training.",
        zh="你没有真正做归一化：运行统计量为 0 和 1 时，评估模式只是除以 √(1 + ε)。"
        "请用这个小批量自己的均值和方差，像训练时那样。",
        shown_on="images",
        section=FORMULA,
        hint_line="y = (x - mean) / (variance + eps).sqrt()",
    ),
    wrong("eps-of-keras", lambda x: standardize(x, (0, 2, 3), eps=1e-3)).hint(
        en="Your ε is 0.001, as in Keras. Here it is 1e-5, the default of `standardize`.",
        zh="你的 ε 是 0.001，与 Keras 相同。这里应当是 1e-5，即 `standardize` 的默认值。",
        section=FORMULA,
        hint_line="y = standardize(x, (0, 2, 3))",
    ),
    # The same until a float64 comes, where it stops.
    wrong("module-in-evaluation-mode", lambda x: nn.BatchNorm2d(x.shape[1], device=x.device).eval()(x)).hint(
        en="Nothing is normalized: torch's BatchNorm in evaluation mode takes its running statistics, still 0 "
        "and 1. Use the mean and the variance of the batch itself, as in training.",
        zh="你没有真正做归一化：torch 的批量归一化在评估模式下用的是运行统计量，而它们还是 0 和 1。"
        "请用这个小批量自己的均值和方差，像训练时那样。",
        shown_on="images",
        section=FORMULA,
        hint_line="y = (x - mean) / (variance + eps).sqrt()",
    ),
    wrong("module-in-float32", lambda x: nn.BatchNorm2d(x.shape[1], device=x.device)(x)).hint(
        en="`nn.BatchNorm2d` makes a γ and a β of its own, in float32, and so it stops at an input in float64. Use "
        "`standardize`, which has neither.",
        zh="`nn.BatchNorm2d` 会自己创建 float32 的 γ 和 β，输入是 float64 时就会报错。"
        "请用 `standardize`，它没有这两个参数。",
        section=FORMULA,
        hint_line="y = standardize(x, (0, 2, 3))",
    ),
    wrong("batch-axis-only", axes=(0,)).hint(
        en="You average over the batch only, so every pixel has a mean of its own. BatchNorm keeps one mean per "
        "channel: it averages over height and width, too.",
        zh="你只沿批量轴求了均值，于是每个像素各有一个均值。批量归一化每个通道只有一个均值：高和宽也要一起算。",
        shown_on="images",
    ),
    wrong("instance-norm", axes=(2, 3)).hint(
        en="This is InstanceNorm: one mean per sample and channel. BatchNorm averages over the batch, too.",
        zh="这是实例归一化：每个样本的每个通道各有一个均值。批量归一化还要把所有样本合在一起算。",
        shown_on="images",
    ),
    wrong("layer-norm", axes=(1, 2, 3)).hint(
        en="This is LayerNorm: one mean per sample. BatchNorm keeps one per channel, over all samples.",
        zh="这是层归一化：每个样本一个均值。批量归一化是每个通道一个均值，所有样本合在一起算。",
        shown_on="images",
    ),
    wrong("channel-axis", axes=(1,)).hint(
        en="You average over the channels, the one axis that must stay: C means have to be left.",
        zh="你沿通道轴求了均值，可是唯独这个轴要保留：最后应当剩下 C 个均值。",
        shown_on="images",
    ),
    wrong("every-axis", axes=(0, 1, 2, 3)).hint(
        en="One mean for all numbers. The channels keep theirs apart: leave axis 1 out.",
        zh="所有的数共用了一个均值。各个通道的均值要分开：不要写轴 1。",
        shown_on="images",
    ),
    wrong("channels-last", axes=(0, 1, 2)).hint(
        en="You keep the last axis, as if the layout were `(N, H, W, C)`. Here the channels are axis 1.",
        zh="你保留的是最后一个轴，那是 `(N, H, W, C)` 布局的做法。这里的通道是轴 1。",
        shown_on="images",
        section=LAYOUT_TRAP,
    ),
    wrong("axes-of-a-text", axes=(0, 1)).hint(
        en="For texts `(N, L, d)` with the features at the end, `(0, 1)` is right. Here axis 1 holds the channels: "
        "leave it out, and average over all others.",
        zh="对文本 `(N, L, d)`，特征在最后一个轴，`(0, 1)` 是对的。这里通道在轴 1：不要写它，其余的轴都要写。",
        shown_on="images",
    ),
    wrong("width-forgotten", axes=(0, 2)).hint(
        en="The width is missing: every column of the image has a mean of its own. Each channel has only one.",
        zh="漏掉了宽：图像的每一列各有一个均值，而每个通道应当只有一个。",
        shown_on="images",
    ),
    wrong("height-forgotten", axes=(0, 3)).hint(
        en="The height is missing: every row of the image has a mean of its own. Each channel has only one.",
        zh="漏掉了高：图像的每一行各有一个均值，而每个通道应当只有一个。",
    ),
    wrong("axes-by-their-sizes", lambda x: standardize(x, [a for a in range(4) if x.shape[a] != x.shape[1]])).hint(
        en="You look for the channels by their size, and so leave out every axis that is as long. The channels are "
        "axis 1, whatever its size.",
        zh="你按大小去找通道轴，于是与它一样长的轴也被漏掉了。不论大小是多少，通道都是轴 1。",
        section=LAYOUT_TRAP,
    ),
)


BATCH_NORM_BY_AXES = Exercise(
    name="batch_norm_by_axes",
    recipe=over,
    cases=(
        Case("small", {"x": torch.tensor([[[[1.0, 2]], [[3, 5]]], [[[8, 13]], [[21, 4]]]])}),
        Case("images", {"x": waves(2, 3, 4, 5)}),
        Case("one sample", {"x": waves(1, 3, 4, 1)}),
        Case("one channel", {"x": waves(4, 1, 1, 3)}),
        Case("one pixel", {"x": waves(4, 3, 1, 1)}),
        Case("outlier", {"x": with_outliers(3, 2, 5, 41)}),
        Case("large", {"x": 1e4 * waves(2, 3, 4, 5)}),
        Case("double precision", {"x": waves(2, 3, 2, 3).double()}),
        Case("gradient", {"x": waves(3, 2, 2, 4)}, gradient=True),
    ),
    mistakes=BATCH_NORM_MISTAKES,
    scaled_inputs=lambda n: {"x": waves(n, n, 2, 3)},
    section=POKE,
    panel=POKE_PANEL,
    hint_line="mean = x.mean((0, 2, 3), keepdim=True)  # (1, C, 1, 1)",
)


def over_last(x: Tensor, normalized_shape: Sequence[int], *, axes: Callable = last_axes) -> Tensor:
    return standardize(x, tuple(axes(x, normalized_shape)))


def by_hand(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Without `standardize`, which gives other errors."""
    return (x - x.mean(axes, keepdim=True)) / (x.var(axes, correction=0, keepdim=True) + 1e-5).sqrt()


OF_SIZES = wrong("sizes-as-axes", axes=lambda x, shape: shape).hint(
    en="`normalized_shape` holds sizes, and a mean wants the numbers of axes. Two sizes mean the last two axes.",
    zh="`normalized_shape` 里是轴的大小，而求均值要的是轴的编号。给了两个大小，就是指最后两个轴。",
)
EMPTY_RANGE = wrong("empty-range", axes=lambda x, shape: range(-len(shape))).hint(
    en="`range(-n)` counts up from 0 and is empty here. Write `range(-n, 0)`, which begins at −n and stops before 0.",
    zh="`range(-n)` 从 0 往上数，在这里是空的。请写 `range(-n, 0)`：从 −n 开始，到 0 之前为止。",
)
BUT_THE_BATCH = wrong("every-axis-but-the-batch", axes=lambda x, shape: range(1, x.dim())).hint(
    en="You average over every axis but the first, whatever `normalized_shape` says. With `(3,)` each token "
    "has a mean of its own.",
    zh="不论 `normalized_shape` 是什么，你都沿第一个轴以外的所有轴求均值。它是 `(3,)` 时，每个词元各有一个均值。",
)
LAYER_NORM_BY_AXES = Exercise(
    name="layer_norm_by_axes",
    recipe=over_last,
    kernel=layer_norm,
    cases=(
        Case("rows", {"x": torch.tensor([[1.0, 2, 3], [10, 50, 30]]), "normalized_shape": (3,)}),
        Case("tokens", {"x": waves(2, 4, 3), "normalized_shape": (3,)}),
        Case("two axes", {"x": waves(2, 3, 4, 5), "normalized_shape": (4, 5)}),
        Case("three axes", {"x": waves(2, 3, 4, 5), "normalized_shape": (3, 4, 5)}),
        *CUBE_CASES,
        *SIZE_ONE_CASES,
        *NO_BATCH_CASES,
        Case("outlier", {"x": with_outliers(2, 1025), "normalized_shape": (1025,)}),
        Case("large", {"x": 1e4 * waves(2, 3), "normalized_shape": (3,)}),
        Case("gradient", {"x": waves(2, 4, 3), "normalized_shape": (4, 3)}, gradient=True),
    ),
    mistakes=(
        OF_SIZES,
        OF_SIZES.spelled(lambda x, shape: by_hand(x, tuple(shape))),
        wrong("number-of-axes-as-an-axis", axes=lambda x, shape: [len(shape)]).hint(
            en="You take `len(normalized_shape)` for the number of one axis. It says how many axes there are, counted "
            "from the end.",
            zh="你把 `len(normalized_shape)` 当成了某一个轴的编号。它说的是从最后一个轴往前，一共有几个轴。",
        ),
        wrong("axes-from-the-front", axes=lambda x, shape: range(len(shape))).hint(
            en="You count the axes from the front. `normalized_shape` describes the last ones: count from the end, −1, "
            "−2 and so on.",
            zh="你从第一个轴数起了。`normalized_shape` 说的是最后几个轴：请从最后一个轴往前数，−1、−2，依此类推。",
        ),
        wrong("axes-by-their-sizes", axes=lambda x, shape: [x.shape.index(size) for size in shape]).hint(
            en="You look an axis up by its size, and two axes may have one size: then you find the first. "
            "`normalized_shape` describes the last axes: only how many it names counts.",
            zh="你按大小去找轴，而两个轴可能一样大，这时找到的是前面那个。"
            "`normalized_shape` 说的是最后几个轴：要看的只是它有几个数。",
        ),
        wrong("two-axes-always", axes=lambda x, shape: [-2, -1]).hint(
            en="You name two axes whatever `normalized_shape` says. `(3,)` stands for one axis, `(4, 5)` for two, "
            "`(3, 4, 5)` for three.",
            zh="不论 `normalized_shape` 是什么，你都写了两个轴。`(3,)` 指一个轴，`(4, 5)` 指两个，`(3, 4, 5)` 指三个。",
            shown_on="tokens",
        ),
        wrong("axes-1-and-2-always", axes=lambda x, shape: [1, 2]).hint(
            en="You name the axes 1 and 2 whatever `normalized_shape` says. Only how many sizes it holds counts, and "
            "they belong to the last axes.",
            zh="不论 `normalized_shape` 是什么，你写的都是轴 1 和轴 2。要看的只是里面有几个大小，指的是最后几个轴。",
            shown_on="two axes",
        ),
        wrong("three-axes-always", axes=lambda x, shape: [1, 2, 3]).hint(
            en="You name the axes 1, 2 and 3 whatever `normalized_shape` says, and x need not have them. Count how "
            "many sizes it holds, and take so many axes from the end.",
            zh="不论 `normalized_shape` 是什么，你写的都是轴 1、2、3，而 x 未必有这些轴。"
            "请数一数里面有几个大小，就从最后一个轴起取几个轴。",
            shown_on="two axes",
        ),
        wrong("counted-from-minus-0", axes=lambda x, shape: [-i for i in range(len(shape))]).hint(
            en="Your axes begin with −0, which is axis 0. The last axis is −1.",
            zh="你从 −0 数起，那就是轴 0。最后一个轴是 −1。",
        ),
        wrong("end-of-range-excluded", axes=lambda x, shape: range(-len(shape), -1)).hint(
            en="A `range` stops before its end, so the last axis, −1, is missing. Let it end at 0.",
            zh="`range` 不含终点，所以漏掉了最后一个轴 −1。终点应当写 0。",
            shown_on="two axes",
        ),
        EMPTY_RANGE,
        EMPTY_RANGE.spelled(lambda x, shape: standardize(x, range(-len(shape)))),
        wrong("range-for-tuple", lambda x, shape: standardize(x, range(-len(shape), 0))).hint(
            en="The axes are right, but `standardize` wants a tuple: put `tuple(…)` around the `range`.",
            zh="轴是对的，可是 `standardize` 要的是元组：请在 `range` 外面套上 `tuple(…)`。",
        ),
        wrong("last-axis-only", axes=lambda x, shape: [-1]).hint(
            en="Right for one axis. `normalized_shape` may name several: then all of them share one mean.",
            zh="只有一个轴时是对的。`normalized_shape` 可以包含好几个轴，那时它们要一起算一个均值。",
        ),
        BUT_THE_BATCH,
        BUT_THE_BATCH.spelled(lambda x, shape: by_hand(x, tuple(range(1, x.dim())))),
        BUT_THE_BATCH.spelled(lambda x, shape: F.layer_norm(x, x.shape[1:])),
        wrong("every-axis", axes=lambda x, shape: range(x.dim())).hint(
            en="One mean for the whole tensor: samples would depend on each other. Take the last "
            "`len(normalized_shape)` axes only.",
            zh="整个张量共用了一个均值，各个样本就会互相影响。只取最后 `len(normalized_shape)` 个轴。",
        ),
        wrong("one-axis-of-many", axes=lambda x, shape: [-len(shape)]).hint(
            en="You average over one axis, `-len(normalized_shape)`, but that one and all behind it belong to the "
            "group.",
            zh="你只沿 `-len(normalized_shape)` 这一个轴求均值，而它和它后面的所有轴都属于同一组。",
        ),
    ),
    scaled_inputs=lambda n: {"x": waves(n, n, 3), "normalized_shape": (3,)},
    section=LAST_AXES,
    panel=POKE_PANEL,
    hint_line="axes = tuple(range(-len(normalized_shape), 0))",
)
