"""How long our attention and layers take compared with torch's.

torch's attention is one fused kernel that never stores the L x S weights; ours stores them for the lessons to show. In
eval mode without gradients torch's layers also take a fused path.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from blocklab.attention import MultiheadAttention, causal_mask, scaled_dot_product_attention
from blocklab.transformer import DecoderLayer, EncoderLayer

from .ratios import Case, case, compare

TINY = {"n": 1, "heads": 2, "length": 4, "d_model": 8, "hidden": 8, "rounds": 2}


def same_weights(reference: nn.Module, ours: nn.Module) -> tuple[nn.Module, nn.Module]:
    ours.load_state_dict(reference.state_dict())
    return reference, ours


def training_step(layer: nn.Module, *inputs: Tensor) -> None:
    with torch.enable_grad():
        layer(*inputs).sum().backward()


def cases(n: int, heads: int, length: int, d_model: int, hidden: int) -> dict[str, Case]:
    query_key_value = torch.randn(3, n, heads, length, d_model // heads)
    x, memory = torch.randn(2, n, length, d_model)
    allowed = causal_mask(length)
    sizes = (d_model, heads, hidden)
    torch_attention, attention = same_weights(
        nn.MultiheadAttention(d_model, heads, batch_first=True).eval(), MultiheadAttention(d_model, heads).eval()
    )
    torch_encoder, encoder = same_weights(
        nn.TransformerEncoderLayer(*sizes, dropout=0.0, batch_first=True),
        EncoderLayer(*sizes, dropout=0.0, batch_first=True),
    )
    torch_decoder, decoder = same_weights(
        nn.TransformerDecoderLayer(*sizes, dropout=0.0, batch_first=True),
        DecoderLayer(*sizes, dropout=0.0, batch_first=True),
    )
    torch_pre_norm, pre_norm = same_weights(
        nn.TransformerEncoderLayer(*sizes, batch_first=True, norm_first=True).eval(),
        EncoderLayer(*sizes, batch_first=True, norm_first=True).eval(),
    )
    sdpa = F.scaled_dot_product_attention, scaled_dot_product_attention
    return {
        "attention, no mask": case(*sdpa, *query_key_value, goals=(2.5, 2.0)),
        "attention, boolean mask": case(*sdpa, *query_key_value, allowed, goals=(3.0, 2.0)),
        "MultiheadAttention, weights": case(torch_attention, attention, x, x, x, attn_mask=~allowed, goals=(1.5,)),
        "EncoderLayer, eval": case(torch_pre_norm, pre_norm, x, ~allowed, goals=(1.3,)),
        "EncoderLayer, training step": case(
            partial(training_step, torch_encoder), partial(training_step, encoder), x, ~allowed, goals=(1.3,)
        ),
        "DecoderLayer, training step": case(
            partial(training_step, torch_decoder), partial(training_step, decoder), x, memory, ~allowed, goals=(1.3,)
        ),
    }


def main(
    n: int = 4, heads: int = 8, length: int = 256, d_model: int = 512, hidden: int = 2048, rounds: int = 21
) -> None:
    sizes = f"N {n}, {heads} heads, L = S = {length}, d_model {d_model}, dim_feedforward {hidden}, float32"
    compare(partial(cases, n, heads, length, d_model, hidden), sizes, rounds)
