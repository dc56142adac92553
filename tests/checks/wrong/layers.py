import functools

import torch
import torch.nn.functional as F
from torch import nn


class CausalIfMasked(nn.MultiheadAttention):
    """With gradients, torch skips the mask where it is told that it is causal and no weights are wanted."""

    def forward(self, *given, attn_mask):
        return super().forward(*given, attn_mask=attn_mask, is_causal=attn_mask is not None, need_weights=False)


class ReluLast(nn.TransformerEncoderLayer):
    def forward(self, src, src_mask=None):
        x = self.norm1(src + self.self_attn(src, src, src, attn_mask=src_mask)[0])
        return self.norm2(x + F.relu(self.linear2(self.linear1(x))))


class DropoutAlwaysOn(nn.TransformerEncoderLayer):
    def forward(self, src, src_mask=None):
        x = self.norm1(src + F.dropout(self.self_attn(src, src, src, attn_mask=src_mask)[0], 0.1))
        return self.norm2(x + F.dropout(self.linear2(F.dropout(self.linear1(x).relu(), 0.1)), 0.1))


class QueriesNormalized(nn.TransformerEncoderLayer):
    def forward(self, src, src_mask=None):
        x = src + self.self_attn(self.norm1(src), src, src, attn_mask=src_mask)[0]
        return x + self.linear2(self.linear1(self.norm2(x)).relu())


class Layer(nn.Module):
    """A right post-norm layer, or a pre-norm one, but for what it is given."""

    def __init__(
        self,
        eps=1e-5,
        norm_first=False,
        masked_by=lambda mask: mask,
        finish=lambda y, src: y,
        attention=nn.MultiheadAttention,
    ):
        super().__init__()
        self.self_attn = attention(8, 2, batch_first=True)
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


class OwnAttention(nn.MultiheadAttention):
    """Right, where a mask is True for what may be seen and nothing else is given."""

    def __init__(self, *given, fill=None, scale=0.5, **others):
        super().__init__(*given, **others)
        self.fill, self.scale = fill, scale

    def forward(self, x, *_same, attn_mask):
        projected = F.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in projected)
        if self.fill is None:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask, scale=self.scale)
        else:
            scores = q @ k.mT * self.scale
            scores = scores if attn_mask is None else scores.masked_fill(~attn_mask, self.fill)
            y = scores.softmax(-1) @ v
        return (self.out_proj(y.transpose(1, 2).flatten(-2)),)


class NoMaskForOneText(Layer):
    def forward(self, src, src_mask=None):
        return super().forward(src, src_mask if len(src) > 1 else None)


class Halves(Layer):
    """A layer in post-norm, with names for what its halves call."""

    def attend(self, x, mask):
        return self.self_attn(x, x, x, attn_mask=mask, need_weights=False)[0]

    def hidden(self, x):
        return F.relu(self.linear1(x))

    def feed(self, x):
        return self.linear2(self.hidden(x))


def halves(forward, **arguments):
    """A learner's layer with this forward, a function of itself, src and the mask."""
    layer = type("OwnLayer", (Halves,), {"forward": lambda self, src, src_mask=None: forward(self, src, src_mask)})
    return layer(**arguments)


def of_halves(first, second=lambda s, h: s.norm2(h + s.feed(h))):
    return halves(lambda s, x, m: second(s, first(s, x, m)))


def before_and_after(s, x, mask):
    return s.norm1(x + s.attend(s.norm1(x), mask))


def transposed(mask):
    return None if mask is None else mask.T


def right_only_in_pre_norm(s, x, mask):
    if s.norm_first:
        x = x + s.attend(s.norm1(x), mask)
        return x + s.feed(s.norm2(x))
    x = x + s.norm1(s.attend(x, mask))
    return x + s.norm2(s.feed(x))


