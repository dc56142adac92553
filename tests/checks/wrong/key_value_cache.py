import math

import torch
import torch.nn.functional as F

import blocklab
from blocklab_course.lessons.catalog import EXERCISES

right = EXERCISES["cached_attention"].recipe


def appended(key, value, past_keys, past_values):
    return torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)


def by_torch(see=lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(S - L), **options):
    def attention(query, key, value, past_keys, past_values):
        keys, values = appended(key, value, past_keys, past_values)
        mask = None if options else see(query.shape[2], keys.shape[2])
        y = F.scaled_dot_product_attention(query, keys, values, mask, enable_gqa=True, **options)
        return y, keys, values

    return attention


def by_hand(see=lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(S - L), fill=-torch.inf, axis=2):
    def attention(query, key, value, past_keys, past_values):
        keys, values = torch.cat([past_keys, key], axis), torch.cat([past_values, value], axis)
        L, S, n_rep = query.shape[2], keys.shape[2], query.shape[1] // keys.shape[1]
        scores = query @ keys.repeat_interleave(n_rep, 1).mT / query.shape[-1] ** 0.5
        weights = scores.masked_fill(~see(L, S), fill).softmax(-1)
        return weights @ values.repeat_interleave(n_rep, 1), keys, values

    return attention


def heads_apart(see=None, **options):
    """With torch's attention and no word of groups."""

    def attention(query, key, value, past_keys, past_values):
        keys, values = appended(key, value, past_keys, past_values)
        mask = see and see(query.shape[2], keys.shape[2])
        return F.scaled_dot_product_attention(query, keys, values, mask, **options), keys, values

    return attention


def no_mask_heads_apart(query, key, value, past_keys, past_values):
    keys, values = appended(key, value, past_keys, past_values)
    return (query @ keys.mT / query.shape[-1] ** 0.5).softmax(-1) @ values, keys, values


def by_torch_along_1(query, key, value, past_keys, past_values):
    keys, values = torch.cat([past_keys, key], 1), torch.cat([past_values, value], 1)
    mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(keys.shape[2] - query.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, mask, enable_gqa=True), keys, values


def repeats_then_appends(query, key, value, past_keys, past_values):
    n_rep = query.shape[1] // key.shape[1]
    keys = torch.cat([past_keys, key.repeat_interleave(n_rep, 1)], 2)
    values = torch.cat([past_values, value.repeat_interleave(n_rep, 1)], 2)
    mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(keys.shape[2] - query.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, mask), keys, values


def rotates_again(query, key, value, past_keys, past_values):
    places = past_keys.shape[2] + torch.arange(query.shape[2])
    query, key = blocklab.rotary_embedding(query, places), blocklab.rotary_embedding(key, places)
    return by_torch()(query, key, value, past_keys, past_values)


def in_a_buffer(query, key, value, past_keys, past_values):
    keys, values = appended(key, value, past_keys, past_values)
    cache_k = torch.zeros(*keys.shape[:2], 128, keys.shape[3], dtype=keys.dtype)
    cache_v = torch.zeros_like(cache_k)
    cache_k[:, :, : keys.shape[2]], cache_v[:, :, : keys.shape[2]] = keys, values
    return F.scaled_dot_product_attention(query, cache_k, cache_v, enable_gqa=True), keys, values


def keeps_the_prompt(query, key, value, past_keys, past_values):
    y, keys, values = by_torch()(query, key, value, past_keys, past_values)
    return (y, past_keys, past_values) if past_keys.shape[2] else (y, keys, values)


def values_forgotten(query, key, value, past_keys, past_values):
    keys = torch.cat([past_keys, key], 2)
    return by_torch()(query, key, value, past_keys, past_values)[0], keys, value


def written_into_the_past(query, key, value, past_keys, past_values):
    if past_keys.shape[2]:
        past_keys[:, :, -1:] = key[:, :, :1]
    return right(query, key, value, past_keys, past_values)


def after_the_fact(query, key, value, past_keys, past_values):
    """Attends to what was kept, then appends."""
    y = F.scaled_dot_product_attention(query, past_keys, past_values, enable_gqa=True)
    return y, *appended(key, value, past_keys, past_values)


def among_the_new(masked):
    """Attends to the new tokens alone, then appends."""

    def attention(query, key, value, past_keys, past_values):
        L = query.shape[2]
        mask = torch.ones(L, L, dtype=torch.bool).tril() if masked else None
        y = F.scaled_dot_product_attention(query, key, value, mask, enable_gqa=True)
        return y, *appended(key, value, past_keys, past_values)

    return attention


