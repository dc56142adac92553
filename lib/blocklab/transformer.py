"""The layers of a Transformer: attention and a feed-forward network, each inside a residual connection with a norm.

Axis letters: N batch, L position, S position in the encoder's output (the memory), d feature.
Boolean masks have the polarity of torch's layers: True is **not allowed** to be seen, so pass `~causal_mask(L)`.
Norms and attention compute in float32 or wider and round once each; linear maps and sums are in the type of the input.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from blocklab._validation import (
    activate,
    check_activation,
    check_flag,
    check_float,
    check_integer,
    check_matches_weights,
    check_range,
)
from blocklab.attention import MultiheadAttention, check_masks
from blocklab.feed_forward import gelu, relu
from blocklab.normalization import LayerNorm

ACTIVATIONS = {"relu": relu, "gelu": gelu}


class _Layer(nn.Module):
    """The arguments and parts of both layers, in torch's order, so that a seed gives the same weights."""

    sublayers: int

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
        layer = type(self).__name__
        d_model, nhead, dim_feedforward = check_layer_sizes(layer, d_model, nhead, dim_feedforward)
        dropout = check_range(layer, "dropout", dropout, 0, 1)
        layer_norm_eps = check_range(layer, "layer_norm_eps", layer_norm_eps, 0)
        check_flag(layer, batch_first=batch_first, norm_first=norm_first, bias=bias)
        if not batch_first:
            raise ValueError(f"{layer}: expected batch_first to be True, that is (N, L, d_model), got False")
        self.d_model, self.nhead, self.norm_first = d_model, nhead, norm_first
        options = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, **options)
        if self.sublayers == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, **options)
        self.linear1 = nn.Linear(d_model, dim_feedforward, **options)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(dim_feedforward, d_model, **options)
        for number in range(1, self.sublayers + 1):
            self.add_module(f"norm{number}", LayerNorm(d_model, layer_norm_eps, **options))
        for number in range(1, self.sublayers + 1):
            self.add_module(f"dropout{number}", nn.Dropout(dropout))
        self.activation = check_activation(layer, activation, ACTIVATIONS)

    def _residual(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]) -> Tensor:
        """The one place where pre-norm and post-norm differ: the norm inside the residual connection, or after it."""
        return x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))

    def _feed_forward(self, x: Tensor) -> Tensor:
        hidden = activate(type(self).__name__, self.activation, hidden=self.linear1(x))
        return self.linear2(self.dropout(hidden))

    def extra_repr(self) -> str:
        return "pre-norm" if self.norm_first else "post-norm"


