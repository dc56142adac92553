"""What the lesson's cells print: one line for each result, in the reader's language."""

from collections.abc import Sequence

from torch import Tensor

from blocklab.language import Text

SHIFT = Text(
    en="shift {:2}: LayerNorm's points moved by {:.4f}; RMSNorm's median angle to the diagonal {:.0f}°",
    zh="平移 {:2}：层归一化的点移动了 {:.4f}；RMSNorm 的点与对角线夹角的中位数是 {:.0f}°",
)
SAME, NEW = Text(en="same", zh="不变"), Text(en="new", zh="改变")
INVARIANCES = Text(
    en="{:13} BatchNorm {:5} LayerNorm {:5} RMSNorm {}", zh="{:13} 批量归一化 {:5} 层归一化 {:5} RMSNorm {}"
)
LOSSES = Text(
    en="complete {:.2f}; no mean {:.2f}; a random direction less {:.2f} to {:.2f}, cheaper than the mean: {} of {}",
    zh="完整 {:.2f}；去掉均值 {:.2f}；去掉随机方向 {:.2f} 到 {:.2f}，代价比均值小的：{} 个，共 {} 个",
)
FIRST_TOKEN = Text(
    en="after {:2} layers: first token {:5.3g}, others {:4.2g}; its largest feature is {}, now {:4.3g}",
    zh="{:2} 层之后：首个词元 {:5.3g}，其他词元 {:4.2g}；首个词元最大的特征是 {} 号，相除之后为 {:4.3g}",
)
PARTS = Text(
    en="layer {}: γ before the network is {:.5f}; network: {:.3g} times the median, attention: {:.0f} times",
    zh="第 {} 层：前馈网络之前的 γ 是 {:.5f}；前馈网络得到中位数的 {:.3g} 倍，注意力得到 {:.0f} 倍",
)


def effect_of_shift(shift: int, moved: Tensor, angle: Tensor) -> None:
    print(SHIFT.format(shift, moved, angle))


def same_or_new(change: str, same: Sequence[bool]) -> None:
    """Which of the three layers leave their output as it was."""
    print(INVARIANCES.format(change, *(str(SAME if each else NEW) for each in same)))


def losses_without(complete: Tensor, mean: Tensor, *random: Tensor) -> None:
    """The losses of a model: as it is, without the mean, and without a random direction each."""
    cheaper = sum(loss < mean for loss in random)
    print(LOSSES.format(complete, mean, min(random), max(random), cheaper, len(random)))


def first_token(layers: int, size: Tensor, others: Tensor, normalized: Tensor) -> None:
    feature = int(normalized.abs().argmax())
    print(FIRST_TOKEN.format(layers, size, others, feature, normalized[feature].abs()))


def parts_of_507(layer: int, gain: Tensor, network: Tensor, attention: Tensor) -> None:
    print(PARTS.format(layer, gain.abs(), network, attention))