OWN_LAYERS = {
    "no residual around attention": (of_halves(lambda s, x, m: s.norm1(s.attend(x, m))), "first-residual-missing"),
    "no norm1": (of_halves(lambda s, x, m: x + s.attend(x, m)), "norm1-missing"),
    "no norm2": (of_halves(lambda s, x, m: s.norm1(x + s.attend(x, m)), lambda s, h: h + s.feed(h)), "norm2-missing"),
    "feed-forward first": (
        of_halves(lambda s, x, m: s.norm1((h := s.norm2(x + s.feed(x))) + s.attend(h, m)), lambda s, h: h),
        "halves-swapped",
    ),
    "norms on what the sub-layers give": (
        of_halves(lambda s, x, m: x + s.norm1(s.attend(x, m)), lambda s, h: h + s.norm2(s.feed(h))),
        "normalized-before-adding",
    ),
    "norms on what the sub-layers give, in post-norm": (
        halves(right_only_in_pre_norm, norm_first=True),
        "normalized-before-adding",
    ),
    "norms before and after": (
        of_halves(before_and_after, lambda s, h: s.norm2(h + s.feed(s.norm2(h)))),
        "read-normalized-too",
    ),
    "norm1 before and after": (of_halves(before_and_after), "attention-reads-normalized-too"),
    "norm1 where the network reads": (
        of_halves(lambda s, x, m: x + s.attend(x, m), lambda s, h: s.norm2(h + s.feed(s.norm1(h)))),
        "plain-sum-carried",
    ),
    "SiLU": (
        of_halves(
            lambda s, x, m: s.norm1(x + s.attend(x, m)), lambda s, h: s.norm2(h + s.linear2(F.silu(s.linear1(h))))
        ),
        "silu-for-relu",
    ),
    "ReLU behind both": (
        of_halves(lambda s, x, m: s.norm1(x + s.attend(x, m)), lambda s, h: s.norm2(h + s.feed(h).relu())),
        "relu-twice",
    ),
    "mask transposed": (of_halves(lambda s, x, m: s.norm1(x + s.attend(x, transposed(m)))), "mask-transposed"),
    "mask for padding": (
        of_halves(lambda s, x, m: s.norm1(x + s.self_attn(x, x, x, key_padding_mask=m)[0])),
        "mask-as-padding",
    ),
    "the weights": (of_halves(lambda s, x, m: s.norm1(x + s.self_attn(x, x, x, attn_mask=m)[1])), "weights-for-output"),
    "the pair": (of_halves(lambda s, x, m: s.norm1(x + s.self_attn(x, x, x, attn_mask=m))), "output-with-weights"),
}


class OneNorm(Layer):
    def __init__(self):
        super().__init__()
        self.norm1 = self.norm2


def pre_norm_in_place(x, sublayer, norm):
    y = sublayer(norm(x))
    y += x
    return y


def pre_norm_of_the_function(x, sublayer, norm):
    return x + sublayer(norm)


def norm_of_the_function(x, sublayer, norm):
    return x + norm(sublayer)


def pre_norm_without_sublayer(x, _sublayer, norm):
    return x + norm(x)


def pre_norm_multiplied(x, sublayer, norm):
    return x * sublayer(norm(x))


def pre_norm_subtracted(x, sublayer, norm):
    return x - sublayer(norm(x))


def pre_norm_twice(x, sublayer, norm):
    x = x + sublayer(norm(x))
    return x + sublayer(norm(x))


def sandwich_in_place(x, attention, feed_forward, n1, n2, n3, n4):
    h = n2(attention(n1(x)))
    h += x
    return h + n4(feed_forward(n3(h)))


def sandwich_whose_first_norm_is_the_residual(x, attention, feed_forward, n1, n2, n3, n4):
    h = n1(x)
    h = h + n2(attention(h))
    return h + n4(feed_forward(n3(h)))


def sandwich_whose_third_norm_is_the_residual(x, attention, feed_forward, n1, n2, n3, n4):
    residual = x
    x = residual + n2(attention(n1(x)))
    x = n3(x)
    residual = x
    return residual + n4(feed_forward(x))


def sandwich_reading_through_the_first_norm(x, attention, feed_forward, n1, n2, _n3, n4):
    h = x + n2(attention(n1(x)))
    return h + n4(feed_forward(n1(h)))


def sandwich_ending_in_the_second_norm(x, attention, feed_forward, n1, n2, n3, _n4):
    h = x + n2(attention(n1(x)))
    return h + n2(feed_forward(n3(h)))


def sandwich_added_inside(x, attention, feed_forward, n1, n2, n3, n4):
    h = x + n2(x + attention(n1(x)))
    return h + n4(h + feed_forward(n3(h)))


def sandwich_first_added_inside(x, attention, feed_forward, n1, n2, n3, n4):
    h = x + n2(x + attention(n1(x)))
    return h + n4(feed_forward(n3(h)))


def sandwich_read_through_two(x, attention, feed_forward, n1, n2, n3, n4):
    h = x + attention(n1(x))
    return h + n4(feed_forward(n3(n2(h))))


def sandwich_around_both(x, attention, feed_forward, n1, n2, n3, n4):
    h = n2(attention(n1(x)))
    return x + n4(feed_forward(n3(h)))


def sandwich_with_the_sum_normalized(x, attention, feed_forward, n1, n2, n3, n4):
    h = n2(x + attention(n1(x)))
    return n4(h + feed_forward(n3(h)))


