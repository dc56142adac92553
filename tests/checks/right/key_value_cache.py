import math

import torch
import torch.nn.functional as F

from blocklab_course.lessons.catalog import EXERCISES


def with_our_functions(query, key, value, past_keys, past_values):
    keys, values = torch.cat((past_keys, key), dim=-2), torch.cat((past_values, value), dim=-2)
    L, S = query.shape[-2], keys.shape[-2]
    mask = torch.ones(L, S, dtype=torch.bool).tril(S - L)
    return F.scaled_dot_product_attention(query, keys, values, mask, enable_gqa=True), keys, values


def of_published_code(xq, xk, xv, cache_k, cache_v):
    """As Meta's: a mask of numbers with zeros in front, and each head repeated by expand and reshape."""
    keys, values = torch.cat([cache_k, xk], dim=2), torch.cat([cache_v, xv], dim=2)
    bsz, n_kv, S, head_dim = keys.shape
    L, start = xq.shape[2], cache_k.shape[2]
    n_rep = xq.shape[1] // n_kv
    k, v = (
        x[:, :, None].expand(bsz, n_kv, n_rep, S, head_dim).reshape(bsz, n_kv * n_rep, S, head_dim)
        for x in (keys, values)
    )
    mask = torch.full((L, L), float("-inf")).triu(diagonal=1)
    mask = torch.hstack([torch.zeros((L, start)), mask]).type_as(xq)
    scores = torch.matmul(xq, k.transpose(2, 3)) / math.sqrt(head_dim) + mask
    return torch.matmul(F.softmax(scores.float(), dim=-1).type_as(xq), v), keys, values


def in_groups(query, key, value, past_keys, past_values):
    """The queries are cut into groups, and nothing is repeated."""
    keys, values = torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)
    N, h, L, d = query.shape
    g, S = keys.shape[1], keys.shape[2]
    grouped = query.reshape(N, g, h // g, L, d)
    scores = torch.einsum("ngrld,ngsd->ngrls", grouped, keys) * d**-0.5
    sees = torch.arange(S) <= torch.arange(S - L, S)[:, None]
    weights = scores.masked_fill(~sees, -torch.inf).softmax(-1)
    return torch.einsum("ngrls,ngsd->ngrld", weights, values).reshape(N, h, L, d), keys, values


def head_by_head(query, key, value, past_keys, past_values):
    keys, values = torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)
    L, S, shared = query.shape[2], keys.shape[2], query.shape[1] // keys.shape[1]
    mask = torch.tril(torch.ones(L, S), diagonal=S - L) == 1
    heads = [
        F.scaled_dot_product_attention(query[:, i], keys[:, i // shared], values[:, i // shared], mask)
        for i in range(query.shape[1])
    ]
    return torch.stack(heads, 1), keys, values


def token_by_token(query, key, value, past_keys, past_values):
    rows = []
    for place in range(query.shape[2]):
        past_keys = torch.cat([past_keys, key[:, :, place : place + 1]], 2)
        past_values = torch.cat([past_values, value[:, :, place : place + 1]], 2)
        one = query[:, :, place : place + 1]
        rows.append(F.scaled_dot_product_attention(one, past_keys, past_values, enable_gqa=True))
    return torch.cat(rows, 2), past_keys, past_values


def mask_only_for_several(query, key, value, past_keys, past_values):
    keys, values = torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)
    n_rep = query.size(1) // keys.size(1)
    att = query @ keys.repeat_interleave(n_rep, dim=1).transpose(-2, -1) / math.sqrt(query.size(-1))
    if query.size(2) > 1:
        future = torch.ones(query.size(2), keys.size(2), dtype=torch.bool).triu(keys.size(2) - query.size(2) + 1)
        att = att.masked_fill(future, float("-inf"))
    return att.softmax(-1) @ values.repeat_interleave(n_rep, dim=1), keys, values


def into_a_buffer(query, key, value, past_keys, past_values):
    """As code with a buffer writes them, at their place."""
    past, L = past_keys.shape[2], query.shape[2]
    keys, values = (
        torch.zeros(*new.shape[:2], past + L, new.shape[3], dtype=new.dtype).slice_scatter(old, 2, 0, past)
        for old, new in ((past_keys, key), (past_values, value))
    )
    keys, values = keys.slice_scatter(key, 2, past), values.slice_scatter(value, 2, past)
    mask = torch.arange(past + L)[None, :] <= past + torch.arange(L)[:, None]
    return F.scaled_dot_product_attention(query, keys, values, mask, enable_gqa=True), keys, values


def as_a_list(*given):
    return list(with_our_functions(*given))


def wide(query, key, value, past_keys, past_values):
    keys, values = torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)
    n_rep = query.shape[1] // keys.shape[1]
    scores = query.double() @ keys.repeat_interleave(n_rep, 1).double().mT / query.shape[-1] ** 0.5
    hide = ~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(scores.shape[-1] - scores.shape[-2])
    weights = scores.masked_fill(hide, -1e30).softmax(-1)
    return (weights @ values.repeat_interleave(n_rep, 1).double()).to(query.dtype), keys, values


def by_addition(layers, heads, kv_heads, head_dim, bytes_each):
    keys = values = layers * kv_heads * head_dim * bytes_each
    return keys + values


def by_a_tensor(n_layer, n_head, n_kv, d, size):
    return torch.zeros(2, n_kv, d, dtype=torch.uint8).nbytes * n_layer * size


RIGHT = {
    "cache_bytes": {
        "ours": EXERCISES["cache_bytes"].recipe,
        "by addition": by_addition,
        "by a tensor": by_a_tensor,
        "a lambda": lambda layers, heads, kv_heads, head_dim, bytes_each: 2 * bytes_each * head_dim * kv_heads * layers,
        "layer by layer": lambda layers, heads, kv_heads, head_dim, bytes_each: sum(
            2 * kv_heads * head_dim * bytes_each for _ in range(layers)
        ),
    },
    "cached_attention": {
        "ours": EXERCISES["cached_attention"].recipe,
        "with torch's attention": with_our_functions,
        "head by head": head_by_head,
        "into a buffer": into_a_buffer,
        "a list": as_a_list,
        "wide": wide,
    },
}
ADVISED = {
    "cached_attention": {
        "Meta's": (of_published_code, ("overflows-in-float16", "float64")),
        "token by token": (token_by_token, ("empty", "slow")),
        "in groups": (in_groups, ("overflows-in-float16",)),
        "a mask only for several": (mask_only_for_several, ("overflows-in-float16",)),
    },
}
