"""What the lesson's cells print: one line for each result, in the reader's language."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from blocklab_course.i18n import Text
from blocklab_course.pretrained import patch_functions

SHIFT = Text(
    en="shift {:2}: LayerNorm's points moved by {:.4f}; RMSNorm's median angle to the diagonal {:.0f}°",
    zh="平移 {:2}：层归一化的点移动了 {:.4f}；RMSNorm 的点与对角线夹角的中位数是 {:.0f}°",
)
SAME, NEW = Text(en="same", zh="不变"), Text(en="new", zh="改变")
INVARIANCES = Text(en="{:13} LayerNorm {:5} RMSNorm {}", zh="{:13} 层归一化 {:5} RMSNorm {}")
LOSSES = Text(
    en="complete {:.2f}; no mean {:.2f}\n  first token spared: no mean {:.2f}; a random direction less {:.2f} to "
    "{:.2f}, cheaper than the mean: {} of {}",
    zh="完整 {:.2f}；去掉均值 {:.2f}\n  放过首个词元：去掉均值 {:.2f}；去掉随机方向 {:.2f} 到 {:.2f}，"
    "代价比均值小的：{} 个，共 {} 个",
)
FIRST_TOKEN = Text(
    en="after {:2} layers: first token {:5.3g} (mean {:.3g}), others {:4.2g} (mean {:.2g}); "
    "the first's largest feature is {}, now {:4.3g}",
    zh="{:2} 层之后：首个词元 {:5.3g}（均值 {:.3g}），其他词元 {:4.2g}（均值 {:.2g}）；"
    "首个词元最大的特征是 {} 号，相除之后为 {:4.3g}",
)
PARTS = Text(
    en="layer {}: |γ| before the network is {:.5f}; network: {:.3g} times the median, attention: {:.0f} times",
    zh="第 {} 层：前馈网络之前的 |γ| 是 {:.5f}；前馈网络得到中位数的 {:.3g} 倍，注意力得到 {:.0f} 倍",
)
MEAN_SQUARES, OUTPUTS = Text(en="mean squares", zh="均方"), Text(en="outputs", zh="输出")
LARGEST = Text(
    en="1. largest: {:.2f} after RMSNorm, {:.2f} after LayerNorm", zh="1. 最大：RMSNorm {:.2f}，层归一化 {:.2f}"
)
RATIO = Text(en="2. ratio: {:.4f} = 1 / {:.0f}", zh="2. 比值：{:.4f} = 1 / {:.0f}")
GAIN = Text(en="{:15} from {:6.3f} to {:5.3f}, negative {}", zh="{:15} 从 {:6.3f} 到 {:5.3f}，负的有 {} 个")


def by_hand(mean_square: Tensor, y: Tensor) -> None:
    print(MEAN_SQUARES, mean_square.flatten())
    print(OUTPUTS, y)


def effect_of_shift(shift: int, moved: Tensor, angle: Tensor) -> None:
    print(SHIFT.format(shift, moved, angle))


def same_or_new(change: str, *same: bool) -> None:
    """Which of the two layers leave their output as it was."""
    print(INVARIANCES.format(change, *(str(SAME if each else NEW) for each in same)))


def losses_with(model: nn.Module, text: str, norms: Sequence[Callable]) -> None:
    """The losses of a model on a text, with each of these in place of RMSNorm.

    norms: as it is, without the mean, without it but in the first token, and without a random direction each.
    """
    ids, losses = torch.tensor([model.byte_pairs.encode(text)]), []  # (N, L)
    for norm in norms:
        with patch_functions(model, rms_norm=norm):
            losses.append(float(F.cross_entropy(model(ids)[0, :-1], ids[0, 1:])))
    losses_without(*losses)


def losses_without(complete: float, mean: float, spared: float, *random: float) -> None:
    cheaper = sum(loss < spared for loss in random)
    print(LOSSES.format(complete, mean, spared, min(random), max(random), cheaper, len(random)))


def first_token(layers: int, tokens: Tensor, normalized: Tensor) -> None:
    """How large the first of these is, (L, d), and the others, with their means; and its largest normalized feature."""
    size, mean = tokens.square().mean(-1).sqrt(), tokens.mean(-1).abs()  # (L,) each
    feature = int(normalized[0].abs().argmax())
    ordinary = size[1:].median(), mean[1:].median()
    print(FIRST_TOKEN.format(layers, size[0], mean[0], *ordinary, feature, normalized[0, feature].abs()))


def parts_of_507(layer: int, gain: Tensor, network: Tensor, attention: Tensor) -> None:
    print(PARTS.format(layer, gain.abs(), network, attention))


def largest(rms: Tensor, layer: Tensor) -> None:
    print(LARGEST.format(rms, layer))


def ratio(found: Tensor, features: int) -> None:
    print(RATIO.format(found, features**0.5))


def gain(name: str, weight: Tensor) -> None:
    print(GAIN.format(name, weight.min(), weight.max(), (weight < 0).sum()))
