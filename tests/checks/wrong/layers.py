import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    """A right post-norm layer, or a pre-norm one, but for what it is given."""

    def __init__(self, eps=1e-5, norm_first=False, masked_by=lambda mask: mask, finish=lambda y, src: y):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(8, 12), nn.Linear(12, 8)
        self.norm1, self.norm2 = nn.LayerNorm(8, eps=eps), nn.LayerNorm(8, eps=eps)
        self.norm_first, self.masked_by, self.finish = norm_first, masked_by, finish

    def forward(self, src, src_mask=None):
        mask = None if src_mask is None else self.masked_by(src_mask)

        def attend(x):
            return self.self_attn(x, x, x, attn_mask=mask)[0]

        def feed_forward(x):
            return self.linear2(F.relu(self.linear1(x)))

        if self.norm_first:
            x = src + attend(self.norm1(src))
            return self.finish(x + feed_forward(self.norm2(x)), src)
        x = self.norm1(src + attend(src))
        return self.finish(self.norm2(x + feed_forward(x)), src)


WRONG = {
    "pre_norm_by_hand": {
        "text": ("15", {"wrong-kind"}),
        "bytes": (b"15", {"wrong-kind"}),
        "a list": ([15], {"wrong-kind"}),
    },
    "encoder_layer": {
        "an eps of 1e-12": (Layer(eps=1e-12), {None}),
        "an eps of 1e-6": (Layer(eps=1e-6), {None}),
        "an eps of 1e-6, pre-norm": (Layer(eps=1e-6, norm_first=True), {None}),
        "causal wherever there is a mask": (Layer(masked_by=lambda m: torch.ones_like(m).triu(1)), {None}),
        "the mask without its diagonal": (Layer(masked_by=lambda m: m & ~torch.eye(len(m), dtype=torch.bool)), {None}),
        "five tokens": (Layer(finish=lambda y, src: y if src.shape[1] == 5 else src), {None}),
        "squeezed": (Layer(finish=lambda y, src: y.squeeze()), {"wrong-shape"}),
        "two results": (Layer(finish=lambda y, src: (y, src)), {"wrong-type"}),
        "a list": (Layer(finish=lambda y, src: [y]), {"wrong-type"}),
        "the first sentence for all": (Layer(finish=lambda y, src: y[:1].expand_as(y)), {None}),
    },
}