def llamas_layer(x, attention, feed_forward, n1, n2, n3, n4):
    h = x + attention(n1(x))
    return h + feed_forward(n2(h))


def post_norm_in_place(x, attention, feed_forward, norm1, norm2):
    a = attention(x)
    a += x
    h = norm1(a)
    return norm2(h + feed_forward(h))


def post_norm_around_both(x, attention, feed_forward, norm1, norm2):
    return norm2(x + feed_forward(norm1(attention(x))))


def post_norm_without_norm1(x, attention, feed_forward, _norm1, norm2):
    h = x + attention(x)
    return norm2(h + feed_forward(h))


def post_norm_of_the_plain_sum(x, attention, feed_forward, norm1, norm2):
    h = x + attention(x)
    return norm2(h + feed_forward(norm1(h)))


def joined_of_the_second_result(x, attention, swiglu, norm1, norm2, around):
    x = around(x, attention, norm1)
    return around(x, swiglu(x), norm2)


def joined_of_normalized(x, attention, swiglu, norm1, norm2, around):
    x = around(x, attention, norm1(x))
    return around(x, swiglu, norm2(x))


def joined_from_the_first_x(x, attention, swiglu, norm1, norm2, around):
    _y = around(x, attention, norm1)
    return around(x, swiglu, norm2)


def joined_and_added(x, attention, swiglu, norm1, norm2, around):
    x = x + around(x, attention, norm1)
    return x + around(x, swiglu, norm2)


def joined_and_x_added(x, attention, swiglu, norm1, norm2, around):
    return x + around(x + around(x, attention, norm1), swiglu, norm2)


def joined_and_added_first(x, attention, swiglu, norm1, norm2, around):
    return around(x + around(x, attention, norm1), swiglu, norm2)


def joined_and_added_last(x, attention, swiglu, norm1, norm2, around):
    x = around(x, attention, norm1)
    return x + around(x, swiglu, norm2)


def joined_of_the_first_normalized(x, attention, swiglu, norm1, norm2, around):
    return around(around(norm1(x), attention, norm1), swiglu, norm2)


def joined_of_the_second_normalized(x, attention, swiglu, norm1, norm2, around):
    x = around(x, attention, norm1)
    return around(norm2(x), swiglu, norm2)


def joined_reading_through_two_norms(x, attention, swiglu, norm1, norm2, around):
    x = around(x, lambda read: attention(norm1(read)), norm1)
    return around(x, lambda read: swiglu(norm2(read)), norm2)


def joined_with_the_first_swapped(x, attention, swiglu, norm1, norm2, around):
    x = around(x, norm1, attention)
    return around(x, swiglu, norm2)


def joined_with_the_second_swapped(x, attention, swiglu, norm1, norm2, around):
    x = around(x, attention, norm1)
    return around(x, norm2, swiglu)


def joined_around_both(x, attention, swiglu, norm1, norm2, _around):
    return x + swiglu(norm2(attention(norm1(x))))


def joined_in_post_norm(x, attention, swiglu, norm1, norm2, around):
    x = norm1(x + attention(x))
    return norm2(x + swiglu(x))


def joined_without_norms(x, attention, swiglu, norm1, norm2, around):
    return around(around(x, attention), swiglu)