def other_keys(
    append,
    shift=lambda L, S, past: S - L,
    see=lambda L, S, shift: torch.ones(L, S, dtype=torch.bool).tril(shift),
    repeat=lambda x, n: x.repeat_interleave(n, 1),
    hand_on=lambda new, kept: kept,
):
    """The lesson's solution, with torch's attention, but for what is appended, and one thing more."""

    def attention(query, key, value, past_keys, past_values):
        keys, values = append(past_keys, key), append(past_values, value)
        n_rep, L, S = query.shape[1] // keys.shape[1], query.shape[2], keys.shape[2]
        mask = see(L, S, shift(L, S, past_keys.shape[2]))
        y = F.scaled_dot_product_attention(query, repeat(keys, n_rep), repeat(values, n_rep), mask)
        return y, *hand_on((key, value), (keys, values))

    return attention


APPENDED_WRONGLY = {
    "past-forgotten": lambda past, new: new,
    "oldest-dropped": lambda past, new: torch.cat([past[:, :, 1:], new], 2),
    "new-token-twice": lambda past, new: torch.cat([past, new, new], 2),
    "new-token-in-front": lambda past, new: torch.cat([new, past], 2),
    "appended-as-heads-then-shared": lambda past, new: torch.cat([past, new], 1),
    "appended-as-features": lambda past, new: torch.cat([past, new], -1),
    "appended-as-texts": lambda past, new: torch.cat([past, new]),
}


def groups_by_modulo(query, key, value, past_keys, past_values):
    keys, values = appended(key, value, past_keys, past_values)
    order = torch.arange(query.shape[1]) % keys.shape[1]
    L, S = query.shape[2], keys.shape[2]
    mask = torch.ones(L, S, dtype=torch.bool).tril(S - L)
    return F.scaled_dot_product_attention(query, keys[:, order], values[:, order], mask), keys, values


def expanded(query, key, value, past_keys, past_values):
    """The axes of group and head the wrong way round."""
    keys, values = appended(key, value, past_keys, past_values)
    N, g, S, d = keys.shape
    n_rep, L = query.shape[1] // g, query.shape[2]
    k, v = (x[:, None].expand(N, n_rep, g, S, d).reshape(N, n_rep * g, S, d) for x in (keys, values))
    return F.scaled_dot_product_attention(query, k, v, torch.ones(L, S, dtype=torch.bool).tril(S - L)), keys, values


def scores_up_to_ten(query, key, value, past_keys, past_values):
    keys, values = appended(key, value, past_keys, past_values)
    n_rep, L, S = query.shape[1] // keys.shape[1], query.shape[2], keys.shape[2]
    scores = (query @ keys.repeat_interleave(n_rep, 1).mT / math.sqrt(query.shape[-1])).clamp(-3, 3)
    scores = scores.masked_fill(~torch.ones(L, S, dtype=torch.bool).tril(S - L), -math.inf)
    return scores.softmax(-1) @ values.repeat_interleave(n_rep, 1), keys, values


def window_of_16(query, key, value, past_keys, past_values):
    see = lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(S - L).triu(S - L - 15)  # noqa: E731
    return by_torch(see)(query, key, value, past_keys, past_values)