class EncoderLayer(_Layer):
    """Self-attention, then a feed-forward network for every position by itself.

        x = src + dropout1(attention(norm1(src)));  y = x + dropout2(ffn(norm2(x)))   pre-norm, norm_first=True
        x = norm1(src + dropout1(attention(src)));  y = norm2(x + dropout2(ffn(x)))   post-norm, the default
        ffn(x) = linear2(dropout(activation(linear1(x))));  the attention weights have dropout too

    src: (N, L, d_model) or (L, d_model), result: its shape and dtype. src_mask: (L, L) or (N * nhead, L, L),
    src_key_padding_mask: (N, L); **True is not allowed** to be seen, a float is added. is_causal only states that
    src_mask is causal, and requires it. activation: "relu", "gelu" or a function.

    Arguments and state_dict keys are those of torch.nn.TransformerEncoderLayer, but batch_first=True, and a fully
    masked row is finite, and the same in training and evaluation. Raises ValueError for batch_first=False, an unknown
    activation and wrong shapes, TypeError for integer tensors. Sources: arXiv:1706.03762; pre-norm arXiv:2002.04745

    >>> EncoderLayer(8, 2, 32)(torch.ones(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    sublayers = 2

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        check_sequence("EncoderLayer", self.d_model, self.linear1, src=src)
        masks = {"src_mask": src_mask, "src_key_padding_mask": src_key_padding_mask, "is_causal": is_causal}
        check_masks("EncoderLayer", self.nhead, src, src, **masks)

        def attention(x: Tensor) -> Tensor:
            y, _ = self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)
            return self.dropout1(y)

        x = self._residual(src, attention, self.norm1)
        return self._residual(x, lambda x: self.dropout2(self._feed_forward(x)), self.norm2)


class DecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output, then a feed-forward network for every position by itself.

        x = tgt + dropout1(self_attention(norm1(tgt)))                pre-norm; post-norm applies each norm after its
        x = x + dropout2(attention(norm2(x), memory, memory))         sum, as in `EncoderLayer`
        y = x + dropout3(ffn(norm3(x)))

    tgt: (N, L, d_model), memory: (N, S, d_model), both without N for one sequence; result: shape and dtype of tgt.
    tgt_mask: (L, L), memory_mask: (L, S), or one for each of N * nhead; tgt_key_padding_mask: (N, L),
    memory_key_padding_mask: (N, S). **True is not allowed** to be seen. Nothing is causal without a tgt_mask.

    Arguments and state_dict keys are those of torch.nn.TransformerDecoderLayer, but batch_first=True. Raises
    ValueError for batch_first=False, an unknown activation and wrong shapes, TypeError for integer tensors. Sources:
    arXiv:1706.03762; pre-norm arXiv:2002.04745

    >>> DecoderLayer(8, 2, 32)(torch.ones(1, 3, 8), memory=torch.ones(1, 5, 8)).shape
    torch.Size([1, 3, 8])
    """

    sublayers = 3

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
        check_sequence("DecoderLayer", self.d_model, self.linear1, tgt=tgt, memory=memory)
        if memory.shape[:-2] != tgt.shape[:-2]:
            wanted = ", ".join(map(str, (*tgt.shape[:-2], "S", self.d_model)))
            raise ValueError(f"DecoderLayer: expected memory to have shape ({wanted}), got {tuple(memory.shape)}")
        masks = {"tgt_mask": tgt_mask, "tgt_key_padding_mask": tgt_key_padding_mask, "tgt_is_causal": tgt_is_causal}
        check_masks("DecoderLayer", self.nhead, tgt, tgt, **masks)
        masks = {"memory_mask": memory_mask, "memory_key_padding_mask": memory_key_padding_mask}
        check_masks("DecoderLayer", self.nhead, tgt, memory, **masks, memory_is_causal=memory_is_causal)

        def self_attention(x: Tensor) -> Tensor:
            y, _ = self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)
            return self.dropout1(y)

        def cross_attention(x: Tensor) -> Tensor:
            y, _ = self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask)
            return self.dropout2(y)

        x = self._residual(tgt, self_attention, self.norm1)
        x = self._residual(x, cross_attention, self.norm2)
        return self._residual(x, lambda x: self.dropout3(self._feed_forward(x)), self.norm3)


def check_layer_sizes(layer: str, d_model: int, nhead: int, dim_feedforward: int) -> tuple[int, int, int]:
    """The sizes of a layer as integers."""
    d_model = check_integer(layer, "d_model", d_model, 1)
    nhead = check_integer(layer, "nhead", nhead, 1)
    dim_feedforward = check_integer(layer, "dim_feedforward", dim_feedforward, 1)
    if d_model % nhead:
        raise ValueError(f"{layer}: expected nhead to divide d_model {d_model}, got {nhead}")
    return d_model, nhead, dim_feedforward


def check_sequence(layer: str, d_model: int, linear: nn.Module, **sequences: Tensor) -> None:
    """Check for (N, L, d_model) or (L, d_model), of the type and on the device of the linear layer."""
    check_float(layer, **sequences)
    for name, x in sequences.items():
        if x.dim() not in (2, 3) or x.shape[-1] != d_model:
            wanted = f"(N, L, {d_model}) or (L, {d_model})"
            raise ValueError(f"{layer}: expected {name} to have shape {wanted}, got {tuple(x.shape)}")
    check_matches_weights(layer, linear, **sequences)
