"""Attention with a cache as it is often written wrong, each in one place, and what glassllm makes of a text with it."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab.attention import causal_lower_right, scaled_dot_product_attention
from blocklab.positional_encoding import rotary_embedding
from blocklab_course.i18n import Text
from blocklab_course.pretrained.decoder import Decoder
from blocklab_course.pretrained.patching import patch_functions
from blocklab_course.pretrained.stateless_cache import stateless_cache

BASE = 10000.0  # of glassllm's rotation
BUFFER = 128  # positions of a buffer that is filled step by step: glassllm's longest text

Kept = tuple[Tensor, Tensor, Tensor]


def attend(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    return scaled_dot_product_attention(query, keys, values, mask, enable_gqa=True)


def turned(x: Tensor, first: int, times: int = 1) -> Tensor:
    """Rotated by the positions from `first` on, so many times; -1 turns back."""
    return rotary_embedding(x, times * torch.arange(first, first + x.shape[2]), BASE)


def joined(key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> tuple[Tensor, Tensor]:
    return torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)


def right(query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> Kept:
    keys, values = joined(key, value, past_keys, past_values)
    return attend(query, keys, values, causal_lower_right(query.shape[2], keys.shape[2])), keys, values


def positions_restarted(query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> Kept:
    start = past_keys.shape[2]
    return right(turned(turned(query, start, -1), 0), turned(turned(key, start, -1), 0), value, past_keys, past_values)


def unrotated_keys(query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> Kept:
    y, _, values = right(query, key, value, past_keys, past_values)
    return y, torch.cat([past_keys, turned(key, past_keys.shape[2], -1)], 2), values


def rotated_again(query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> Kept:
    return right(query, key, value, turned(past_keys, 0), past_values)


def triangle_upper_left(query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> Kept:
    keys, values = joined(key, value, past_keys, past_values)
    return F.scaled_dot_product_attention(query, keys, values, is_causal=True, enable_gqa=True), keys, values


def heads_tiled(query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> Kept:
    keys, values = joined(key, value, past_keys, past_values)
    n_rep = query.shape[1] // keys.shape[1]
    mask = causal_lower_right(query.shape[2], keys.shape[2])
    return attend(query, keys.repeat(1, n_rep, 1, 1), values.repeat(1, n_rep, 1, 1), mask), keys, values


def new_token_missing(query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> Kept:
    y, keys, values = right(query, key, value, past_keys, past_values)
    return (y, past_keys, past_values) if past_keys.shape[2] else (y, keys, values)


def zero_slots_seen(query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> Kept:
    y, keys, values = right(query, key, value, past_keys, past_values)
    if not past_keys.shape[2]:
        return y, keys, values
    filled = [F.pad(x, (0, 0, 0, BUFFER - x.shape[2])) for x in (keys, values)]
    everything = torch.ones(query.shape[2], BUFFER, dtype=torch.bool)
    return attend(query, *filled, everything), keys, values


MISTAKES: dict[Text, Callable] = {
    Text(en="right", zh="正确"): right,
    Text(en="positions restarted", zh="位置从头数"): positions_restarted,
    Text(en="keys kept unrotated", zh="存的键没有旋转"): unrotated_keys,
    Text(en="kept keys rotated again", zh="存下的键又旋转"): rotated_again,
    Text(en="triangle at the upper left", zh="三角形在左上角"): triangle_upper_left,
    Text(en="heads tiled", zh="头整组重复"): heads_tiled,
    Text(en="new token not kept", zh="没有存新词元"): new_token_missing,
    Text(en="empty slots seen", zh="看到了空位"): zero_slots_seen,
}
"""By name: what keeps nothing itself, as `handed_on` takes it."""


HEAD = Text(
    en="at once  in steps  apart",
    zh="一次读完  逐个读  相差",
)
ROW = "{once:7.2f}  {steps:8.2f}  {apart:5.1f}  {number} {name}"


@torch.no_grad()
def read(model: Decoder, ids: list[int], step: Callable, sizes: list[int]) -> Tensor:
    """The scores of what comes next, at each token of a text that is read in pieces of these sizes."""
    caches = model.new_caches()
    with patch_functions(model, cached_attention=stateless_cache(step)):
        return torch.cat([model(piece, caches)[0] for piece in torch.tensor([ids]).split(sizes, 1)])


def two_readings(model: Decoder, ids: list[int], step: Callable, prompt: int) -> tuple[float, float, float]:
    """The loss on what comes after the prompt, read at once and token by token; how far apart the scores are."""
    seen, to_come = ids[:-1], torch.tensor(ids[prompt:])
    ways = [len(seen)], [prompt] + [1] * (len(seen) - prompt)
    once, steps = (read(model, seen, step, sizes)[prompt - 1 :] for sizes in ways)
    losses = (F.cross_entropy(scores, to_come).item() for scores in (once, steps))
    return *losses, (once - steps).abs().max().item()


def show_losses(model: Decoder, ids: list[int]) -> None:
    """A line for each of the MISTAKES, on the second half of a text."""
    print(HEAD)
    for number, (name, step) in enumerate(MISTAKES.items()):
        once, steps, apart = two_readings(model, ids, step, len(ids) // 2)
        print(ROW.format(once=once, steps=steps, apart=apart, number=number, name=name))
