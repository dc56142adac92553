"""Exercises of the first lessons, where the answer is a number, a choice of axes or one line over `standardize`."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from blocklab.language import Text
from blocklab.normalization import layer_norm, standardize

from ..case import Case
from ..exercise import Exercise, Mistake, Section
from .layer_norm import CUBES, NOTHING_BESIDE, SIZES_OF_ONE, last_axes
from .numbers import outlier, waves
from .one_number import A_NUMBER, number, one_number

POKE = Section("02_norm_axes", Text(en="Poke one number", zh="推一推：只改一个数"))
POKE_PANEL = Text(
    en="choose the layer, push one number, and look along which axes the raised blocks lie.",
    zh="选好层，推一个数，看看升起的方块沿哪些轴排列。",
)

SCALE = Exercise(
    name="scale",
    lesson="00_start_here",
    recipe=lambda: 1e-3,
    use=lambda scale: lambda: layer_norm(number(scale) * torch.tensor([1.0, 2, 3, 4]), (4,))[-1],
    wants=A_NUMBER,
    names={"result": Text(en="last bar", zh="最后一根柱子")},
    cases=(Case("bar", {}, tolerance=2e-3),),
    mistakes=(
        Mistake(
            "too-large",
            {"answer": 1.0},
            Text(
                en="At this s the last bar has its full length, 1.342. Go on to the left.",
                zh="s 取这个值时，最后一根柱子还是原长 1.342。请继续往左拖。",
            ),
            "bar",
        ),
        Mistake(
            "negative",
            {"answer": -3.0},
            Text(
                en="A negative s turns the bars around. `1e-2` means 0.01, which is not negative.",
                zh="s 取负数，柱子就倒过来了。`1e-2` 表示 0.01，并不是负数。",
            ),
            "bar",
        ),
        Mistake(
            "zero",
            {"answer": 0.0},
            Text(en="With s = 0 there is no bar left.", zh="s = 0 时，柱子都没有了。"),
            "bar",
        ),
    ),
    section=Section("00_start_here", Text(en="The slider that does nothing", zh="不起作用的滑块")),
    panel=Text(en="drag s to the left of 1 and read the last bar.", zh="把 s 拖到 1 的左边，读出最后一根柱子的长度。"),
    line="layer_norm(s * torch.tensor([1.0, 2.0, 3.0, 4.0]), (4,))[-1]",
)

AXES = Text(
    en="the number of an axis of `x`, or a tuple of such numbers",
    zh=" `x` 的某个轴的编号，或由编号组成的元组",
)

FEATURE_AXES = Exercise(
    name="feature_axes",
    lesson="01_why_normalize",
    recipe=lambda: (0,),
    use=lambda axes: lambda x: standardize(x, axes),
    wants=AXES,
    cases=(Case("rows", {"x": torch.tensor([[1.0, 200], [2, 100], [6, 600]])}),),
    mistakes=(
        Mistake(
            "feature-axis",
            {"answer": (1,)},
            Text(
                en="Along axis 1 each **sample** gets mean 0, and features of different scales are mixed. The axis "
                "that you name is the one that disappears: the samples should.",
                zh="沿轴 1 标准化，均值为 0 的是每个**样本**，不同尺度的特征还混在了一起。"
                "写哪个轴，哪个轴就消失：应当消失的是样本轴。",
            ),
            "rows",
        ),
        Mistake(
            "every-axis",
            {"answer": (0, 1)},
            Text(
                en="One mean for all numbers: the feature with the largest scale decides it. Each feature needs a mean "
                "of its own.",
                zh="所有的数共用一个均值，尺度最大的特征就决定了它。每个特征应当各有一个均值。",
            ),
            "rows",
        ),
    ),
    section=Section("01_why_normalize", Text(en="Two inputs, one weight", zh="两个输入，一个权重")),
    line="x.mean(my_axes).shape == (2,)  # one mean per feature",
)

ONE_MEAN_AXES = Exercise(
    name="one_mean_axes",
    lesson="02_norm_axes",
    recipe=lambda: (0, 1),
    use=lambda axes: lambda x: standardize(x, axes),
    wants=AXES,
    cases=(Case("rows", {"x": torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40]])}),),
    mistakes=(
        Mistake(
            "batch-axis-only",
            {"answer": (0,)},
            Text(
                en="Axis 0 alone makes one mean per column, four in all. Name every axis that is to disappear.",
                zh="只写轴 0，每一列各有一个均值，共四个。要让哪些轴消失，就把它们都写上。",
            ),
            "rows",
        ),
        Mistake(
            "feature-axis-only",
            {"answer": (1,)},
            Text(
                en="Axis 1 alone makes one mean per row, two in all. Name every axis that is to disappear.",
                zh="只写轴 1，每一行各有一个均值，共两个。要让哪些轴消失，就把它们都写上。",
            ),
            "rows",
        ),
    ),
    section=Section("02_norm_axes", Text(en="Two rows by hand", zh="动手算两行")),
    line="x.mean((0, 1)).shape == ()",
)


def over(x: Tensor, *, axes: Sequence[int] = (0, 2, 3)) -> Tensor:
    return standardize(x, axes)


EVALUATION_MODE = Mistake(
    "evaluation-mode",
    lambda x: x / (1 + 1e-5) ** 0.5,  # running statistics of 0 and 1
    Text(
        en="Nothing is normalized: with running statistics of 0 and 1, evaluation mode only divides by √(1 + ε). Use "
        "the mean and the variance of the batch itself, as in training.",
        zh="你没有真正做归一化：移动统计量为 0 和 1 时，评估模式只是除以 √(1 + ε)。"
        "请用这个小批量自己的均值和方差，像训练时那样。",
    ),
    "images",
)
OTHER_AXES = tuple(
    Mistake(name, {"axes": axes}, hint, "images")
    for name, axes, hint in (
        (
            "batch-axis-only",
            (0,),
            Text(
                en="You average over the batch only, so every pixel has a mean of its own. BatchNorm keeps one "
                "mean per channel: height and width are pooled too.",
                zh="你只沿批量轴求了均值，于是每个像素各有一个均值。"
                "批量归一化（BatchNorm）每个通道只有一个均值：高和宽也要一起算。",
            ),
        ),
        (
            "instance-norm",
            (2, 3),
            Text(
                en="This is InstanceNorm: one mean per sample and channel. BatchNorm pools the batch too.",
                zh="这是实例归一化（InstanceNorm）：每个样本的每个通道各有一个均值。"
                "批量归一化（BatchNorm）还要把所有样本合在一起算。",
            ),
        ),
        (
            "layer-norm",
            (1, 2, 3),
            Text(
                en="This is LayerNorm: one mean per sample. BatchNorm keeps one per channel, over all samples.",
                zh="这是层归一化（LayerNorm）：每个样本一个均值。"
                "批量归一化（BatchNorm）是每个通道一个均值，所有样本合在一起算。",
            ),
        ),
        (
            "channel-axis",
            (1,),
            Text(
                en="You average over the channels, the one axis that must stay: C means have to be left.",
                zh="你沿通道轴求了均值，可是唯独这个轴要保留：最后应当剩下 C 个均值。",
            ),
        ),
        (
            "every-axis",
            (0, 1, 2, 3),
            Text(
                en="One mean for all numbers. The channels keep theirs apart: leave axis 1 out.",
                zh="所有的数共用了一个均值。各个通道的均值要分开：不要写轴 1。",
            ),
        ),
        (
            "channels-last",
            (0, 1, 2),
            Text(
                en="You keep the last axis, as if the layout were `(N, H, W, C)`. Here the channels are axis 1.",
                zh="你保留的是最后一个轴，那是 `(N, H, W, C)` 布局的做法。这里的通道是轴 1。",
            ),
        ),
        (
            "width-forgotten",
            (0, 2),
            Text(
                en="The width is missing: every column of the image has a mean of its own. Each channel has only one.",
                zh="漏掉了宽：图像的每一列各有一个均值，而每个通道应当只有一个。",
            ),
        ),
        (
            "height-forgotten",
            (0, 3),
            Text(
                en="The height is missing: every row of the image has a mean of its own. Each channel has only one.",
                zh="漏掉了高：图像的每一行各有一个均值，而每个通道应当只有一个。",
            ),
        ),
    )
)

BATCH_NORM_BY_AXES = Exercise(
    name="batch_norm_by_axes",
    lesson="02_norm_axes",
    recipe=over,
    cases=(
        Case("small", {"x": torch.tensor([[[[1.0, 2]], [[3, 5]]], [[[8, 13]], [[21, 4]]]])}),
        Case("images", {"x": waves(2, 3, 4, 5)}),
        Case("one sample", {"x": waves(1, 3, 4, 1)}),
        Case("one channel", {"x": waves(4, 1, 1, 3)}),
        Case("one pixel", {"x": waves(4, 3, 1, 1)}),
        Case("outlier", {"x": outlier(3, 2, 5, 41)}),
        Case("large", {"x": 1e4 * waves(2, 3, 4, 5)}),
        Case("gradient", {"x": waves(3, 2, 2, 4)}, gradient=True),
    ),
    mistakes=(EVALUATION_MODE, *OTHER_AXES),
    growing=lambda n: {"x": waves(n, n, 2, 3)},
    section=POKE,
    panel=POKE_PANEL,
    line="mean = x.mean((0, 2, 3), keepdim=True)  # (1, C, 1, 1)",
)


def over_last(x: Tensor, normalized_shape: Sequence[int], *, axes: Callable = last_axes) -> Tensor:
    return standardize(x, tuple(axes(x, normalized_shape)))


LAYER_NORM_BY_AXES = Exercise(
    name="layer_norm_by_axes",
    lesson="02_norm_axes",
    recipe=over_last,
    kernel=layer_norm,
    cases=(
        Case("rows", {"x": torch.tensor([[1.0, 2, 3], [10, 50, 30]]), "normalized_shape": (3,)}),
        Case("tokens", {"x": waves(2, 4, 3), "normalized_shape": (3,)}),
        Case("two axes", {"x": waves(2, 3, 4, 5), "normalized_shape": (4, 5)}),
        Case("three axes", {"x": waves(2, 3, 4, 5), "normalized_shape": (3, 4, 5)}),
        *CUBES,
        *SIZES_OF_ONE,
        *NOTHING_BESIDE,
        Case("outlier", {"x": outlier(2, 1025), "normalized_shape": (1025,)}),
        Case("large", {"x": 1e4 * waves(2, 3), "normalized_shape": (3,)}),
        Case("gradient", {"x": waves(2, 4, 3), "normalized_shape": (4, 3)}, gradient=True),
    ),
    mistakes=tuple(
        Mistake(name, {"axes": axes}, hint, shows)
        for name, axes, hint, shows in (
            (
                "sizes-as-axes",
                lambda x, shape: shape,
                Text(
                    en="`normalized_shape` holds sizes, and `standardize` wants the numbers of axes. Two sizes mean "
                    "the last two axes.",
                    zh="`normalized_shape` 里是轴的大小，而 `standardize` 要的是轴的编号。"
                    "给了两个大小，就是指最后两个轴。",
                ),
                "rows",
            ),
            (
                "axes-from-the-front",
                lambda x, shape: range(len(shape)),
                Text(
                    en="You count the axes from the front. `normalized_shape` describes the last ones: count from the "
                    "end, −1, −2 and so on.",
                    zh="你是从前往后数轴的。`normalized_shape` 说的是最后几个轴：请从后往前数，−1、−2，依此类推。",
                ),
                "rows",
            ),
            (
                "last-axis-only",
                lambda x, shape: [-1],
                Text(
                    en="Right for one axis. `normalized_shape` may name several: then all of them share one mean.",
                    zh="只有一个轴时是对的。`normalized_shape` 可以包含好几个轴，那时它们要一起算一个均值。",
                ),
                "two axes",
            ),
            (
                "every-axis-but-the-batch",
                lambda x, shape: range(1, x.dim()),
                Text(
                    en="You average over every axis but the first, whatever `normalized_shape` says. With `(3,)` each "
                    "token has a mean of its own.",
                    zh="不论 `normalized_shape` 是什么，你都沿第一个轴以外的所有轴求均值。"
                    "它是 `(3,)` 时，每个词元各有一个均值。",
                ),
                "tokens",
            ),
            (
                "every-axis",
                lambda x, shape: range(x.dim()),
                Text(
                    en="One mean for the whole tensor: samples would depend on each other. Take the last "
                    "`len(normalized_shape)` axes only.",
                    zh="整个张量共用了一个均值，各个样本就会互相影响。只取最后 `len(normalized_shape)` 个轴。",
                ),
                "rows",
            ),
            (
                "one-axis-of-many",
                lambda x, shape: [-len(shape)],
                Text(
                    en="You average over one axis, `-len(normalized_shape)`, but that one and all behind it belong to "
                    "the group.",
                    zh="你只沿 `-len(normalized_shape)` 这一个轴求均值，而它和它后面的所有轴都属于同一组。",
                ),
                "two axes",
            ),
        )
    ),
    growing=lambda n: {"x": waves(n, n, 3), "normalized_shape": (3,)},
    section=POKE,
    panel=POKE_PANEL,
    line="axes = range(-len(normalized_shape), 0)",
)

HALF_SIZE = Exercise(
    name="half_size",
    lesson="05_layer_norm",
    recipe=lambda: (1e-5 / 3) ** 0.5,
    use=lambda deviation: lambda: layer_norm(number(deviation) * torch.tensor([-1.0, 1.0]), (2,))[1],
    wants=A_NUMBER,
    names={"result": Text(en="output for the input [−σ, σ], its last number", zh="输入为 −σ 和 σ 时的最后一个输出")},
    cases=(Case("two numbers", {}, tolerance=5.5e-3),),  # σ to two digits
    mistakes=(
        Mistake(
            "root-of-eps",
            {"answer": 1e-5**0.5},
            Text(
                en="At σ = √ε both terms under the root are equal, so the output is 1 / √2, not a half. σ must be "
                "smaller.",
                zh="σ = √ε 时，根号下的两项相等，输出是 1 / √2，而不是一半。σ 还要再小一点。",
            ),
            "two numbers",
        ),
        Mistake(
            "root-forgotten",
            {"answer": 1e-5 / 3},
            Text(
                en="That is σ², the variance, at which the output is a half. Take its root.",
                zh="这是输出为一半时的 σ²，也就是方差。请再开方。",
            ),
            "two numbers",
        ),
        Mistake(
            "eps-itself",
            {"answer": 1e-5},
            Text(
                en="ε stands next to the variance, so it is to be compared with σ², not with σ.",
                zh="ε 是和方差相加的，所以要拿它和 σ² 比，而不是和 σ 比。",
            ),
            "two numbers",
        ),
        Mistake(
            "upside-down",
            {"answer": (3 * 1e-5) ** 0.5},
            Text(
                en="Upside down: the output shrinks when σ gets small beside √ε, not when it gets large.",
                zh="反了：σ 比 √ε 小的时候，输出才会缩小，而不是 σ 大的时候。",
            ),
            "two numbers",
        ),
        Mistake(
            "half-under-the-root",
            {"answer": 1e-5**0.5 / 2},
            Text(
                en="Put your σ² into σ² / (σ² + ε): it has to be 1/4, for its root is the half.",
                zh="把你的 σ² 代入 σ² / (σ² + ε)：它应当等于 1/4，因为再开方才是一半。",
            ),
            "two numbers",
        ),
        Mistake(
            "no-eps",
            {"answer": 1.0},
            Text(
                en="Here ε is too small to be felt: the output has its full size. σ must be far smaller.",
                zh="这时 ε 太小，感觉不到：输出还是原来的大小。σ 还要小得多。",
            ),
            "two numbers",
        ),
    ),
    section=Section("05_layer_norm", Text(en="Two rows, to the last digit", zh="两行数，算到最后一位")),
    line="sigma / (sigma**2 + 1e-5) ** 0.5",
)

ROOT_MEAN_SQUARE = Exercise(
    name="root_mean_square",
    lesson="06_rms_norm",
    recipe=lambda: 12.5**0.5,
    use=lambda rms: lambda x: x / number(rms),
    wants=A_NUMBER,
    names={"result": Text(en="x divided by your number", zh="x 除以你给的数")},
    cases=(Case("token", {"x": torch.tensor([3.0, 4.0])}, tolerance=2e-3),),
    mistakes=(
        Mistake(
            "length",
            {"answer": 5.0},
            Text(
                en="5 is the length of the token: the root of the **sum** of the squares. Take the root of their mean.",
                zh="5 是这个词元的长度，也就是平方和的平方根。应当先求平方的均值，再开方。",
            ),
            "token",
        ),
        Mistake(
            "root-missing",
            {"answer": 12.5},
            Text(
                en="12.5 is the mean of the squares. The root is still to be taken.",
                zh="12.5 是平方的均值，还没有开方。",
            ),
            "token",
        ),
        Mistake(
            "mean",
            {"answer": 3.5},
            Text(
                en="3.5 is the mean of the two numbers. Square them first, then average, then take the root.",
                zh="3.5 是这两个数的均值。应当先平方，再求均值，最后开方。",
            ),
            "token",
        ),
        Mistake(
            "length-over-count",
            {"answer": 2.5},
            Text(
                en="You divide the length, 5, by the count. The count stands under the root too.",
                zh="你用长度 5 除以了个数。个数也应当在根号里。",
            ),
            "token",
        ),
        Mistake(
            "standard-deviation",
            {"answer": 0.5},
            Text(
                en="0.5 is the standard deviation: you subtracted the mean before squaring. Subtract nothing.",
                zh="0.5 是标准差：你在平方之前减去了均值。这里什么都不减。",
            ),
            "token",
        ),
    ),
    section=Section("06_rms_norm", Text(en="By hand", zh="动手算")),
    line="mean_of_squares = (3**2 + 4**2) / 2",
)

VALUES_PER_MEAN = one_number(
    name="values_per_mean",
    lesson="04_small_batches",
    answer=784,
    wants=Text(en="a whole number", zh="一个整数"),
    means=Text(en="count", zh="个数"),
    wrong=(
        (
            "batch-only",
            4,
            Text(
                en="That is the number of images. BatchNorm pools the pixels of each channel, too.",
                zh="这是图像的张数。批量归一化还会把每个通道的所有像素合在一起算。",
            ),
        ),
        (
            "one-image",
            196,
            Text(
                en="So many values has one channel of *one* image, as InstanceNorm takes them. BatchNorm pools "
                "the images, too.",
                zh="这是**一张**图的一个通道里的个数，实例归一化才这样算。批量归一化还会把各张图合在一起算。",
            ),
        ),
        (
            "number-of-means",
            16,
            Text(
                en="That is how many means there are, one per channel. How many values does each take?",
                zh="这是均值的个数，每个通道一个。每个均值由多少个数得到？",
            ),
        ),
        (
            "whole-image",
            3136,
            Text(
                en="So many values has one whole image: LayerNorm over `(C, H, W)`. BatchNorm keeps the channels "
                "apart and pools the images.",
                zh="这是一整张图里的个数，沿 `(C, H, W)` 的层归一化才这样算。"
                "批量归一化把各个通道分开，把各张图合起来。",
            ),
        ),
        (
            "every-value",
            12544,
            Text(
                en="That is all there is in the tensor. BatchNorm keeps the channels apart.",
                zh="这是整个张量里的个数。批量归一化的各个通道是分开算的。",
            ),
        ),
    ),
    section=Section("04_small_batches", Text(en="How many numbers share a mean?", zh="多少个数共用一个均值？")),
    panel=Text(
        en="under “Going further: how far off are the estimates?”, set 4 images of 14 × 14 and read m.",
        zh="在“选读：估计得有多准？”一节里，设为 4 张 14 × 14 的图，读出 m。",
    ),
    line="x.mean((0, 2, 3)).shape == (16,)  # so many means share all the values of x",
)

EXERCISES = (
    SCALE,
    FEATURE_AXES,
    ONE_MEAN_AXES,
    BATCH_NORM_BY_AXES,
    LAYER_NORM_BY_AXES,
    VALUES_PER_MEAN,
    HALF_SIZE,
    ROOT_MEAN_SQUARE,
)
