"""Attention: every query takes a weighted mean of the values, weighted by how well their keys match it.

Axis letters, besides N batch and d feature:  h head,  L position of a query,  S position of a key and its value.

A boolean mask has one of two polarities, as in torch. In the functions of this module True **takes part**; in the
Modules, here and in `transformer`, True is **not allowed** to: `~` converts one to the other. A floating point mask
means the same everywhere: it is added to the scores, 0 or -inf.

Arithmetic is float32 or wider and rounded once, under autocast too.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from blocklab._validation import (
    autocast,
    autocast_applies,
    check_flag,
    check_float,
    check_integer,
    check_matches_weights,
    check_number,
    check_numel,
    check_one_device,
    check_range,
    check_shape,
    check_tensor,
    upcast,
)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Mix the values, for every query, by how well their keys match it.

        y = dropout(softmax(scale * query @ key.T + mask)) @ value,   scale = 1 / sqrt(d) if None

    query: (*, L, d), key: (*, S, d), value: (*, S, d_v), result: (*, L, d_v) of their dtype. attn_mask: two axes or
    more, which broadcast to (*, L, S); **True takes part**, False does not; a float is added. is_causal: the mask that
    lets query i see keys 0 to i. A query that may see no key gets zeros. dropout_p > 0 drops in evaluation too.
    enable_gqa: (*, h, L, d) with fewer heads in key and value, each of which serves h / heads neighbouring query heads.
    Raises ValueError for a wrong shape, a mask together with is_causal and dropout_p outside [0, 1], TypeError for
    integer tensors and masks and for mixed types.
    Source: Vaswani et al. 2017, arXiv:1706.03762, equation 1; groups: Ainslie et al. 2023, arXiv:2305.13245

    >>> x = torch.eye(2)
    >>> scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
    """
    function = "scaled_dot_product_attention"
    check_float(function, query=query, key=key, value=value)
    query, key, value = autocast(query), autocast(key), autocast(value)
    _check_attention(function, query, key, value)
    dropout_p = check_range(function, "dropout_p", dropout_p, 0, 1)
    check_flag(function, is_causal=is_causal, enable_gqa=enable_gqa)
    scale = None if scale is None else check_number(function, "scale", scale)
    if enable_gqa:
        key, value = (_repeat_heads(function, query, name, x) for name, x in (("key", key), ("value", value)))
    L, S = query.shape[-2], key.shape[-2]
    _common_batch(function, query=query, key=key, value=value)
    if attn_mask is not None:
        _check_mask(function, "attn_mask", attn_mask, query=query)
        _check_broadcast(function, (*_common_batch(function, query=query, key=key), L, S), attn_mask)
    if is_causal:
        if attn_mask is not None:
            raise ValueError(f"{function}: expected attn_mask or is_causal, got both")
        attn_mask = _lower_triangle(L, S, query.device)
    y, _ = _attend(query, key, value, attn_mask, dropout_p, scale)
    return y


def causal_mask(length: int) -> Tensor:
    """The mask with which a position sees itself and those before it: True on and below the diagonal.

    Result: (length, length), boolean, row i for query i. **True takes part**, as in `scaled_dot_product_attention`;
    `MultiheadAttention`, `EncoderLayer` and `DecoderLayer` have it the other way round: use `~causal_mask(length)`.
    Raises ValueError for a length that is negative or beyond 2**15, TypeError for one that is not an integer.

    >>> causal_mask(2)
    tensor([[ True, False],
            [ True,  True]])
    """
    length = check_integer("causal_mask", "length", length, 0)
    check_numel("causal_mask", "length x length", length, length)
    return _lower_triangle(length, length)


