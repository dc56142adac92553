"""Fifteen mistakes in SmolLM2, three in each function and three where it writes, and what it loses and says with each.

Kept as numbers and texts: `python -m authoring.record_wrong_blocks` measures them anew, in some minutes.
"""

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from blocklab.attention import scaled_dot_product_attention as attend
from blocklab.feed_forward import gelu, swiglu
from blocklab.kv_cache import KeyValueCache
from blocklab.normalization import layer_norm, rms_norm
from blocklab.positional_encoding import rotary_embedding
from blocklab_course.checks.safe_repr import truncate_line
from blocklab_course.i18n import Text
from blocklab_course.pretrained import load_smollm2, patch_functions
from blocklab_course.pretrained.prompts import ZEN
from blocklab_course.tables import read_table

from .prompts import FIRST, HAIKU

ASKED = FIRST, HAIKU
MOST_TOKENS = 60  # as many as a chat shows
LONGEST = 1000  # characters: more than so many tokens of an answer have
VOCABULARY_LOSS = math.log(49152)  # of a model that finds every token of the vocabulary as likely as any other
RIGHT = "nothing"


# What stands in the place of the right function, which is called with the same arguments


def minus_mean(x: Tensor, shape: tuple[int, ...], weight: Tensor, eps: float) -> Tensor:
    return layer_norm(x, shape, weight, None, eps)


def without_weight(x: Tensor, shape: tuple[int, ...], _weight: Tensor, eps: float) -> Tensor:
    return rms_norm(x, shape, None, eps)


def eps_outside(x: Tensor, _shape: tuple[int, ...], weight: Tensor, eps: float) -> Tensor:
    return x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * weight


def in_halves(x: Tensor, positions: Tensor, base: float, **_pairing: str) -> Tensor:
    return rotary_embedding(x, positions, base, pairing="half")


def ten_times_the_base(x: Tensor, positions: Tensor, base: float, **pairing: str) -> Tensor:
    return rotary_embedding(x, positions, 10 * base, **pairing)


def not_rotated(x: Tensor, *_positions: object, **_pairing: str) -> Tensor:
    return x


def from_zero_again(x: Tensor, positions: Tensor, base: float, **pairing: str) -> Tensor:
    """What happens where positions are counted in what is read now, and not in the whole text."""
    return rotary_embedding(x, positions - positions[0], base, **pairing)


def without_mask(q: Tensor, k: Tensor, v: Tensor, *_mask: Tensor, **_named: object) -> Tensor:
    return attend(q, k, v, enable_gqa=True)


def without_scale(q: Tensor, k: Tensor, v: Tensor, **mask: object) -> Tensor:
    return attend(q, k, v, scale=1.0, **mask)


