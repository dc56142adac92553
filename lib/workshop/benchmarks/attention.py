"""How long our attention and layers take beside torch's:  python -m workshop.benchmarks.attention

One thread, float32, all arms in turn in one run, so that what slows the machine slows them all. torch's attention is
one fused kernel that never writes the L x S weights down; ours writes them, so that they can be looked at. In eval and
without gradients torch's layers take a fused way too.
"""

import torch
import torch.nn.functional as F
from torch import nn

from blocklab.attention import MultiheadAttention, causal_mask, scaled_dot_product_attention
from blocklab.transformer import DecoderLayer, EncoderLayer

from .ratios import compare, run

N, HEADS, L, D_MODEL, HIDDEN = 4, 8, 256, 512, 2048
ROUNDS = 21


def layers(our_class, torch_class, **options):
    ours, theirs = our_class(D_MODEL, HEADS, HIDDEN, **options), torch_class(D_MODEL, HEADS, HIDDEN, **options)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def arms():
    """name -> (torch's, [(how, ours, goal or None)])."""
    query, key, value = torch.randn(3, N, HEADS, L, D_MODEL // HEADS)
    x, memory = torch.randn(2, N, L, D_MODEL)
    allowed, hidden = causal_mask(L), ~causal_mask(L)
    torchs, ours = F.scaled_dot_product_attention, scaled_dot_product_attention
    compiled = torch.compile(ours, fullgraph=True)
    mha, torch_mha = MultiheadAttention(D_MODEL, HEADS).eval(), nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
    torch_mha.eval()
    encoder, torch_encoder = layers(EncoderLayer, nn.TransformerEncoderLayer, batch_first=True, dropout=0.0)
    decoder, torch_decoder = layers(DecoderLayer, nn.TransformerDecoderLayer, batch_first=True, dropout=0.0)
    quick, torch_quick = layers(EncoderLayer, nn.TransformerEncoderLayer, batch_first=True, norm_first=True)
    quick.eval(), torch_quick.eval()

    def step(layer, *inputs):
        with torch.enable_grad():
            layer(*inputs).sum().backward()

    return {
        "attention, no mask": (
            lambda: torchs(query, key, value),
            [
                ("as written", lambda: ours(query, key, value), 2.5),
                ("compiled", lambda: compiled(query, key, value), 2.0),
            ],
        ),
        "attention, boolean mask": (
            lambda: torchs(query, key, value, allowed),
            [
                ("as written", lambda: ours(query, key, value, allowed), 3.0),
                ("compiled", lambda: compiled(query, key, value, allowed), 2.0),
            ],
        ),
        "MultiheadAttention, weights": (
            lambda: torch_mha(x, x, x, attn_mask=hidden),
            [("as written", lambda: mha(x, x, x, attn_mask=hidden), 1.5)],
        ),
        "EncoderLayer, eval": (
            lambda: torch_quick(x, hidden),
            [("as written", lambda: quick(x, hidden), 1.3)],
        ),
        "EncoderLayer, train step": (
            lambda: step(torch_encoder, x, hidden),
            [("as written", lambda: step(encoder, x, hidden), 1.3)],
        ),
        "DecoderLayer, train step": (
            lambda: step(torch_decoder, x, memory, hidden),
            [("as written", lambda: step(decoder, x, memory, hidden), 1.3)],
        ),
    }


if __name__ == "__main__":
    sizes = f"N {N}, h {HEADS}, L = S = {L}, d_model {D_MODEL}, dim_feedforward {HIDDEN}, float32"
    run(lambda: compare(arms, sizes, ROUNDS))