def causal_lower_right(L: int, S: int) -> Tensor:
    """The causal mask of the last L of S positions: the last query sees every key.

        query i sees key j  where  j <= i + S - L

    Result: (L, S), boolean. **True takes part**, as in `scaled_dot_product_attention`, whose is_causal starts at the
    upper left instead and would hide keys cached by earlier calls. With L > S the first queries see no key.
    Raises ValueError for a length that is negative or too large, TypeError for one that is not an integer.
    Source: torch.nn.attention.bias.causal_lower_right, which is a tensor subclass

    >>> causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    L, S = check_integer("causal_lower_right", "L", L, 0), check_integer("causal_lower_right", "S", S, 0)
    check_numel("causal_lower_right", "L x S", max(L, 1), max(S, 1))
    return _lower_triangle(L, S, diagonal=S - L)


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    """Repeat each head of keys or values n_rep times, next to each other, so that every head of queries has one.

        y[:, i] = x[:, i // n_rep],   heads 0 1 -> 0 0 0 1 1 1   (tiled, 0 1 0 1 0 1, would mix up the groups)

    x: (*, g, S, d), result: (*, g * n_rep, S, d), a copy.
    Raises ValueError for fewer than three axes and n_rep below 1, TypeError for anything but a float tensor and an
    integer. Source: Ainslie et al. 2023, arXiv:2305.13245; the name: meta-llama/llama, llama/model.py

    >>> repeat_kv(torch.tensor([[[1.0]], [[2.0]]]), 2).flatten()
    tensor([1., 1., 2., 2.])
    """
    check_float("repeat_kv", x=x)
    if x.dim() < 3:
        raise ValueError(f"repeat_kv: expected x to have shape (*, g, S, d), got {tuple(x.shape)}")
    return x.repeat_interleave(check_integer("repeat_kv", "n_rep", n_rep, 1), -3)


# The formula. It returns the weights too, for MultiheadAttention.


def _attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """The result, in the type of value, and the weights (*, L, S) that went into it, in the wide type."""
    if autocast_applies(query):  # autocast would round the factors of both products
        with torch.autocast(query.device.type, enabled=False):
            return _attend(query, key, value, mask, dropout_p, scale)
    scale = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale
    scores = scale * upcast(query) @ upcast(key).mT
    weights = F.dropout(_masked_softmax(scores, mask), dropout_p)
    y = weights @ upcast(value)
    return y.to(value.dtype), weights


def _masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax over the keys that a query may see, and zeros for a query that may see none.

    The softmax of such a row would be 0 / 0 and its gradient NaN: it is left unmasked, and zeroed afterwards.
    """
    if mask is None:
        return scores.softmax(-1)
    if mask.dtype == torch.bool:
        sees_none = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~(mask | sees_none), -math.inf)
    else:
        mask = mask.to(scores.dtype)
        sees_none = (mask == -math.inf).all(-1, keepdim=True)
        scores = scores + mask.masked_fill(sees_none, 0)
    return scores.softmax(-1).masked_fill(sees_none, 0)


def _lower_triangle(L: int, S: int, device: torch.device | None = None, diagonal: int = 0) -> Tensor:
    return torch.ones(L, S, dtype=torch.bool, device=device).tril(diagonal)