def heads_in_turn(q: Tensor, k: Tensor, v: Tensor, **mask: object) -> Tensor:
    """Heads 0, 3, 6 of the queries share head 0 of keys and values, where 0, 1, 2 should."""
    k, v = (x.repeat(1, q.shape[1] // x.shape[1], 1, 1) for x in (k, v))
    return attend(q, k, v, **mask)


def swapped(gate: Tensor, value: Tensor) -> Tensor:
    return swiglu(value, gate)


def gelu_for_silu(gate: Tensor, value: Tensor) -> Tensor:
    return gelu(gate) * value


def without_activation(gate: Tensor, value: Tensor) -> Tensor:
    return gate * value


def upper_left_mask(q: Tensor, k: Tensor, v: Tensor, cache: KeyValueCache) -> Tensor:
    """`is_causal` starts its triangle at key 0: a new token sees the very first one, and nothing else."""
    return attend(q, *cache.update(k, v), is_causal=True, enable_gqa=True)


def one_too_far(x: Tensor, positions: Tensor, base: float, **pairing: str) -> Tensor:
    """New tokens stand one position behind their own."""
    return rotary_embedding(x, positions + (positions[0] > 0), base, **pairing)


@dataclass(frozen=True)
class Wrong:
    """A mistake: its id, the function that it is made in or the cache, what it does, and what takes whose place."""

    id: str
    block: str | Text
    name: Text
    replaces: dict[str, Callable]


THE_CACHE = Text(en="the cache", zh="缓存")
"""Where positions are counted and keys are hidden: in two of its three mistakes every function is right by itself."""

WRONG = (
    Wrong("minus-mean", "rms_norm", Text(en="minus the mean", zh="多减均值"), {"rms_norm": minus_mean}),
    Wrong("no-weight", "rms_norm", Text(en="without γ", zh="不乘 γ"), {"rms_norm": without_weight}),
    Wrong("eps-outside", "rms_norm", Text(en="ε outside the root", zh="ε 在根号外"), {"rms_norm": eps_outside}),
    Wrong("halves", "rotary_embedding", Text(en="pairs in halves", zh="前后两半配对"), {"rotary_embedding": in_halves}),
    Wrong("base", "rotary_embedding", Text(en="base × 10", zh="base × 10"), {"rotary_embedding": ten_times_the_base}),
    Wrong("not-rotated", "rotary_embedding", Text(en="left out", zh="没有旋转"), {"rotary_embedding": not_rotated}),
    Wrong("no-mask", "attention", Text(en="without the mask", zh="没有掩码"), {"attention": without_mask}),
    Wrong("no-scale", "attention", Text(en="not divided by √d", zh="没有除以根号 d"), {"attention": without_scale}),
    Wrong("heads", "attention", Text(en="heads in turn", zh="头轮流分配"), {"attention": heads_in_turn}),
    Wrong("swapped", "swiglu", Text(en="gate and value swapped", zh="门与值对调"), {"swiglu": swapped}),
    Wrong("gelu", "swiglu", Text(en="GELU for SiLU", zh="换成 GELU"), {"swiglu": gelu_for_silu}),
    Wrong("no-activation", "swiglu", Text(en="no activation", zh="没有激活函数"), {"swiglu": without_activation}),
    Wrong(
        "restarted",
        THE_CACHE,
        Text(en="positions from 0 again", zh="位置又从 0 数"),
        {"rotary_embedding": from_zero_again},
    ),
    Wrong(
        "upper-left",
        THE_CACHE,
        Text(en="mask from key 0", zh="掩码从键 0 起"),
        {"cached_attention": upper_left_mask},
    ),
    Wrong(
        "one-too-far",
        THE_CACHE,
        Text(en="positions off by one", zh="位置错开一位"),
        {"rotary_embedding": one_too_far},
    ),
)
BLOCKS = tuple(dict.fromkeys(wrong.block for wrong in WRONG))


@dataclass(frozen=True)
class Found:
    """The loss on the Zen of Python, and the answers to FIRST and HAIKU, whole, each in one line."""

    loss: float
    text: str
    haiku: str


@torch.no_grad()
def measured(model: nn.Module, wrong: Wrong | None) -> Found:
    """What the model loses and what it answers, with a mistake in all of its layers or with none."""
    zen = torch.tensor([model.byte_pairs.encode(ZEN)])
    with patch_functions(model, **(wrong.replaces if wrong else {})):
        loss = F.cross_entropy(model(zen)[0, :-1], zen[0, 1:]).item()
        answers = (model.byte_pairs.decode(list(model.next_tokens(model.chat(asked), MOST_TOKENS))) for asked in ASKED)
        return Found(loss, *(drawable(truncate_line(answer, LONGEST)) for answer in answers))


def drawable(text: str) -> str:
    """A text without what a picture has no letters for: all that is not Latin, and signs that cannot be seen."""
    return "".join(c if c in "↵…" or (c.isprintable() and c < "\u0180") else "·" for c in text)


def recorded() -> dict[str, Found]:
    """The table: by the id of a mistake, and of none, what was found."""
    return {row["mistake"]: Found(float(row["loss"]), row["text"], row["haiku"]) for row in read_table("wrong_blocks")}


def record(path: Path) -> None:
    """Measure all of them, and none, and write a row for each."""
    model = load_smollm2()
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("mistake", "loss", "text", "haiku"))
        for wrong in (None, *WRONG):
            found = measured(model, wrong)
            table.writerow((wrong.id if wrong else RIGHT, f"{found.loss:.4f}", found.text, found.haiku))
            print(wrong.id if wrong else RIGHT, found)
