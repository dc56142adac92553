"""The layers of a Transformer: attention and a feed-forward network, each inside a residual connection with a norm.

Axis letters: N batch, L position, S position in the encoder's output (the memory), d feature.
Boolean masks have the polarity of torch's layers: True is **not allowed** to be seen. `causal_mask` wants a `~`.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from blocklab.arguments import (
    activate,
    want_activation,
    want_factory,
    want_flag,
    want_float,
    want_integer,
    want_like_weights,
    want_range,
    want_room,
)
from blocklab.attention import MultiheadAttention, want_masks
from blocklab.feed_forward import gelu, relu
from blocklab.normalization import LayerNorm

ACTIVATIONS = {"relu": relu, "gelu": gelu}


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network of every position by itself.

        x = src + dropout1(attention(norm1(src)));  y = x + dropout2(ffn(norm2(x)))   pre-norm, norm_first=True
        x = norm1(src + dropout1(attention(src)));  y = norm2(x + dropout2(ffn(x)))   post-norm, the default
        ffn(x) = linear2(dropout(activation(linear1(x))));  the attention weights drop out too

    src: (N, L, d_model) or (L, d_model), result: its shape and dtype. src_mask: (L, L) or (N * nhead, L, L),
    src_key_padding_mask: (N, L); **True is not allowed** to be seen, a float is added. is_causal says that src_mask is
    causal, and wants it given. activation: "relu", "gelu" or a function. Norms and attention compute in float32 or
    wider and round once each; the linear maps and sums are in the type of src.

    Arguments and state_dict keys are those of torch.nn.TransformerEncoderLayer, but batch_first=True, and a fully
    masked row is the same finite one in training and out of it. Raises ValueError for batch_first=False, another
    activation and wrong shapes, TypeError for integer tensors. Sources: arXiv:1706.03762; pre-norm arXiv:2002.04745
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = True,
        norm_first: bool = False,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        d_model, nhead, dim_feedforward = checked_sizes("EncoderLayer", d_model, nhead, dim_feedforward)
        dropout, layer_norm_eps = _checked_numbers("EncoderLayer", dropout, layer_norm_eps)
        _want_flags("EncoderLayer", batch_first=batch_first, norm_first=norm_first, bias=bias)
        want_factory("EncoderLayer", device, dtype)
        self.d_model, self.nhead = d_model, nhead
        options = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, **options)
        self.linear1 = nn.Linear(d_model, dim_feedforward, **options)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(dim_feedforward, d_model, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **options)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)
        self.activation = want_activation("EncoderLayer", activation, ACTIVATIONS)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        want_sequence("EncoderLayer", self.d_model, self.linear1, self.linear2, src=src)
        masks = {"src_mask": src_mask, "src_key_padding_mask": src_key_padding_mask, "is_causal": is_causal}
        want_masks("EncoderLayer", self.nhead, src, src, **masks)

        def attention(x: Tensor) -> Tensor:
            y, _ = self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)
            return self.dropout1(y)

        def feed_forward(x: Tensor) -> Tensor:
            opened = activate("EncoderLayer", self.activation, hidden=self.linear1(x))
            return self.dropout2(self.linear2(self.dropout(opened)))

        x = _residual(src, attention, self.norm1, self.norm_first)
        return _residual(x, feed_forward, self.norm2, self.norm_first)

    def extra_repr(self) -> str:
        return _norm_order(self.norm_first)


class DecoderLayer(nn.Module):
    """Self-attention, attention to the encoder's output, then a feed-forward network of every position by itself.

        x = tgt + dropout1(self_attention(norm1(tgt)))                pre-norm; post-norm puts each norm around its sum,
        x = x + dropout2(attention(norm2(x), memory, memory))         as in `EncoderLayer`
        y = x + dropout3(ffn(norm3(x)))

    tgt: (N, L, d_model), memory: (N, S, d_model), both without N for one sequence; result: shape and dtype of tgt.
    tgt_mask: (L, L), memory_mask: (L, S), or one for each of N * nhead; tgt_key_padding_mask: (N, L),
    memory_key_padding_mask: (N, S). **True is not allowed** to be seen. Nothing is causal unless tgt_mask says so.
    The types are those of `EncoderLayer`.

    Arguments and state_dict keys are those of torch.nn.TransformerDecoderLayer, but batch_first=True. Raises
    ValueError for batch_first=False, another activation and wrong shapes, TypeError for integer tensors. Sources:
    arXiv:1706.03762; pre-norm arXiv:2002.04745
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = True,
        norm_first: bool = False,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        d_model, nhead, dim_feedforward = checked_sizes("DecoderLayer", d_model, nhead, dim_feedforward)
        dropout, layer_norm_eps = _checked_numbers("DecoderLayer", dropout, layer_norm_eps)
        _want_flags("DecoderLayer", batch_first=batch_first, norm_first=norm_first, bias=bias)
        want_factory("DecoderLayer", device, dtype)
        self.d_model, self.nhead = d_model, nhead
        options = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, **options)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, **options)
        self.linear1 = nn.Linear(d_model, dim_feedforward, **options)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(dim_feedforward, d_model, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **options)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, **options)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)
        self.dropout3 = nn.Dropout(dropout)
        self.activation = want_activation("DecoderLayer", activation, ACTIVATIONS)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        want_sequence("DecoderLayer", self.d_model, self.linear1, self.linear2, tgt=tgt, memory=memory)
        if memory.shape[:-2] != tgt.shape[:-2]:
            wanted = ", ".join(map(str, (*tgt.shape[:-2], "S", self.d_model)))
            raise ValueError(f"DecoderLayer wants memory of shape ({wanted}), got {tuple(memory.shape)}")
        masks = {"tgt_mask": tgt_mask, "tgt_key_padding_mask": tgt_key_padding_mask, "tgt_is_causal": tgt_is_causal}
        want_masks("DecoderLayer", self.nhead, tgt, tgt, **masks)
        masks = {"memory_mask": memory_mask, "memory_key_padding_mask": memory_key_padding_mask}
        want_masks("DecoderLayer", self.nhead, tgt, memory, **masks, memory_is_causal=memory_is_causal)

        def self_attention(x: Tensor) -> Tensor:
            y, _ = self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)
            return self.dropout1(y)

        def cross_attention(x: Tensor) -> Tensor:
            y, _ = self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask)
            return self.dropout2(y)

        def feed_forward(x: Tensor) -> Tensor:
            opened = activate("DecoderLayer", self.activation, hidden=self.linear1(x))
            return self.dropout3(self.linear2(self.dropout(opened)))

        x = _residual(tgt, self_attention, self.norm1, self.norm_first)
        x = _residual(x, cross_attention, self.norm2, self.norm_first)
        return _residual(x, feed_forward, self.norm3, self.norm_first)

    def extra_repr(self) -> str:
        return _norm_order(self.norm_first)


