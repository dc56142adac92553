import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

import blocklab.transformer


def pre_norm_as_written(x, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x))
    return x + feed_forward(norm2(x))


def pre_norm_in_a_loop(x, attn, mlp, ln_1, ln_2):
    for sublayer, norm in [(attn, ln_1), (mlp, ln_2)]:
        residual = x
        x = sublayer(norm(x))
        x = residual + x
    return x


def pre_norm_in_place_on_its_own_copy(x, attention, feed_forward, norm1, norm2):
    h = x.clone()
    h += attention(norm1(h.clone()))
    h += feed_forward(norm2(h.clone()))
    return h


def pre_norm_folded(x, attention, feed_forward, norm1, norm2):
    return functools.reduce(lambda h, f: torch.add(h, f[0](f[1](h))), [(attention, norm1), (feed_forward, norm2)], x)


class PreNorm(nn.Module):
    def forward(self, x, attention, feed_forward, norm1, norm2):
        attended = attention(norm1(x))
        return x + attended + feed_forward(norm2(x + attended))


def post_norm_as_written(x, attention, feed_forward, norm1, norm2):
    x = norm1(x + attention(x))
    return norm2(x + feed_forward(x))


def post_norm_in_a_loop(x, attn, mlp, ln_1, ln_2):
    for sublayer, norm in zip((attn, mlp), (ln_1, ln_2), strict=True):
        x = norm(sublayer(x).add(x))
    return x


def post_norm_stacked(x, attention, feed_forward, norm1, norm2):
    h = norm1(torch.stack([x, attention(x)]).sum(0))
    return norm2(torch.stack([h, feed_forward(h)]).sum(0))


class PostNorm(nn.Module):
    def forward(self, x, attention, feed_forward, norm1, norm2):
        residual = x
        x = norm1(attention(x) + residual)
        residual = x
        return norm2(feed_forward(x) + residual)


class WithTorchAttention(nn.Module):
    """torch's attention inside a layer of one's own, post-norm, with Dropout at the usual places."""

    def __init__(self, d_model, nhead, dim_feedforward, dropout=0.1):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, dim_feedforward), nn.Linear(dim_feedforward, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = dropout

    def forward(self, src, mask=None):
        y, _ = self.self_attn(src, src, src, attn_mask=mask, need_weights=False)
        x = self.norm1(src + F.dropout(y, self.dropout, self.training))
        y = self.linear2(F.dropout(F.relu(self.linear1(x)), self.dropout, self.training))
        return self.norm2(x + F.dropout(y, self.dropout, self.training))


class Attention(nn.Module):
    def __init__(self, d_model, nhead):
        super().__init__()
        self.nhead = nhead
        self.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, x, mask):
        shape = (*x.shape[:-1], self.nhead, -1)
        q, k, v = (y.reshape(shape) for y in (x @ self.in_proj_weight.T + self.in_proj_bias).split(x.shape[-1], -1))
        scores = torch.einsum("nqhd,nkhd->nhqk", q, k) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(mask, -1e9)
        return self.out_proj(torch.einsum("nhqk,nkhd->nqhd", scores.softmax(-1), v).flatten(-2))


class WithOwnAttention(nn.Module):
    """Everything from scratch, its norm order kept in `norm_first`."""

    def __init__(self, d_model, nhead, dim_feedforward, norm_first=False):
        super().__init__()
        self.self_attn = Attention(d_model, nhead)
        self.linear1, self.linear2 = nn.Linear(d_model, dim_feedforward), nn.Linear(dim_feedforward, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm_first = norm_first
        self.layer = pre_norm_as_written if norm_first else post_norm_as_written

    def forward(self, src, src_mask=None):
        feed_forward = nn.Sequential(self.linear1, nn.ReLU(), self.linear2)
        return self.layer(src, lambda x: self.self_attn(x, src_mask), feed_forward, self.norm1, self.norm2)


class HeadByHead(WithOwnAttention):
    """torch's scaled dot-product attention, once for each head."""

    def forward(self, src, src_mask=None):
        allowed = None if src_mask is None else ~src_mask

        def attention(x):
            parts = F.linear(x, self.self_attn.in_proj_weight, self.self_attn.in_proj_bias).chunk(3, -1)
            heads = zip(*(part.chunk(self.self_attn.nhead, -1) for part in parts), strict=True)
            found = [F.scaled_dot_product_attention(q, k, v, attn_mask=allowed) for q, k, v in heads]
            return self.self_attn.out_proj(torch.cat(found, -1))

        return self.layer(src, attention, lambda x: self.linear2(self.linear1(x).relu()), self.norm1, self.norm2)


RIGHT = {
    "pre_norm_by_hand": {
        "a formula": 6 + (6 / 2) ** 2,
        "a whole number": 15,
        "a tensor": torch.tensor(15.0),
    },
    "pre_norm_layer": {
        "as written": pre_norm_as_written,
        "in a loop": pre_norm_in_a_loop,
        "in place on its own copy": pre_norm_in_place_on_its_own_copy,
        "folded": pre_norm_folded,
        "a Module": PreNorm(),
        "a lambda": lambda x, a, f, n, m: (h := x + a(n(x))) + f(m(h)),
        "compiled": torch.compile(pre_norm_as_written, backend="eager"),
    },
    "post_norm_layer": {
        "as written": post_norm_as_written,
        "in a loop": post_norm_in_a_loop,
        "stacked": post_norm_stacked,
        "a Module": PostNorm(),
        "a lambda": lambda x, a, f, n, m: m((h := n(x + a(x))) + f(h)),
        "compiled": torch.compile(post_norm_as_written, backend="eager"),
    },
    "encoder_layer": {
        "torch's": nn.TransformerEncoderLayer(8, 2, 12, batch_first=True),
        "torch's, pre-norm": nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, norm_first=True),
        "ours": blocklab.transformer.EncoderLayer(8, 2, 12),
        "ours, pre-norm": blocklab.transformer.EncoderLayer(8, 2, 12, norm_first=True),
        "with torch's attention": WithTorchAttention(8, 2, 12),
        "from scratch": WithOwnAttention(8, 2, 12),
        "from scratch, pre-norm": WithOwnAttention(8, 2, 12, norm_first=True),
        "head by head": HeadByHead(8, 2, 12),
    },
}
ADVISED = {}
