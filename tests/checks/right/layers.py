import math

import torch
import torch.nn.functional as F
from torch import nn

import blocklab.transformer


def pre_norm_as_written(x, sublayer, norm):
    return x + sublayer(norm(x))


def pre_norm_in_steps(x, f, ln):
    residual = x
    x = ln(x)
    return f(x) + residual


class PreNorm(nn.Module):
    def forward(self, x, sublayer, norm):
        return torch.stack([x, sublayer(norm(x))]).sum(0)


def pre_norm_layer(x, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x))
    return x + feed_forward(norm2(x))


def joined_as_written(x, attention, swiglu, norm1, norm2, around):
    x = around(x, attention, norm1)
    return around(x, swiglu, norm2)


def joined_in_a_loop(x, attention, swiglu, norm1, norm2, around):
    for sublayer, norm in ((attention, norm1), (swiglu, norm2)):
        x = around(x, sublayer, norm)
    return x


def joined_without_around(x, attention, swiglu, norm1, norm2, around):
    h = x + attention(norm1(x))
    return h + swiglu(norm2(h))


class Joined(nn.Module):
    def forward(self, x, attention, swiglu, norm1, norm2, around):
        return joined_as_written(x, attention, swiglu, norm1, norm2, around)


def sandwich_as_written(
    x, attention, feed_forward, input_norm, post_attention_norm, pre_feedforward_norm, post_feedforward_norm
):
    x = x + post_attention_norm(attention(input_norm(x)))
    return x + post_feedforward_norm(feed_forward(pre_feedforward_norm(x)))


def sandwich_as_in_gemma(x, attn, mlp, n1, n2, n3, n4):
    residual = x
    hidden = n2(attn(n1(x)))
    hidden = residual + hidden
    residual = hidden
    hidden = n4(mlp(n3(hidden)))
    return residual + hidden


def sandwich_in_a_loop(x, attn, mlp, *norms):
    for sublayer, before, after in [(attn, *norms[:2]), (mlp, *norms[2:])]:
        x = torch.add(x, after(sublayer(before(x))))
    return x


class Sandwich(nn.Module):
    def forward(self, x, attention, feed_forward, first, second, third, fourth):
        attended = second(attention(first(x)))
        return x + attended + fourth(feed_forward(third(x + attended)))


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
        self.layer = pre_norm_layer if norm_first else post_norm_as_written

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
    "pre_norm": {
        "as written": pre_norm_as_written,
        "in steps": pre_norm_in_steps,
        "in place on its own copy": lambda x, sublayer, norm: x.clone().add_(sublayer(norm(x))),
        "a Module": PreNorm(),
        "compiled": torch.compile(pre_norm_as_written, backend="eager"),
    },
    "sandwich_layer": {
        "as written": sandwich_as_written,
        "as in Gemma": sandwich_as_in_gemma,
        "in a loop": sandwich_in_a_loop,
        "a Module": Sandwich(),
        "a lambda": lambda x, a, f, p, q, r, s: (h := x + q(a(p(x)))) + s(f(r(h))),
        "compiled": torch.compile(sandwich_as_written, backend="eager"),
    },
    "smollm2_layer": {
        "as written": joined_as_written,
        "in a loop": joined_in_a_loop,
        "in one line": lambda x, a, s, n1, n2, around: around(around(x, a, n1), s, n2),
        "by name": lambda x, a, s, n1, n2, around: around(around(x, sublayer=a, norm=n1), sublayer=s, norm=n2),
        "sums of its own": joined_without_around,
        "a Module": Joined(),
        "compiled": torch.compile(joined_as_written, backend="eager"),
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