WRONG = {
    "cache_bytes": {
        "for a text of 8192": (lambda n, h, g, d, size: 2 * n * g * d * size * 8192, {None}),
        "the whole width": (lambda n, h, g, d, size: 2 * n * h * d * size, {"query-heads"}),
        "in MiB": lambda n, h, g, d, size: 2 * n * g * d * size / 2**20,
        "width over heads": (lambda n, h, g, d, size: 2 * n * g * (d // h) * size, {"width-divided"}),
        "all over heads": (lambda n, h, g, d, size: 2 * n * g * d // h * size, {"width-divided"}),
        "all over heads, truly": (lambda n, h, g, d, size: 2 * n * g * d / h * size, {"width-divided"}),
        "q, k and v of one product": (lambda n, h, g, d, size: n * (h + 2 * g) * d * size, {"queries-kept-too"}),
        "a true division": (lambda n, h, g, d, size: 2 * n * h / g * d * size, {"group-size-with-a-fraction"}),
        "at most 100000": (lambda n, h, g, d, size: min(2 * n * g * d * size, 100000), {None}),
    },
    "cached_attention": {
        "torch's is_causal": (by_torch(is_causal=True), {"triangle-upper-left"}),
        "no mask": (by_torch(dropout_p=0.0), {"nothing-hidden"}),
        "a mask of numbers": (by_torch(lambda L, S: torch.ones(L, S).tril(S - L)), {"mask-of-numbers"}),
        "a mask of numbers from the upper left": (
            by_torch(lambda L, S: torch.ones(L, S).tril()),
            {"triangle-upper-left+mask-of-numbers"},
        ),
        "torch's is_causal, heads apart": (
            heads_apart(is_causal=True),
            {"heads-not-shared-and-triangle-upper-left"},
        ),
        "no mask, heads apart, for torch": (heads_apart(), {"heads-not-shared-and-nothing-hidden"}),
        "no mask, heads apart": (no_mask_heads_apart, {"heads-not-shared-and-nothing-hidden"}),
        "a mask of numbers, heads apart": (
            heads_apart(lambda L, S: torch.ones(L, S).tril(S - L)),
            {"heads-not-shared-and-mask-of-numbers"},
        ),
        "shifted by L": (
            by_torch(lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(L)),
            {"shifted-by-the-new"},
        ),
        "the upper triangle": (
            by_torch(lambda L, S: torch.ones(L, S, dtype=torch.bool).triu(S - L)),
            {"itself-and-later"},
        ),
        "a triangle too wide": (
            by_torch(lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(S - L + 1)),
            {"sees-the-next"},
        ),
        "inverted for torch": (
            by_torch(lambda L, S: torch.ones(L, S, dtype=torch.bool).triu(S - L + 1)),
            {"inverted-in-torch"},
        ),
        "L - S for torch": (
            by_torch(lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(L - S)),
            {"shifted-the-wrong-way-in-torch"},
        ),
        "L - S": (by_hand(lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(L - S)), {"shifted-the-wrong-way"}),
        "one to the left": (by_hand(lambda L, S: ~torch.ones(L, S).triu(S - L).bool()), {"itself-hidden"}),
        "one to the left for torch": (
            by_torch(lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(S - L - 1)),
            {"itself-hidden-in-torch"},
        ),
        "-1e9": (by_hand(fill=-1e9), {"large-negative-for-infinity"}),
        "axis 1": (by_hand(axis=1), {"appended-as-heads-then-shared"}),
        "axis 1 for torch": (by_torch_along_1, {"appended-as-heads-in-torch"}),
        "repeats, then appends": (repeats_then_appends, {"repeated-before-appending"}),
        "rotates again": (rotates_again, {"rotated-again"}),
        "a buffer without a mask": (in_a_buffer, {"empty-slots-behind"}),
        "keeps the prompt alone": (keeps_the_prompt, {"only-the-prompt-handed-on"}),
        "values forgotten": (values_forgotten, {None, "wrong-shape"}),
        "written into the past": written_into_the_past,
        "attends, then appends": (after_the_fact, {"new-tokens-hidden", "nan"}),
        "attends to the new, then appends": (among_the_new(masked=True), {"past-hidden"}),
        "attends to the new without a mask, then appends": (among_the_new(masked=False), {"past-hidden"}),
        **{f"{name}, in the solution": (other_keys(append), {name}) for name, append in APPENDED_WRONGLY.items()},
        **{
            f"{name}, shifted by the past": (other_keys(append, shift=lambda L, S, past: past), {name})
            for name, append in APPENDED_WRONGLY.items()
        },
        **{
            f"past forgotten and {name}": (
                other_keys(APPENDED_WRONGLY["past-forgotten"], **more),
                {"past-forgotten+" + name, name + "+past-forgotten"},
            )
            for name, more in {
                "heads-tiled": {"repeat": lambda x, n: x.repeat(1, n, 1, 1)},
                "handed-on-swapped": {"hand_on": lambda new, kept: kept[::-1]},
                "nothing-hidden": {"see": lambda L, S, shift: None},
                "sees-the-next": {"see": lambda L, S, shift: torch.ones(L, S, dtype=torch.bool).tril(shift + 1)},
            }.items()
        },
        "a mask that hides nothing": (
            by_torch(lambda L, S: torch.ones(L, S, dtype=torch.bool).tril(S)),
            {"nothing-hidden"},
        ),
        "groups by modulo": (groups_by_modulo, {"heads-tiled"}),
        "group and head swapped": (expanded, {"heads-tiled"}),
        "scores up to three": (scores_up_to_ten, {None}),
        "a window of 16": (window_of_16, {None}),
        "float64 alone": (lambda *given: tuple(x.double() for x in right(*given)), {"wrong-dtype"}),
    },
}
