"""Placements of the norms in a Transformer layer: before and after its sub-layers, after the sums, inside attention.

Also `dyt`, which replaces a norm without being one. Axis letters: N batch, L position, d feature, h head. Arithmetic of
norms, attention and `dyt` is float32 or wider and rounded once.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from blocklab._validation import (
    activate,
    check_activation,
    check_choice,
    check_flag,
    check_float,
    check_integer,
    check_range,
    check_shape,
    upcast,
)
from blocklab.attention import MultiheadAttention, check_masks
from blocklab.feed_forward import relu
from blocklab.normalization import LayerNorm, RMSNorm
from blocklab.positional_encoding import rotary_embedding
from blocklab.transformer import ACTIVATIONS, check_layer_sizes, check_sequence

Part = Callable[[Tensor], Tensor]


def _post(x: Tensor, attention: Part, feed_forward: Part, norm1: Part, norm2: Part) -> Tensor:
    x = norm1(x + attention(x))
    return norm2(x + feed_forward(x))


def _pre(x: Tensor, attention: Part, feed_forward: Part, norm1: Part, norm2: Part) -> Tensor:
    x = x + attention(norm1(x))
    return x + feed_forward(norm2(x))


def _output(x: Tensor, attention: Part, feed_forward: Part, norm1: Part, norm2: Part) -> Tensor:
    x = x + norm1(attention(x))
    return x + norm2(feed_forward(x))


def _sandwich(
    x: Tensor, attention: Part, feed_forward: Part, norm1: Part, norm2: Part, norm3: Part, norm4: Part
) -> Tensor:
    x = x + norm2(attention(norm1(x)))
    return x + norm4(feed_forward(norm3(x)))


def _parallel(x: Tensor, attention: Part, feed_forward: Part, norm1: Part) -> Tensor:
    read = norm1(x)
    return x + attention(read) + feed_forward(read)


PLACES = {
    "post": (_post, 2),
    "pre": (_pre, 2),
    "output": (_output, 2),
    "sandwich": (_sandwich, 4),
    "parallel": (_parallel, 1),
}
"""The formula of each placement, and its number of norms."""

OVER = "head", "whole"
"""What queries and keys are normalized over: the features of a head, or all of them."""


class NormPlacementLayer(nn.Module):
    """An encoder layer with its norms N placed as `place` says; each norm has weights of its own.

        "post"      x = N(src + attention(src));      y = N(x + ffn(x))        as in the Transformer of 2017
        "pre"       x = src + attention(N(src));      y = x + ffn(N(x))        GPT-2, Llama
        "output"    x = src + N(attention(src));      y = x + N(ffn(x))        OLMo 2, with qk_norm="whole"
        "sandwich"  x = src + N(attention(N(src)));   y = x + N(ffn(N(x)))     Gemma 2
        "parallel"  x = N(src);                       y = src + attention(x) + ffn(x)      GPT-J, Falcon-7B

    ffn(x) = linear2(activation(linear1(x))). src, masks, result and errors are those of `EncoderLayer`, without
    dropout; so are the state_dict keys, but "sandwich" has norm3 and norm4 and "parallel" no norm2. qk_norm: None, or
    what `QKNormAttention` normalizes over. The last layer of a model needs one more norm after it, except with "post".

    Sources: arXiv:1706.03762; pre arXiv:2002.04745; output arXiv:2501.00656; sandwich arXiv:2408.00118

    >>> NormPlacementLayer("sandwich", 8, 2, 32)(torch.ones(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self,
        place: str,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        activation: str | Callable[[Tensor], Tensor] = relu,
        layer_norm_eps: float = 1e-5,
        qk_norm: str | None = None,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        check_choice("NormPlacementLayer", "place", place, *PLACES)
        d_model, nhead, dim_feedforward = check_layer_sizes("NormPlacementLayer", d_model, nhead, dim_feedforward)
        eps = check_range("NormPlacementLayer", "layer_norm_eps", layer_norm_eps, 0)
        if qk_norm is not None:
            check_choice("NormPlacementLayer", "qk_norm", qk_norm, *OVER)
        check_flag("NormPlacementLayer", bias=bias)
        self.place, self.d_model, self.nhead = place, d_model, nhead
        options = {"bias": bias, "device": device, "dtype": dtype}
        if qk_norm is None:
            self.self_attn = MultiheadAttention(d_model, nhead, **options)
        else:
            self.self_attn = QKNormAttention(d_model, nhead, qk_norm, **options)
        self.linear1 = nn.Linear(d_model, dim_feedforward, **options)
        self.linear2 = nn.Linear(dim_feedforward, d_model, **options)
        _, norms = PLACES[place]
        for number in range(1, norms + 1):
            self.add_module(f"norm{number}", LayerNorm(d_model, eps, **options))
        self.activation = check_activation("NormPlacementLayer", activation, ACTIVATIONS)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        check_sequence("NormPlacementLayer", self.d_model, self.linear1, src=src)
        masks = {"src_mask": src_mask, "src_key_padding_mask": src_key_padding_mask, "is_causal": is_causal}
        check_masks("NormPlacementLayer", self.nhead, src, src, **masks)

        def attention(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)[0]

        def feed_forward(x: Tensor) -> Tensor:
            return self.linear2(activate("NormPlacementLayer", self.activation, hidden=self.linear1(x)))

        combine, norms = PLACES[self.place]
        return combine(src, attention, feed_forward, *(getattr(self, f"norm{n}") for n in range(1, norms + 1)))

    def extra_repr(self) -> str:
        return f"place={self.place}"


class QKNormAttention(MultiheadAttention):
    """Attention whose queries and keys are normalized, so that no score grows with their weights.

        q = rotate(N(x @ Wq.T)),  k = rotate(N(x @ Wk.T)),  N = RMSNorm: first the norm, then the rotation

    over="head": N over the features of each head, one weight (d_head,) for all heads (Qwen3, Gemma 3); "whole": over
    all embed_dim features, before they are split (OLMo 2). While the norms' weights are 1, a score q.k / sqrt(d_head)
    is at most sqrt(d_head), or num_heads times that with "whole". rope_base: None, or the base of `rotary_embedding`
    with positions from 0 on; values are neither normalized nor rotated.

    Arguments of forward, masks, result and errors are those of `MultiheadAttention`, and so are the state_dict keys,
    besides q_norm.weight and k_norm.weight. Raises ValueError for an unknown `over` and a negative eps. Sources:
    arXiv:2010.04245 (an l2 norm); per head arXiv:2505.09388; whole arXiv:2501.00656

    >>> QKNormAttention(8, 2, rope_base=10000.0)(*[torch.ones(1, 3, 8)] * 3)[0].shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        over: str = "head",
        rope_base: float | None = None,
        eps: float = 1e-6,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__(embed_dim, num_heads, bias=bias, device=device, dtype=dtype)
        check_choice("QKNormAttention", "over", over, *OVER)
        eps = check_range("QKNormAttention", "eps", eps, 0)
        features = self.embed_dim // self.num_heads
        if rope_base is not None:
            rope_base = check_range("QKNormAttention", "rope_base", rope_base, 1)
            if features % 2:
                raise ValueError(f"QKNormAttention: expected an even number of features per head, got {features}")
        self.over, self.rope_base = over, rope_base
        width = features if over == "head" else self.embed_dim
        self.q_norm = RMSNorm(width, eps, device=device, dtype=dtype)
        self.k_norm = RMSNorm(width, eps, device=device, dtype=dtype)

    def _split_heads(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if self.over == "whole":
            q, k, v = super()._split_heads(self.q_norm(q), self.k_norm(k), v)
        else:
            q, k, v = super()._split_heads(q, k, v)
            q, k = self.q_norm(q), self.k_norm(k)
        if self.rope_base is None:
            return q, k, v
        return self._rotate(q), self._rotate(k), v

    def _rotate(self, x: Tensor) -> Tensor:
        return rotary_embedding(x, torch.arange(x.shape[2], device=x.device), self.rope_base)

    def extra_repr(self) -> str:
        rotated = "" if self.rope_base is None else f", rope_base={self.rope_base}"
        return f"{super().extra_repr()}, over={self.over}{rotated}"


STEEPEST = torch.finfo(torch.float32).max


def dyt(x: Tensor, alpha: float | Tensor = 0.5, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """*Dynamic tanh*: squash every number by itself, in place of a norm.

        y = weight * tanh(alpha * x) + bias

    x: (*, d); weight, bias: (d,); alpha: a number, or a scalar tensor () when learned, whose value is not checked.
    There is no mean and no RMS: a number does not depend on the others of its token, and a larger token gives larger
    numbers, up to 1.
    Raises ValueError for another shape and an alpha beyond float32, TypeError for anything but float tensors and a
    number. Source: Zhu et al. 2025, arXiv:2503.10622

    >>> dyt(torch.tensor([-1.0, 0.0, 1.0, 100.0]))
    tensor([-0.4621,  0.0000,  0.4621,  1.0000])
    """
    check_float("dyt", x=x, or_none={"weight": weight, "bias": bias})
    check_shape("dyt", x.shape[-1:], weight=weight, bias=bias)
    if isinstance(alpha, Tensor):
        check_float("dyt", alpha=alpha)
        check_shape("dyt", (), alpha=alpha)
    else:
        alpha = check_range("dyt", "alpha", alpha, -STEEPEST, STEEPEST)
    y = torch.tanh(alpha * upcast(x))
    y = y if weight is None else y * weight
    return (y if bias is None else y + bias).to(x.dtype)


class DyT(nn.Module):
    """`dyt` of the last axis, with learned alpha, weight and bias, which start at 0.5, ones and zeros.

    state_dict keys and shapes are the paper's: alpha (1,), weight (num_features,), bias (num_features,). Raises
    ValueError for a size below 1 and an alpha beyond float32.

    >>> DyT(4)(torch.tensor([-1.0, 0.0, 1.0, 100.0])).detach()
    tensor([-0.4621,  0.0000,  0.4621,  1.0000])
    """

    def __init__(
        self,
        num_features: int,
        alpha_init_value: float = 0.5,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.num_features = check_integer("DyT", "num_features", num_features, 1)
        start = check_range("DyT", "alpha_init_value", alpha_init_value, -STEEPEST, STEEPEST)
        options = {"device": device, "dtype": dtype}
        self.alpha = nn.Parameter(torch.full((1,), start, **options))
        self.weight = nn.Parameter(torch.ones(self.num_features, **options))
        self.bias = nn.Parameter(torch.zeros(self.num_features, **options))

    def forward(self, x: Tensor) -> Tensor:
        check_float("DyT", x=x)
        if x.shape[-1:] != self.weight.shape:
            raise ValueError(f"DyT: expected x to have shape (*, {self.num_features}), got {tuple(x.shape)}")
        return dyt(x, self.alpha[0], self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{self.num_features}"
