"""Normalization along the last axes given by `normalized_shape`: known mistakes, and inputs that show them."""

from collections.abc import Callable, Sequence

from torch import Tensor

from ..case import Case, waves
from ..mistake import wrong


def compare_by_means(check_axes: Callable) -> Callable[[object], Callable[[Tensor], Tensor]]:
    """Return an `evaluate` for answers that name axes: it takes the mean over these axes.

    check_axes: the library's own, which rejects axes that x does not have.
    """
    return lambda axes: lambda x: x.mean(check_axes("means", x, axes))


def last_axes(_x: Tensor, normalized_shape: Sequence[int]) -> list[int]:
    return list(range(-len(normalized_shape), 0))


AXES_MISTAKES = (
    wrong("over-the-sentence", axes=lambda x, normalized_shape: list(range(1, x.dim()))).hint(
        en="You average over every axis but the batch, so the tokens of a sentence share their statistics. Each token "
        "has its own, over its features only (`dim=-1`).",
        zh="你沿批量轴以外的所有轴求均值，于是同一句话里的词元共用一组统计量。"
        "每个词元应当有自己的统计量，只沿特征轴求（`dim=-1`）。",
    ),
    wrong("over-everything", axes=lambda x, normalized_shape: list(range(x.dim()))).hint(
        en="You average over the whole tensor, so your result for one sample depends on the others. Say along which "
        "axes the average is taken.",
        zh="你对整个张量只求了一个均值，于是一个样本的结果会受其他样本影响。请写明沿哪些轴求均值。",
    ),
    wrong("over-the-batch", axes=lambda x, normalized_shape: [0]).hint(
        en="You average over the batch axis. That is what BatchNorm does; here one sample never influences another.",
        zh="你沿批量轴求了均值，那是批量归一化（BatchNorm）的做法。而在这里，样本之间互不影响。",
    ),
    wrong("over-axis-one", axes=lambda x, normalized_shape: [1]).hint(
        en="You average over axis 1, which is the features only where x has two axes. Before them there may be any "
        "number of axes: count from the end.",
        zh="你沿轴 1 求了均值，只有 x 恰好有两个轴时，它才是特征轴。特征轴前面可以有任意多个轴：请从最后一个轴往前数。",
    ),
    wrong("over-the-positions", axes=lambda x, normalized_shape: [-2]).hint(
        en="You average over the axis before the last, the positions: the tokens of a sentence get mixed. The features "
        "are the last axis.",
        zh="你沿倒数第二个轴（位置轴）求了均值，同一句话里的词元就混在了一起。应当沿特征轴求，它是最后一个轴。",
        shown_on="tokens",
    ),
    wrong("axes-from-the-front", axes=lambda x, normalized_shape: list(range(len(normalized_shape)))).hint(
        en="You count the axes from the front. `normalized_shape` describes the last ones: count from the end.",
        zh="你从第一个轴数起了。`normalized_shape` 说的是最后几个轴：请从最后一个轴往前数。",
        shown_on="pictures",
    ),
    wrong("one-axis-of-many", axes=lambda x, normalized_shape: [-len(normalized_shape)]).hint(
        en="You average over one axis, `-len(normalized_shape)`, but that one and all behind it belong together.",
        zh="你只沿 `-len(normalized_shape)` 这一个轴求均值，而它和它后面的所有轴要一起算。",
    ),
    wrong("last-axis-only", axes=lambda x, normalized_shape: [-1]).hint(
        en="`normalized_shape` may name several axes, here two, but you average over the last one only.",
        zh="`normalized_shape` 可以包含好几个轴，这里是两个，而你只沿最后一个轴求了均值。",
    ),
)

SIZES_AS_AXES = wrong("sizes-as-axes", axes=lambda x, normalized_shape: tuple(normalized_shape)).hint(
    en="You take `normalized_shape` for the numbers of axes. It holds their sizes: `(4,)` means the last axis, which "
    "has 4 numbers, and its number is −1.",
    zh="你把 `normalized_shape` 当成了轴的编号。它写的是大小：`(4,)` 指最后一个轴，上面有 4 个数，它的编号是 −1。",
)


# With equal sizes, an axis cannot be found by its size. With size 1, there is nothing to average.
CUBE_CASES = (
    Case("cube", {"x": waves(4, 4, 4), "normalized_shape": (4,)}),
    Case("two axes of a cube", {"x": waves(4, 4, 4), "normalized_shape": (4, 4)}),
)


SIZE_ONE_CASES = (
    Case("one token", {"x": waves(1, 1, 1, 5), "normalized_shape": (5,)}),
    Case("one feature", {"x": waves(2, 3, 4, 1), "normalized_shape": (1,)}),
    Case("one row", {"x": waves(3, 1, 4), "normalized_shape": (1, 4)}),
)


NO_BATCH_CASES = (
    Case("one vector", {"x": waves(5), "normalized_shape": (5,)}),
    Case("the whole tensor", {"x": waves(3, 4), "normalized_shape": (3, 4)}),
)