def _residual(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor], norm_first: bool
) -> Tensor:
    """The one place where pre-norm and post-norm differ: the norm inside the residual connection, or around it."""
    return x + sublayer(norm(x)) if norm_first else norm(x + sublayer(x))


def _norm_order(norm_first: bool) -> str:
    return "pre-norm" if norm_first else "post-norm"


def checked_sizes(layer: str, d_model: int, nhead: int, dim_feedforward: int) -> tuple[int, int, int]:
    """The sizes of a layer as integers. Refuses what is not one, too large, or heads that do not divide d_model."""
    d_model = want_integer(layer, "d_model", d_model, 1)
    nhead = want_integer(layer, "nhead", nhead, 1)
    dim_feedforward = want_integer(layer, "dim_feedforward", dim_feedforward, 1)
    if d_model % nhead:
        raise ValueError(f"{layer} wants nhead to divide d_model {d_model}, got {nhead}")
    want_room(layer, "3 x d_model x d_model", 3, d_model, d_model)
    want_room(layer, "d_model x dim_feedforward", d_model, dim_feedforward)
    return d_model, nhead, dim_feedforward


def _checked_numbers(layer: str, dropout: float, layer_norm_eps: float) -> tuple[float, float]:
    return want_range(layer, "dropout", dropout, 0, 1), want_range(layer, "layer_norm_eps", layer_norm_eps, 0)


def _want_flags(layer: str, batch_first: bool, **flags: bool) -> None:
    want_flag(layer, batch_first=batch_first, **flags)
    if not batch_first:
        raise ValueError(f"{layer} wants batch_first=True, that is (N, L, d_model), got False")


def want_sequence(layer: str, d_model: int, *linears: nn.Module, **sequences: Tensor) -> None:
    """Refuse what is not (N, L, d_model) or (L, d_model), of the type of the linear layers and where they lie."""
    want_float(layer, **sequences)
    for name, x in sequences.items():
        if x.dim() not in (2, 3) or x.shape[-1] != d_model:
            wanted = f"(N, L, {d_model}) or (L, {d_model})"
            raise ValueError(f"{layer} wants {name} of shape {wanted}, got {tuple(x.shape)}")
    want_like_weights(layer, *linears, **sequences)
