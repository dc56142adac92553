"""The reader's own layer, 48 of them one upon the other: how large the tokens become, and how alike."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab.transformer import EncoderLayer
from blocklab_course.i18n import Text

from .exercises.sandwich import sandwich
from .random_stacks import DEEPEST, HEADS, SEEDS, WIDTH, mean_cosine, random_numbers

YOURS = Text(
    en="48 of these layers: RMS {rms:.1f}, mean cosine {cosine:.2f}",
    zh="48 个这样的层：均方根 {rms:.1f}，余弦的均值 {cosine:.2f}",
)
NOT_YET = Text(
    en="Yours gives no tensor of x's shape yet. 48 of the right one: RMS {rms:.1f}, mean cosine {cosine:.2f}",
    zh="你的函数还没有给出与 x 同形状的张量。48 个正确的层：均方根 {rms:.1f}，余弦的均值 {cosine:.2f}",
)


def norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (WIDTH,))


def stacked(layer: Callable) -> Tensor:
    """What the panel's random tokens become, (seed, sentence, L, d): its weights, and norms as they begin.

    layer: a function of x, attention, the feed-forward network and four norms.
    """
    weights, tokens, *_ = random_numbers()
    parts, found = EncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0), []

    def attention(x: Tensor) -> Tensor:
        return parts.self_attn(x, x, x)[0]

    def feed_forward(x: Tensor) -> Tensor:
        return parts.linear2(F.relu(parts.linear1(x)))

    for seed in range(SEEDS):
        x = tokens[seed]
        for state in weights[:DEEPEST]:
            parts.load_state_dict({name: value[seed] for name, value in state.items()})
            x = layer(x, attention, feed_forward, norm, norm, norm, norm)
        found.append(x)
    return torch.stack(found)


def told(layer: Callable) -> str:
    """How large and how alike the tokens are in the end; with the right layer, while the reader's gives no tensor."""
    with torch.no_grad():
        x = torch.zeros(1, 2, WIDTH)
        y = layer(x, *[torch.zeros_like] * 2, *[norm] * 4)
        written = isinstance(y, Tensor) and y.shape == x.shape
        found = stacked(layer if written else sandwich)
    rms = found.square().mean((1, 2, 3)).sqrt().mean()
    return (YOURS if written else NOT_YET).format(rms=rms, cosine=mean_cosine(found).mean())