def _repeat_heads(function: str, query: Tensor, name: str, x: Tensor) -> Tensor:
    """(*, heads, S, d) with every head repeated until there are as many as in query."""
    if x.dim() < 3 or query.dim() < 3:
        got = f"query of shape {tuple(query.shape)} and {name} of shape {tuple(x.shape)}"
        raise ValueError(f"{function}: expected (*, h, L, d) and (*, heads, S, d) with enable_gqa, got {got}")
    heads, wanted = x.shape[-3], query.shape[-3]
    if heads == 0 or wanted % heads:
        raise ValueError(f"{function}: expected the heads of {name} to divide query's {wanted}, got {heads}")
    return repeat_kv(x, wanted // heads)


# Checks


def _check_attention(function: str, query: Tensor, key: Tensor, value: Tensor) -> None:
    """Check for (*, L, d), (*, S, d) and (*, S, d_v) of the same type."""
    if not query.dtype == key.dtype == value.dtype:
        got = f"{query.dtype}, {key.dtype} and {value.dtype}"
        raise TypeError(f"{function}: expected query, key and value of one dtype, got {got}")
    for name, x in {"query": query, "key": key, "value": value}.items():
        if x.dim() < 2:
            raise ValueError(f"{function}: expected {name} to have a position and a feature axis, got {tuple(x.shape)}")
    if query.shape[-1] != key.shape[-1]:
        got = f"query of shape {tuple(query.shape)} and key of shape {tuple(key.shape)}"
        raise ValueError(f"{function}: expected as many features in query and key, got {got}")
    if key.shape[-2] != value.shape[-2]:
        got = f"key of shape {tuple(key.shape)} and value of shape {tuple(value.shape)}"
        raise ValueError(f"{function}: expected one value for each key, got {got}")


def _common_batch(function: str, **tensors: Tensor) -> torch.Size:
    """The shape to which the axes before the last two broadcast."""
    first, *others = (x.shape[:-2] for x in tensors.values())
    if all(shape == first for shape in others):
        return first  # nearly always: broadcast_shapes takes as long as the scores of one token
    try:
        return torch.broadcast_shapes(first, *others)
    except RuntimeError:
        names, shapes = ", ".join(tensors), ", ".join(str(tuple(x.shape)) for x in tensors.values())
        raise ValueError(f"{function}: expected {names} to agree before the last two axes, got {shapes}") from None


def _check_mask(function: str, name: str, mask: Tensor, **beside: Tensor) -> None:
    """Check for booleans or floats: torch's functions do not agree on the meaning of an integer 1."""
    check_tensor(function, name, mask)
    if not (mask.dtype == torch.bool or mask.is_floating_point()):
        raise TypeError(f"{function}: expected {name} to be boolean or floating point, got {mask.dtype}")
    if type(mask).__name__ == "CausalBias":  # torch.nn.attention.bias, slow to import: a tensor without its elements
        raise TypeError(f"{function}: expected {name} to be a plain tensor, got CausalBias; see causal_lower_right")
    check_one_device(function, **beside, **{name: mask})


def _check_broadcast(function: str, shape: tuple[int, ...], mask: Tensor) -> None:
    """Check that the mask has axes for query and key and does not make the scores larger."""
    if mask.dim() < 2:
        got = tuple(mask.shape)
        raise ValueError(f"{function}: expected attn_mask to have an axis for query and one for key, got {got}")
    fits = mask.dim() <= len(shape) and all(m in (1, n) for m, n in zip(mask.shape, shape[-mask.dim() :], strict=True))
    if not fits:
        raise ValueError(f"{function}: expected attn_mask to broadcast to {shape}, got shape {tuple(mask.shape)}")


class MultiheadAttention(nn.Module):
    """Attention in num_heads parts: project, split the features into heads, attend in each, merge, project.

        head_i = attention(query @ Wq_i.T, key @ Wk_i.T, value @ Wv_i.T),   y = concat(head_1, ..., head_h) @ Wo.T

    query: (N, L, embed_dim), key: (N, S, kdim), value: (N, S, vdim), all without N for one sequence. forward returns
    (y, weights): y (N, L, embed_dim); weights (N, L, S), the mean over heads, or (N, h, L, S) with
    average_attn_weights=False, with dropout in training, or None with need_weights=False. key_padding_mask: (N, S);
    attn_mask: (L, S) or (N * h, L, S). In both **True is not allowed**, a float is added; a query that may see no key
    gets zeros before the last projection. is_causal only states that attn_mask is causal, and requires it. The
    projections are torch's linear, in the type of query.

    Arguments and state_dict keys are those of torch.nn.MultiheadAttention, but batch_first=True. Raises ValueError for
    batch_first=False, add_bias_kv, add_zero_attn, num_heads that does not divide embed_dim and wrong shapes, TypeError
    for integer tensors and masks. Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2

    >>> y, weights = MultiheadAttention(8, 2)(*[torch.ones(1, 3, 8)] * 3)
    >>> y.shape, weights.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 3, 3]))
    """

    attention = staticmethod(scaled_dot_product_attention)  # used if the weights are not needed

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        embed_dim = check_integer("MultiheadAttention", "embed_dim", embed_dim, 1)
        num_heads = check_integer("MultiheadAttention", "num_heads", num_heads, 1)
        kdim = embed_dim if kdim is None else check_integer("MultiheadAttention", "kdim", kdim, 1)
        vdim = embed_dim if vdim is None else check_integer("MultiheadAttention", "vdim", vdim, 1)
        dropout = check_range("MultiheadAttention", "dropout", dropout, 0, 1)
        flags = {"add_bias_kv": add_bias_kv, "add_zero_attn": add_zero_attn, "batch_first": batch_first}
        check_flag("MultiheadAttention", bias=bias, **flags)
        if embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: expected num_heads to divide embed_dim {embed_dim}, got {num_heads}")
        if not batch_first:
            raise ValueError("MultiheadAttention: expected batch_first to be True, that is (N, L, d), got False")
        if add_bias_kv or add_zero_attn:
            raise ValueError("MultiheadAttention: expected add_bias_kv and add_zero_attn to be False, got True")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, True
        self.kdim, self.vdim = kdim, vdim

        # If their widths agree, Wq, Wk and Wv are stacked, as in torch, which also initializes them as one matrix.
        widths = (embed_dim, kdim, vdim)
        packed = len(set(widths)) == 1
        shapes = {f"{name}_proj_weight": (embed_dim, width) for name, width in zip("qkv", widths, strict=True)}
        shapes = {"in_proj_weight": (3 * embed_dim, embed_dim)} if packed else shapes
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            matrix = torch.empty(shapes[name], device=device, dtype=dtype) if name in shapes else None
            self.register_parameter(name, None if matrix is None else nn.Parameter(matrix))
        numbers = torch.empty(3 * embed_dim, device=device, dtype=dtype) if bias else None
        self.register_parameter("in_proj_bias", None if numbers is None else nn.Parameter(numbers))
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Initialize the projections before the heads and zero all biases. As in torch, out_proj.weight stays."""
        for matrix in self._projection_weights():
            nn.init.xavier_uniform_(matrix)
        if self.in_proj_bias is not None:
            nn.init.zeros_(self.in_proj_bias)
            nn.init.zeros_(self.out_proj.bias)

    def _projection_weights(self) -> list[Tensor]:
        """The matrices before the heads: one stack of three, or three."""
        if self.in_proj_weight is not None:
            return [self.in_proj_weight]
        return [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        self._check(query, key, value)
        check_flag("MultiheadAttention", need_weights=need_weights, average_attn_weights=average_attn_weights)
        masks = {"attn_mask": attn_mask, "key_padding_mask": key_padding_mask, "is_causal": is_causal}
        check_masks("MultiheadAttention", self.num_heads, query, key, **masks)
        mask = self._merge_masks(query, key, key_padding_mask, attn_mask)
        inputs = zip((query, key, value), self._projections(), strict=True)
        q, k, v = self._split_heads(*(F.linear(x, weight, bias) for x, (weight, bias) in inputs))
        dropout_p = self.dropout if self.training else 0.0
        if need_weights:
            y, weights = _attend(q, k, v, mask, dropout_p)
            weights = (weights.mean(-3) if average_attn_weights else weights).to(y.dtype)
        else:
            y, weights = self.attention(q, k, v, mask, dropout_p), None
        return self.out_proj(y.transpose(-3, -2).flatten(-2)), weights  # (N, h, L, d) to (N, L, h * d)

    def _projections(self) -> list[tuple[Tensor, Tensor | None]]:
        """Weight and bias of query, key and value."""
        weights = self._projection_weights()
        weights = weights[0].chunk(3) if len(weights) == 1 else weights
        biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return list(zip(weights, biases, strict=True))

    def _split_heads(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each (N, L, h * d) to (N, h, L, d)."""
        return self._split(q), self._split(k), self._split(v)

    def _split(self, x: Tensor) -> Tensor:
        """(N, L, h * d) to (N, h, L, d): the heads are neighbouring slices of the features."""
        return x.unflatten(-1, (self.num_heads, self.embed_dim // self.num_heads)).transpose(-3, -2)

    def _merge_masks(self, query: Tensor, key: Tensor, padding: Tensor | None, mask: Tensor | None) -> Tensor | None:
        """Both masks as one that broadcasts to (N, h, L, S), in the polarity of the functions: True takes part."""
        *batch, L, S = *query.shape[:-1], key.shape[-2]
        if mask is not None and mask.dim() == 3:
            mask = mask.reshape(*batch, self.num_heads, L, S)
        if padding is not None:
            padding = padding[..., None, None, :]  # (N, 1, 1, S)
        masks = [~m if m.dtype == torch.bool else m for m in (mask, padding) if m is not None]
        return _combine_masks(*masks) if len(masks) == 2 else next(iter(masks), None)

    def _check(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        check_float("MultiheadAttention", query=query, key=key, value=value)
        if query.dim() not in (2, 3) or query.shape[-1] != self.embed_dim:
            wanted, got = f"(N, L, {self.embed_dim}) or (L, {self.embed_dim})", tuple(query.shape)
            raise ValueError(f"MultiheadAttention: expected query to have shape {wanted}, got {got}")
        if key.dim() != query.dim():
            got = f"{tuple(key.shape)} for query of shape {tuple(query.shape)}"
            raise ValueError(f"MultiheadAttention: expected key to have as many axes as query, got {got}")
        rows = (*query.shape[:-2], key.shape[-2])  # (N, S)
        check_shape("MultiheadAttention", (*rows, self.kdim), key=key)
        check_shape("MultiheadAttention", (*rows, self.vdim), value=value)
        check_matches_weights("MultiheadAttention", self._projection_weights()[0], query=query, key=key, value=value)

    def extra_repr(self) -> str:
        widths = "".join(
            f", {name}={width}" for name, width in (("kdim", self.kdim), ("vdim", self.vdim)) if width != self.embed_dim
        )
        bias = self.in_proj_bias is not None
        return f"{self.embed_dim}, {self.num_heads}, dropout={self.dropout}, bias={bias}{widths}"


def check_masks(function: str, heads: int, query: Tensor, key: Tensor, **masks: Tensor | bool | None) -> None:
    """Check masks for query (N, L, d) and key (N, S, d), under the names that the caller has for them.

    masks, in this order: attn_mask, (L, S) or (N * h, L, S); key_padding_mask, (N, S); is_causal.
    """
    (name, mask), (padding_name, padding), (causal, is_causal) = masks.items()
    *batch, L, S = *query.shape[:-1], key.shape[-2]
    check_flag(function, **{causal: is_causal})
    if is_causal and mask is None:
        raise ValueError(f"{function}: expected {name} with {causal}, which only describes it, got None")
    if mask is not None:
        _check_mask(function, name, mask, query=query)
        per_head = (math.prod(batch) * heads, L, S)
        if tuple(mask.shape) not in ((L, S), per_head):
            got = tuple(mask.shape)
            raise ValueError(f"{function}: expected {name} to have shape {(L, S)} or {per_head}, got {got}")
    if padding is not None:
        _check_mask(function, padding_name, padding, query=query)
        check_shape(function, (*batch, S), **{padding_name: padding})


def _combine_masks(mask: Tensor, other: Tensor) -> Tensor:
    """Both masks as one, True takes part: `and` of two boolean ones, else the sum of their floats."""
    if mask.dtype == other.dtype == torch.bool:
        return mask & other
    mask, other = (torch.where(m, 0.0, -math.inf) if m.dtype == torch.bool else upcast(m) for m in (mask, other))
    return mask + other