WRONG = {
    "pre_norm": {
        "in place on what the sub-layer gives": (pre_norm_in_place, {"mutates-input"}),
        "twice": (pre_norm_twice, {None}),
        "the sub-layer forgotten": (pre_norm_without_sublayer, {"sublayer-missing"}),
        "multiplied": (pre_norm_multiplied, {"multiplied"}),
        "subtracted": (pre_norm_subtracted, {"subtracted"}),
        "of the function norm": (pre_norm_of_the_function, {"norm-not-called"}),
        "the norm of a function": (norm_of_the_function, {"raises"}),
        "a number": (15, {"wrong-kind"}),
    },
    "sandwich_layer": {
        "in place on what a sub-layer gives": (sandwich_in_place, {"mutates-input"}),
        "the first residual normalized": (sandwich_whose_first_norm_is_the_residual, {"first-residual-normalized"}),
        "the second residual normalized": (sandwich_whose_third_norm_is_the_residual, {"second-residual-normalized"}),
        "the first norm again": (sandwich_reading_through_the_first_norm, {"input-norm-twice"}),
        "the second norm again": (sandwich_ending_in_the_second_norm, {"post-attention-norm-twice"}),
        "x inside and outside": (sandwich_added_inside, {"added-inside-too"}),
        "x inside and outside, first half": (sandwich_first_added_inside, {"added-inside-the-first-too"}),
        "two norms before the second": (sandwich_read_through_two, {"post-attention-norm-too-late"}),
        "one residual around both": (sandwich_around_both, {"one-residual-around-both"}),
        "the sums normalized": (sandwich_with_the_sum_normalized, {"after-the-sum"}),
        "Llama's layer": (llamas_layer, {"only-before+names-as-in-llama"}),
    },
    "smollm2_layer": {
        "the second result handed over": (joined_of_the_second_result, {"results-handed-over"}),
        "normalized x for the norm": (joined_of_normalized, {"results-handed-over"}),
        "the first x again": (joined_from_the_first_x, {"attention-missing"}),
        "x added again": (joined_and_added, {"added-again"}),
        "x added to both": (joined_and_x_added, {"x-added-to-both"}),
        "x added to the first": (joined_and_added_first, {"added-again-to-attention"}),
        "the sum added to the second": (joined_and_added_last, {"added-again-to-swiglu"}),
        "the first x normalized": (joined_of_the_first_normalized, {"first-x-normalized"}),
        "the second x normalized": (joined_of_the_second_normalized, {"second-x-normalized"}),
        "two norms before each": (joined_reading_through_two_norms, {"normalized-twice"}),
        "norm before attention": (joined_with_the_first_swapped, {"attention-and-norm1-swapped"}),
        "norm before swiglu": (joined_with_the_second_swapped, {"swiglu-and-norm2-swapped"}),
        "one residual around both": (joined_around_both, {"one-residual-around-both"}),
        "post-norm": (joined_in_post_norm, {"post-norm"}),
        "no norm handed over": (joined_without_norms, {"raises"}),
    },
    "post_norm_layer": {
        "in place on what a sub-layer gives": (post_norm_in_place, {"mutates-input"}),
        "no first norm": (post_norm_without_norm1, {"norm1-missing"}),
        "the plain sum carried on": (post_norm_of_the_plain_sum, {"plain-sum-carried"}),
        "one residual around both": (post_norm_around_both, {"one-residual-around-both"}),
    },
    "encoder_layer": {
        "ReLU last": (ReluLast(8, 2, 12, batch_first=True), {"relu-last"}),
        "only queries normalized": (
            QueriesNormalized(8, 2, 12, batch_first=True, norm_first=True),
            {"only-queries-normalized"},
        ),
        "dropout always on": (DropoutAlwaysOn(8, 2, 12, batch_first=True), {"dropout-in-eval"}),
        "an eps of 1e-12": (Layer(eps=1e-12), {None}),
        "an eps of 1e-6": (Layer(eps=1e-6), {None}),
        "an eps of 1e-6, pre-norm": (Layer(eps=1e-6, norm_first=True), {None}),
        "causal wherever there is a mask": (Layer(masked_by=lambda m: torch.ones_like(m).triu(1)), {None}),
        "the mask without its diagonal": (Layer(masked_by=lambda m: m & ~torch.eye(len(m), dtype=torch.bool)), {None}),
        "five tokens": (Layer(finish=lambda y, src: y if src.shape[1] == 5 else src), {None}),
        "squeezed": (Layer(finish=lambda y, src: y.squeeze()), {"wrong-shape"}),
        "causal if masked": (Layer(attention=CausalIfMasked), {None}),
        "causal if masked, pre-norm": (Layer(attention=CausalIfMasked, norm_first=True), {None}),
        "no mask for one text": NoMaskForOneText(),
        "no mask for one text, pre-norm": NoMaskForOneText(norm_first=True),
        **{
            f"mask inverted, hidden scores of {fill}{', pre-norm' * first}": (
                Layer(attention=functools.partial(OwnAttention, fill=fill), norm_first=first),
                {"mask-inverted"},
            )
            for fill in (None, -float("inf"), -1e9, -1e4)
            for first in (False, True)
        },
        "divided by the root of the heads": (
            Layer(attention=functools.partial(OwnAttention, scale=2**-0.5), masked_by=lambda mask: ~mask),
            {"scale-of-heads"},
        ),
        **{name: (layer, {mistake}) for name, (layer, mistake) in OWN_LAYERS.items()},
        "one norm for both": (OneNorm(), {"shared-parameters"}),
        "two results": (Layer(finish=lambda y, src: (y, src)), {"wrong-type"}),
        "a list": (Layer(finish=lambda y, src: [y]), {"wrong-type"}),
        "the first sentence for all": (Layer(finish=lambda y, src: y[:1].expand_as(y)), {None}),
    },
}
