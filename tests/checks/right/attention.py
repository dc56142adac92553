import math

import torch
import torch.nn.functional as F

import blocklab.attention


def triangle(length):
    return torch.tril(torch.ones(length, length)) == 1


def not_above(length):
    return ~torch.ones(length, length, dtype=torch.bool).triu(1)


def by_comparison(length):
    place = torch.arange(length)
    return place[None, :] <= place[:, None]


def through_the_additive_one(length):
    return torch.nn.Transformer.generate_square_subsequent_mask(length) == 0


def row_by_row(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        mask[i].narrow(0, 0, i + 1).fill_(True)
    return mask


def in_float32(query, key, value, mask=None):
    scores = query.float() @ key.float().mT / math.sqrt(query.shape[-1])
    if mask is not None:
        unseen = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask & ~unseen, -math.inf)
        return (scores.softmax(-1).masked_fill(unseen, 0) @ value.float()).to(value.dtype)
    return (scores.softmax(-1) @ value.float()).to(value.dtype)


def wide(query, key, value, mask=None):
    """In float64, with the NaN of an empty row made 0."""
    d = query.shape[-1]
    scores = torch.einsum("...ld,...sd->...ls", query.double(), key.double()) * d**-0.5
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    weights = torch.nan_to_num(F.softmax(scores, dim=-1))
    return torch.einsum("...ls,...sv->...lv", weights, value.double()).to(value.dtype)


def of_a_published_tutorial(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value)


def with_a_number_added(query, key, value, mask=None):
    """As in BERT."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + (1.0 - mask.to(scores.dtype)) * -10000.0
    return scores.softmax(-1) @ value


def with_minus_infinity(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + torch.zeros(mask.shape).masked_fill(mask.logical_not(), float("-inf")).to(scores.dtype)
    return scores.softmax(-1) @ value


def scaled_first(query, key, value, mask=None):
    root = query.shape[-1] ** 0.25
    scores = (query / root) @ (key / root).mT
    scores = scores if mask is None else scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(-1) @ value


def by_exponentials(query, key, value, mask=None):
    weights = torch.exp(query @ key.mT / query.shape[-1] ** 0.5)
    if mask is not None:
        weights = weights * mask
    return (weights / weights.sum(-1, keepdim=True)) @ value


def masked_and_shared_out_again(query, key, value, mask=None):
    weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value


def query_by_query(query, key, value, mask=None):
    rows = []
    for place in range(query.shape[-2]):
        one = None if mask is None else mask.expand(*mask.shape[:-2], query.shape[-2], -1)[..., place : place + 1, :]
        rows.append(F.scaled_dot_product_attention(query[..., place : place + 1, :], key, value, one))
    return torch.cat(rows, -2)


def viewed(x, num_heads):
    N, L, d = x.shape
    return x.view(N, L, num_heads, d // num_heads).transpose(1, 2)


def unflattened(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).movedim(-2, -3)


def stacked(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def selected(x, num_heads):
    """Each head by a matrix of ones and zeros."""
    d = x.shape[-1]
    pick = torch.eye(d, dtype=x.dtype).view(num_heads, d // num_heads, d)
    return torch.einsum("nld,hed->nhle", x, pick)


def through_the_batch(x, num_heads):
    N, L, d = x.shape
    turned = x.transpose(1, 2).reshape(N * num_heads, d // num_heads, L)
    return turned.transpose(1, 2).reshape(N, num_heads, L, d // num_heads)


def token_by_token(x, num_heads):
    tokens = [x.select(1, place).reshape(len(x), num_heads, -1) for place in range(x.shape[1])]
    return torch.stack(tokens, 2)


RIGHT = {
    "causal_mask": {
        "ours": blocklab.attention.causal_mask,
        "a triangle": triangle,
        "not above the diagonal": not_above,
        "by comparison": by_comparison,
        "through the additive one": through_the_additive_one,
        "compiled": torch.compile(by_comparison, backend="eager"),
    },
    "attention": {
        "ours": blocklab.attention.scaled_dot_product_attention,
        "torch": F.scaled_dot_product_attention,
        "in float64": wide,
    },
    "split_heads": {
        "viewed": viewed,
        "unflattened": unflattened,
        "stacked": stacked,
        "selected": selected,
        "through the batch": through_the_batch,
        "a lambda": lambda x, h: x.reshape(*x.shape[:2], h, -1).permute(0, 2, 1, 3).contiguous(),
        "compiled": torch.compile(viewed, backend="eager"),
    },
}
FRAGILE = ("overflows-in-float16", "no-key-to-see")
ADVISED = {
    "causal_mask": {"row by row": (row_by_row, ("slow",))},
    "attention": {
        "of a published tutorial": (of_a_published_tutorial, FRAGILE),
        "in float32": (in_float32, ("float64",)),
        "with minus infinity": (with_minus_infinity, FRAGILE),
        "with a number added": (with_a_number_added, FRAGILE),
        "NaN replaced": (lambda *given: with_minus_infinity(*given).nan_to_num(), FRAGILE[:1]),
        "scaled first": (scaled_first, FRAGILE),
        "by exponentials": (by_exponentials, (*FRAGILE, "large-scores", "scores-far-below-0")),
        "masked and shared out again": (masked_and_shared_out_again, (*FRAGILE, "scores-far-below-0")),
        "query by query": (query_by_query, ("slow", "empty")),
        "compiled": (torch.compile(with_minus_infinity, backend="eager"), FRAGILE),
    },
    "split_heads": {
        "token by token": (token_by_token, ("slow",)),
    },
}
