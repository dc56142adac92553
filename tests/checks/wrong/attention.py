import math

import torch
import torch.nn.functional as F

from blocklab.attention import causal_mask


def attention(query, key, value, mask=None, fill=-math.inf):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, fill)
    return scores.softmax(-1) @ value


def masked_by(change):
    return lambda query, key, value, mask=None: attention(
        query, key, value, None if mask is None else change(mask, query, key)
    )


def mask_only_if_square(query, key, value, mask=None):
    return attention(query, key, value, mask if query.shape[-2] == key.shape[-2] else None)


def causal_besides(attention):
    def attempt(query, key, value, mask=None):
        causal = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
        return attention(query, key, value, causal if mask is None else mask & causal)

    return attempt


def returning(made_of, fill=-math.inf):
    """Return an attempt that returns something else of the masked scores and the values."""

    def attempt(query, key, value, mask=None):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        return made_of(scores if mask is None else scores.masked_fill(~mask, fill), value)

    return attempt


def one_maximum(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(-1, keepdim=True) @ value


def scores_up_to_ten(query, key, value, mask=None):
    scores = (query @ key.mT / math.sqrt(query.shape[-1])).clamp(-10, 10)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1) @ value


def weights_turned_over(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1).mT @ value


def causal_if_square(query, key, value, mask=None):
    if mask is None and query.shape[-2] == key.shape[-2]:
        mask = causal_mask(query.shape[-2])
    return attention(query, key, value, mask)


def causal_in_heads(query, key, value, mask=None):
    if mask is None and query.dim() == 4:
        mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
    return attention(query, key, value, mask)


def other_where_nothing_is_seen(what):
    return lambda *given: attention(*given).nan_to_num(nan=what)


def zeros_in_float16(*given):
    y = attention(*given)
    return y * 0 if y.dtype == torch.float16 else y


def hidden_by_a_product(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores * mask
        scores = scores.masked_fill(scores == 0, -math.inf)
    return scores.softmax(-1) @ value


def hidden_by_adding(what):
    def added(query, key, value, mask=None):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        return (scores if mask is None else scores + what(mask)).softmax(-1) @ value

    return added


def split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


LONGEST = torch.ones(4096, 4096, dtype=torch.bool).tril()

WRONG = {
    "causal_mask": {
        **{
            f"a buffer of {size}": (lambda length, size=size: LONGEST[:size, :size][:length, :length], {"wrong-shape"})
            for size in (32, 128, 512, 1024, 2048, 4096)
        },
        "a window of 16": (lambda length: causal_mask(length).triu(-15), {None}),
        "a window of 1024": (lambda length: causal_mask(length).triu(-1023), {None}),
        "for batch and heads": (lambda length: causal_mask(length)[None, None], {"more-axes"}),
        "positions in uint8": (lambda length: (p := torch.arange(length) % 256)[:, None] >= p, {None}),
    },
    "attention": {
        "causal besides the mask": (causal_besides(F.scaled_dot_product_attention), {"always-causal"}),
        "causal besides the mask, by hand": (causal_besides(attention), {"always-causal"}),
        "exponentials": (returning(lambda scores, value: scores.exp() @ value), {"exponentials-not-divided"}),
        "logarithms, hidden by -1e9": (
            returning(lambda scores, value: scores.log_softmax(-1) @ value, fill=-1e9),
            {"logarithm-of-softmax"},
        ),
        "the weights": (returning(lambda scores, value: scores.softmax(-1)), {"weights-returned"}),
        "output and weights": (
            returning(lambda scores, value: ((w := scores.softmax(-1)) @ value, w)),
            {"weights-returned-too"},
        ),
        "a mask only if square": (mask_only_if_square, {None}),
        "a mask for a batch": (masked_by(lambda mask, q, k: mask.any(0) if mask.dim() > 2 else mask), {None}),
        "the mask's last row": (
            masked_by(lambda mask, q, k: mask if q.shape[-2] == k.shape[-2] else mask[..., -1:, :]),
            {None},
        ),
        "two axes are a batch and keys": (
            masked_by(lambda mask, q, k: mask[:, None, None] if mask.dim() == 2 and q.dim() == 4 else mask),
            {"raises"},
        ),
        "one maximum for all rows": (one_maximum, {"one-maximum-for-all"}),
        **{
            f"hidden scores of {fill}": (
                lambda *given, fill=fill: attention(*given, fill=fill),
                {"masked-with-a-small-number"},
            )
            for fill in (-1.0, -3.0, -10.0, -20.0, -50.0, -100.0, -1000.0)
        },
        "hidden by the logarithm of nearly 0": (
            hidden_by_adding(lambda mask: (mask + 1e-9).log()),
            {"masked-with-a-small-number"},
        ),
        "hidden by 100 less": (hidden_by_adding(lambda mask: (~mask) * -100.0), {"masked-with-a-small-number"}),
        "hidden by a product": (hidden_by_a_product, {None}),
        "scores up to ten": (scores_up_to_ten, {None}),
        "weights turned over": (weights_turned_over, {"weights-transposed"}),
        "causal if square": (causal_if_square, {None}),
        "causal in heads": (causal_in_heads, {None}),
        "ones where nothing is seen": (other_where_nothing_is_seen(1.0), {None}),
        "zeros in float16": (zeros_in_float16, {None}),
        "always in float32": (
            lambda q, k, v, mask=None: attention(q.float(), k.float(), v.float(), mask),
            {"wrong-dtype"},
        ),
        "causal wherever there is a mask": (
            lambda q, k, v, mask=None: F.scaled_dot_product_attention(q, k, v, is_causal=mask is not None),
            {None},
        ),
    },
    "split_heads": {
        "heads of one feature": (lambda x, h: split(x, h) if h < x.shape[-1] else x[:, None], {"wrong-shape"}),
        "one token as it is": (
            lambda x, h: split(x, h) if x.shape[1] > 1 else x.unflatten(-1, (h, -1)),
            {"wrong-shape"},
        ),
        "squeezed": (lambda x, h: split(x, h).squeeze(), {"wrong-shape"}),
        "many heads the other way round": (lambda x, h: split(x, h) if h < 9 else split(x, h).flip(1), {None}),
    },
}
