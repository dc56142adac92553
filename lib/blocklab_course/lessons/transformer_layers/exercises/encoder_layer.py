"""Known mistakes of `encoder_layer`, a Module with the weights of torch's nn.TransformerEncoderLayer."""

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from blocklab import transformer
from blocklab_course.checks.case import Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import AnyError, exclusive, with_section, wrong
from blocklab_course.checks.modules import UnsupportedModule, copy_module, load_weights
from blocklab_course.checks.outcome import CannotCompare, Unsupported, is_close, to_plain
from blocklab_course.checks.timeout import Interrupted
from blocklab_course.i18n import Text

from .norm_order import (
    BY_HAND,
    CHAIN_MISTAKES,
    NORMS_MISTAKES,
    PANEL,
    POST_NORM_MISTAKES,
    SUBLAYERS_MISTAKES,
    Half,
    as_it_is,
    attention_first,
    norm_inside,
    norm_outside,
    nothing_carried,
    one_after_the_other,
    post_norm,
    without_norm1,
    without_norm2,
)

SAME = 1e-5  # the tolerance up to which two results are one
D_MODEL, HEADS, HIDDEN = 8, 2, 12
SIZES = f"`d_model={D_MODEL}, nhead={HEADS}, dim_feedforward={HIDDEN}`"
WEIGHTS = {
    "self_attn.in_proj_weight": 0.7 * waves(3 * D_MODEL, D_MODEL),
    "self_attn.in_proj_bias": 0.5 * waves(3 * D_MODEL, start=1.0),
    "self_attn.out_proj.weight": 0.5 * waves(D_MODEL, D_MODEL, start=2.0),
    "self_attn.out_proj.bias": 0.5 * waves(D_MODEL, start=3.0),
    "linear1.weight": 0.5 * waves(HIDDEN, D_MODEL, start=4.0),
    "linear1.bias": 0.5 * waves(HIDDEN, start=5.0),
    "linear2.weight": 0.5 * waves(D_MODEL, HIDDEN, start=6.0),
    "linear2.bias": 0.5 * waves(D_MODEL, start=7.0),
    "norm1.weight": 1 + 0.3 * waves(D_MODEL, start=8.0),
    "norm1.bias": 0.3 * waves(D_MODEL, start=9.0),
    "norm2.weight": 1 + 0.3 * waves(D_MODEL, start=10.0),
    "norm2.bias": 0.3 * waves(D_MODEL, start=11.0),
}


def weights_for(src: Tensor) -> dict[str, Tensor]:
    return {name: weight.to(src.dtype, copy=True) for name, weight in WEIGHTS.items()}


def ours(src: Tensor, norm_first: bool = False, src_mask: Tensor | None = None) -> Tensor:
    """What our own layer gives. On the meta device it draws no random weights, and all of them are replaced."""
    layer = transformer.EncoderLayer(D_MODEL, HEADS, HIDDEN, norm_first=norm_first, device="meta").eval()
    return functional_call(layer, weights_for(src), (src, src_mask))


class TwoCallsDiffer(Exception):
    """The same input gave two results: something random is at work."""


DIFFER = Text(en="two calls in eval mode gave two results", zh="在评估模式下调用两次，结果不同")


def not_begun(module: nn.Module, src: Tensor) -> bool:
    """Whether `forward` still ends in the `...` of the exercise: parts that are missing are then no mistake."""
    try:
        return copy_module(module).eval()(src) is ...
    except Interrupted:
        raise
    except BaseException:
        return False


def count_heads(part: nn.Module) -> int | None:
    """The number of heads, if the part stores it under a usual name."""
    return next((n for name in ("num_heads", "nhead", "n_heads") if type(n := getattr(part, name, None)) is int), None)


def in_eval_mode(module: nn.Module, _exercise: Exercise, arguments: dict[str, object]) -> object:
    """Call the Module in eval mode with our weights, in the norm order of the case.

    A result that is no tensor is given back as it is. Raises CannotCompare for a Module that is not written yet, has
    other names or sizes, or shares weights between its parts, TwoCallsDiffer, and UnsupportedModule for a norm order
    that the Module lacks: it was settled when the Module was made, and setting `norm_first` changes nothing.
    """
    src, norm_first, src_mask = arguments.values()
    weights = weights_for(src)
    try:
        module = load_weights(module, weights, SIZES).eval()
    except CannotCompare:
        if not_begun(module, src):
            raise CannotCompare("not-written-yet", {}) from None
        raise
    if any(count_heads(part) not in (None, HEADS) for part in (module, module.self_attn)):
        raise CannotCompare("other-sizes", {"sizes": SIZES})

    def call() -> Tensor:
        return functional_call(module, weights, (src,) if src_mask is None else (src, src_mask))

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        once, again = to_plain(call()), to_plain(call())
    if isinstance(once, Unsupported):
        return once
    if not is_close(once, again, SAME):
        raise TwoCallsDiffer(str(DIFFER))
    if norm_first == bool(getattr(module, "norm_first", False)):
        return once
    module.norm_first = norm_first
    other = to_plain(call())
    if is_close(other, once, SAME):
        raise UnsupportedModule
    return other


# Attention, in steps of its own


def query_key_value(projected: Tensor) -> tuple[Tensor, ...]:
    return projected.chunk(3, -1)


def into_heads(x: Tensor, heads: int = HEADS) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def one_over_root_of_width(query: Tensor) -> float:
    return 1 / math.sqrt(query.shape[-1])


def blocked(scores: Tensor, mask: Tensor | None, fill: float = -math.inf) -> Tensor:
    return scores if mask is None else scores.masked_fill(mask, fill)


def side_by_side(heads: Tensor) -> Tensor:
    return heads.transpose(-3, -2).flatten(-2)


def attend(
    x: Tensor,
    mask: Tensor | None,
    weights: dict[str, Tensor],
    *,
    bias: Callable = lambda bias: bias,
    roles: Callable = query_key_value,
    split: Callable = into_heads,
    scale: Callable = one_over_root_of_width,
    block: Callable = blocked,
    share: Callable = lambda scores, mask: scores.softmax(-1),
    merge: Callable = side_by_side,
    finish: Callable = F.linear,
) -> Tensor:
    projected = F.linear(x, weights["self_attn.in_proj_weight"], bias(weights["self_attn.in_proj_bias"]))
    query, key, value = (split(part) for part in roles(projected))
    shares = share(block(scale(query) * query @ key.mT, mask), mask)
    return finish(merge(shares @ value), weights["self_attn.out_proj.weight"], weights["self_attn.out_proj.bias"])


def along_the_batch(x: Tensor, mask: Tensor | None, weights: dict[str, Tensor]) -> Tensor:
    return attend(x.transpose(0, 1), mask, weights).transpose(0, 1)


def head_by_head(projected: Tensor) -> tuple[Tensor, ...]:
    return tuple(part.flatten(-2) for part in projected.unflatten(-1, (HEADS, 3, -1)).unbind(-2))


def order_of(norm_first: bool) -> Callable:
    return norm_inside if norm_first else norm_outside


def recipe(
    src: Tensor,
    norm_first: bool = False,
    src_mask: Tensor | None = None,
    *,
    attend: Callable = attend,
    activation: Callable = F.relu,
    end: Callable = as_it_is,
    parts: Callable = attention_first,
    around: Callable = order_of,
    chain: Callable = one_after_the_other,
) -> Tensor:
    w = weights_for(src)

    def feed_forward(x: Tensor) -> Tensor:
        hidden = activation(F.linear(x, w["linear1.weight"], w["linear1.bias"]))
        return end(F.linear(hidden, w["linear2.weight"], w["linear2.bias"]))

    norm1, norm2 = (
        partial(F.layer_norm, normalized_shape=(D_MODEL,), weight=w[f"{name}.weight"], bias=w[f"{name}.bias"])
        for name in ("norm1", "norm2")
    )
    attention = partial(attend, mask=src_mask, weights=w)
    return post_norm(src, attention, feed_forward, norm1, norm2, parts=parts, around=around(norm_first), chain=chain)


def inverted(mask: Tensor | None) -> Tensor | None:
    return mask if mask is None else ~mask


def nothing_where_all_is_hidden(scores: Tensor, mask: Tensor | None) -> Tensor:
    """The shares of torch's `scaled_dot_product_attention`, to which True means allowed."""
    return scores.softmax(-1) if mask is None else scores.softmax(-1) * mask.any(-1, keepdim=True)


def block_inverted(scores: Tensor, mask: Tensor | None) -> Tensor:
    return blocked(scores, inverted(mask), -1e9)


INVERTED = wrong(
    "mask-inverted", attend=partial(attend, block=lambda scores, mask: blocked(scores, inverted(mask)))
).hint(
    en="The mask is used the wrong way round. In this layer True means **not allowed**; for torch's "
    "`scaled_dot_product_attention` it means allowed, and a `~` stands between the two.",
    zh="掩码用反了。在这个层里，True 表示**不允许**看；"
    "而在 torch 的 `scaled_dot_product_attention` 里，True 表示允许，两者互换要加一个 `~`。",
)
MASK_INVERTED = (  # where all is hidden, -inf gives NaN, -1e9 a mean, and torch's attention 0
    INVERTED,
    *(
        INVERTED.spelled(partial(recipe, attend=partial(attend, block=block_inverted, share=share)))
        for share in (lambda scores, mask: scores.softmax(-1), nothing_where_all_is_hidden)
    ),
)

ATTENTION_MISTAKES = (
    wrong("projection-bias-missing", attend=partial(attend, bias=torch.zeros_like)).hint(
        en="The projection to query, key and value leaves out its bias, `in_proj_bias`.",
        zh="计算查询、键和值的投影时，漏掉了偏置 `in_proj_bias`。",
    ),
    wrong("query-and-key-swapped", attend=partial(attend, roles=lambda y: [y.chunk(3, -1)[i] for i in (1, 0, 2)])).hint(
        en="Query and key are swapped. In `in_proj_weight` the rows of the query come first, then key, then value.",
        zh="查询和键弄反了。在 `in_proj_weight` 里，各行依次属于查询、键和值。",
    ),
    wrong("key-and-value-swapped", attend=partial(attend, roles=lambda y: [y.chunk(3, -1)[i] for i in (0, 2, 1)])).hint(
        en="Key and value are swapped. In `in_proj_weight` the rows of the value come last.",
        zh="键和值弄反了。在 `in_proj_weight` 里，值的那些行在最后。",
    ),
    wrong("heads-before-roles", attend=partial(attend, roles=head_by_head)).hint(
        en="You cut the projection into heads first and each head into query, key and value. GPT-NeoX stores its "
        "weights so; torch has all queries first, then all keys, then all values.",
        zh="你先把投影的结果切成各个头，再把每个头切成查询、键和值。"
        "GPT-NeoX 的权重是这样存的；torch 则是先放全部查询，再放全部键，最后放全部值。",
    ),
    wrong(
        "heads-by-view", attend=partial(attend, split=lambda y: y.reshape(*y.shape[:-2], HEADS, y.shape[-2], -1))
    ).hint(
        en="You split the heads by `view` alone, so a head gets pieces of several positions. Split the features, then "
        "`transpose` heads and positions.",
        zh="你只用 `view` 拆出多头，于是一个头里混进了好几个位置的数。"
        "应当先拆分特征轴，再用 `transpose` 交换头的轴和位置轴。",
    ),
    wrong("one-head", attend=partial(attend, split=partial(into_heads, heads=1))).hint(
        en="Your attention has one head. `nhead` is 2 here: each head compares its own slice of the features.",
        zh="你的注意力只有一个头。这里的 `nhead` 是 2：每个头只比较自己那一段特征。",
    ),
    wrong("heads-and-width-swapped", attend=partial(attend, split=partial(into_heads, heads=D_MODEL // HEADS))).hint(
        en="Your attention has 4 heads of width 2. It should have 2 heads of width 4: `nhead` is the number of heads.",
        zh="你的注意力有 4 个宽度为 2 的头。应当是 2 个宽度为 4 的头：`nhead` 是头的个数。",
    ),
    wrong("merged-by-view", attend=partial(attend, merge=lambda y: y.reshape(*y.shape[:-3], y.shape[-2], -1))).hint(
        en="You merge the heads without transposing back, so positions get mixed. Swap heads and positions first.",
        zh="合并多头时，你没有先转置回来，各个位置因此混在了一起。应当先交换头的轴和位置轴。",
    ),
    wrong("scale-missing", attend=partial(attend, scale=lambda query: 1.0)).hint(
        en="The scores are not scaled. Divide them by the root of a head's width, here √4.",
        zh="得分没有缩放。应当除以每个头的宽度的平方根，这里是 √4。",
    ),
    wrong("scale-of-d-model", attend=partial(attend, scale=lambda query: 1 / math.sqrt(D_MODEL))).hint(
        en="You divide the scores by the root of `d_model`. A head adds up fewer products: take the root of its own "
        "width.",
        zh="你把得分除以了 `d_model` 的平方根。每个头的点积没有那么多项，应当用头自己的宽度的平方根。",
    ),
    wrong("scale-of-heads", attend=partial(attend, scale=lambda query: 1 / math.sqrt(HEADS))).hint(
        en="You divide the scores by the root of the number of heads. What counts is how wide a head is, for so many "
        "products are added up in a score.",
        zh="你把得分除以了头的个数的平方根。要看的是每个头有多宽：一个得分就是这么多个乘积之和。",
    ),
    wrong("scale-without-root", attend=partial(attend, scale=lambda query: 1 / query.shape[-1])).hint(
        en="You divide the scores by the width of a head. Divide by its root.",
        zh="你把得分除以了每个头的宽度。应当除以它的平方根。",
    ),
    wrong("mask-ignored", attend=partial(attend, block=lambda scores, mask: scores)).hint(
        en="`src_mask` has no effect: every position still sees all others. Pass it on to attention.",
        zh="`src_mask` 没有起作用：每个位置仍然看得到所有位置。请把它传给注意力。",
    ),
    *MASK_INVERTED,
    wrong(
        "mask-added", attend=partial(attend, block=lambda scores, mask: scores if mask is None else scores + mask)
    ).hint(
        en="You add the boolean mask to the scores, where True counts as 1. It should make them −∞.",
        zh="你把布尔掩码加到了得分上，True 只当作 1。应当让那里的得分变成 −∞。",
    ),
    wrong("masked-with-zero", attend=partial(attend, block=partial(blocked, fill=0.0))).hint(
        en="You set the masked scores to 0, and a score of 0 still gets a share from the softmax. Set them to −∞.",
        zh="你把要屏蔽的得分设成了 0，而得分为 0 的位置经过 softmax 仍有权重。应当设成 −∞。",
    ),
    wrong(
        "masked-after-softmax",
        attend=partial(
            attend,
            block=lambda scores, mask: scores,
            share=lambda scores, mask: blocked(scores.softmax(-1), mask, 0.0),
        ),
    ).hint(
        en="You mask after the softmax, so the shares left over do not add up to 1. Mask the scores before it.",
        zh="你在 softmax 之后才屏蔽，剩下的权重加起来不等于 1。应当在 softmax 之前屏蔽得分。",
    ),
    wrong(
        "always-causal",
        attend=partial(
            attend, block=lambda scores, mask: blocked(scores, torch.ones_like(scores, dtype=torch.bool).triu(1))
        ),
    ).hint(
        en="Your attention is causal whatever `src_mask` says. An encoder sees the whole sentence, unless it is given "
        "a mask.",
        zh="不论 `src_mask` 是什么，你的注意力都只看自己和前面的位置。编码器应当看得到整个句子，除非给了它掩码。",
    ),
    wrong("softmax-over-queries", attend=partial(attend, share=lambda scores, mask: scores.softmax(-2))).hint(
        en="Your softmax runs over the queries. The shares of one query add up to 1 over the keys, the last axis.",
        zh="你的 softmax 是沿查询的轴取的。应当沿键的轴，也就是最后一个轴：一个查询的各个权重加起来等于 1。",
    ),
    wrong("softmax-over-heads", attend=partial(attend, share=lambda scores, mask: scores.softmax(1))).hint(
        en="Your softmax runs over the heads (`dim=1`). It runs over the keys, the last axis.",
        zh="你的 softmax 是沿头的轴取的（`dim=1`）。应当沿键的轴，也就是最后一个轴。",
    ),
    wrong("out-projection-missing", attend=partial(attend, finish=lambda y, weight, bias: y)).hint(
        en="The merged heads are not projected: `out_proj` is never called. It lets the heads exchange what they "
        "found.",
        zh="多头合并之后没有再投影：`out_proj` 一次也没有调用。各个头要靠它交换结果。",
    ),
    wrong("batch-taken-for-positions", attend=along_the_batch).hint(
        en="Your attention runs along the batch axis, so sentences look at each other. `nn.MultiheadAttention` wants "
        "`batch_first=True` for `(N, L, d)`.",
        zh="你的注意力是沿批量轴算的，于是不同的句子互相看到了对方。"
        "输入是 `(N, L, d)` 时，`nn.MultiheadAttention` 要写 `batch_first=True`。",
    ),
)


def only_queries_normalized(src: Tensor, norm_first: bool = False, src_mask: Tensor | None = None) -> Tensor:
    """`self.self_attn(self.norm1(src), src, src)`: in post-norm nothing is normalized there, so nothing is wrong."""
    w = weights_for(src)
    plain = F.linear(src, w["self_attn.in_proj_weight"], w["self_attn.in_proj_bias"])

    def roles(projected: Tensor) -> tuple[Tensor, ...]:
        return query_key_value(projected)[0], *query_key_value(plain)[1:]

    return recipe(src, norm_first, src_mask, attend=partial(attend, roles=roles))


def average_weights(x: Tensor, mask: Tensor | None, weights: dict[str, Tensor]) -> Tensor:
    """The second result of nn.MultiheadAttention."""
    projected = F.linear(x, weights["self_attn.in_proj_weight"], weights["self_attn.in_proj_bias"])
    query, key, _value = (into_heads(part) for part in query_key_value(projected))
    return blocked(one_over_root_of_width(query) * query @ key.mT, mask).softmax(-1).mean(-3)


def as_padding(scores: Tensor, mask: Tensor | None) -> Tensor:
    """The mask handed over as `key_padding_mask`, where torch wants a row for each sentence."""
    if mask is None:
        return scores
    if len(scores) != len(mask):
        raise AnyError
    return blocked(scores, mask[:, None, None])


# These combine with no other mistake: they are rarer, and each step to try costs time.
RARER_IN_ATTENTION = (
    wrong("query-and-value-swapped", attend=partial(attend, roles=lambda y: y.chunk(3, -1)[::-1])).hint(
        en="Query and value are swapped. In `in_proj_weight` the rows of the query come first, then key, then value.",
        zh="查询和值弄反了。在 `in_proj_weight` 里，各行依次属于查询、键和值。",
    ),
    wrong(
        "mask-transposed",
        attend=partial(attend, block=lambda scores, mask: blocked(scores, None if mask is None else mask.mT)),
    ).hint(
        en="The mask is transposed. Its rows are the queries, its columns the keys, like the scores.",
        zh="掩码转置了。它的行是查询，列是键，与得分一致。",
    ),
    wrong("mask-as-padding", attend=partial(attend, block=as_padding)).hint(
        en="You hand `src_mask` on as `key_padding_mask`, which has a row for each sentence. Its rows are the "
        "queries: it goes in as `attn_mask`.",
        zh="你把 `src_mask` 当作 `key_padding_mask` 传了进去，而那里每一行对应一个句子。"
        "它的每一行对应一个查询，应当作为 `attn_mask` 传入。",
    ),
    wrong("weights-for-output", attend=average_weights).hint(
        en="You take the weights of attention for its output. `nn.MultiheadAttention` returns both, the output first.",
        zh="你把注意力的权重当成了输出。`nn.MultiheadAttention` 两样都返回，输出在前。",
    ),
    wrong("output-with-weights", attend=lambda x, mask, weights: (attend(x, mask, weights), None)).hint(
        en="`nn.MultiheadAttention` returns a pair, the output and the weights, and you add the pair. Take the output "
        "alone.",
        zh="`nn.MultiheadAttention` 返回的是一对结果，即输出和权重，而你把这一对直接拿去相加了。请只取输出。",
    ),
)


def two_results(*_arguments: object) -> Tensor:
    raise TwoCallsDiffer(str(DIFFER))


LAYER_MISTAKES = (
    wrong("dropout-in-eval", two_results).hint(
        en="Two calls in eval mode give two results. Dropout is still on: use `nn.Dropout`, or hand "
        "`training=self.training` to `F.dropout`, which drops by default.",
        zh="在评估模式下调用两次，得到两个不同的结果。"
        "Dropout 还开着：请用 `nn.Dropout`，或者给 `F.dropout` 传入 `training=self.training`，不传时它总是开着。",
    ),
    wrong("other-norm-order", around=lambda norm_first: order_of(not norm_first)).hint(
        en="Your layer has the other norm order. `norm_first=False`, the default, is post-norm: the sums are "
        "normalized. With True it is pre-norm.",
        zh="你的层里，归一化的顺序反了。`norm_first=False` 是默认值，即后置归一化（post-norm）：归一化的是相加的结果。"
        "为 True 时才是前置归一化（pre-norm）。",
    ),
    wrong("only-queries-normalized", only_queries_normalized).hint(
        en="In pre-norm your queries come from the normalized `src`, but keys and values from `src` itself. "
        "`self.self_attn` gets the normalized one three times.",
        zh="在前置归一化（pre-norm）里，你的查询来自归一化之后的 `src`，键和值却来自 `src` 本身。"
        "传给 `self.self_attn` 的三个都应当是归一化之后的。",
        hint_line="x = self.norm1(src)",
    ),
    wrong("residual-missing", around=lambda norm_first: nothing_carried(order_of(norm_first))).hint(
        en="There are no residual connections: nothing is carried past the sub-layers. Each adds what it was given.",
        zh="没有残差连接，没有数绕过子层。每一半的输入都应当加到子层的输出上。",
    ),
    wrong("no-norm", around=lambda norm_first: lambda carried, read, sublayer, norm: carried + sublayer(read)).hint(
        en="Neither norm is called, though your layer has both.", zh="你的层里有两个归一化层，却一个也没有调用。"
    ),
    wrong("gelu-for-relu", activation=F.gelu).hint(
        en="Between the linear layers stands GELU. Unless `activation` says so, it is ReLU, as in 2017.",
        zh="两个线性层之间用的是 GELU。除非 `activation` 另有指定，这里应当是 ReLU，与 2017 年的论文一致。",
    ),
    wrong("activation-missing", activation=lambda hidden: hidden).hint(
        en="There is no activation between the linear layers, so the two are no more than one.",
        zh="两个线性层之间没有激活函数，两层合起来只相当于一层。",
    ),
    wrong("relu-last", activation=as_it_is, end=F.relu).hint(
        en="ReLU stands after the second linear layer. It belongs between the two.",
        zh="ReLU 放到了第二个线性层之后。它应当在两个线性层之间。",
    ),
)

RARER_IN_THE_LAYER = (
    wrong("norm1-missing", parts=without_norm1).hint(
        en="`norm1` is never called. It belongs to the half with attention, `norm2` to the other.",
        zh="`norm1` 一次也没有调用。它属于注意力那一半，`norm2` 属于另一半。",
    ),
    wrong("norm2-missing", parts=without_norm2).hint(
        en="`norm2` is never called. It belongs to the half with the feed-forward network, `norm1` to the other.",
        zh="`norm2` 一次也没有调用。它属于前馈网络那一半，`norm1` 属于另一半。",
    ),
    wrong("silu-for-relu", activation=F.silu).hint(
        en="Between the linear layers stands SiLU. Unless `activation` says so, it is ReLU, as in 2017.",
        zh="两个线性层之间用的是 SiLU。除非 `activation` 另有指定，这里应当是 ReLU，与 2017 年的论文一致。",
    ),
    wrong("relu-twice", end=F.relu).hint(
        en="ReLU stands after the second linear layer, too, so the network gives no negative number. It belongs "
        "between the two.",
        zh="第二个线性层之后又用了一次 ReLU，于是前馈网络的输出没有负数。它只应用在两个线性层之间。",
    ),
)


def read_normalized_too(half: Half) -> Half:
    sublayer, norm = half
    return lambda x: sublayer(norm(x)), norm


def plain_sum_carried(one: Half, two: Half) -> tuple[Half, Half]:
    """The first norm stands where only the feed-forward network reads."""
    return (one[0], as_it_is), (lambda h: two[0](one[1](h)), two[1])


def in_post_norm(**steps: Callable) -> Callable:
    """A layer that makes these mistakes in post-norm. In pre-norm it is right."""

    def layer(src: Tensor, norm_first: bool = False, src_mask: Tensor | None = None) -> Tensor:
        return recipe(src, norm_first, src_mask, **({} if norm_first else steps))

    return layer


SAME_PLACES_AS_IN_POST_NORM_LAYER = tuple(
    row.spelled(in_post_norm(around=lambda norm_first, around=row.replaces["around"]: around))
    for row in POST_NORM_MISTAKES
    if row.id in ("normalized-before-adding", "only-the-residual-normalized", "residual-normalized")
)
POST_NORM_PLACES = (
    *SAME_PLACES_AS_IN_POST_NORM_LAYER,
    wrong(
        "read-normalized-too",
        in_post_norm(parts=lambda one, two: (read_normalized_too(one), read_normalized_too(two))),
    ).hint(
        en="The sums are normalized, which is right in post-norm, but the sub-layers read a normalized input as well. "
        "In post-norm they read it as it is.",
        zh="你归一化了相加的结果，在后置归一化（post-norm）里这是对的；但你又归一化了子层的输入。"
        "后置归一化的子层直接读输入。",
    ),
    wrong("attention-reads-normalized-too", in_post_norm(parts=lambda one, two: (read_normalized_too(one), two))).hint(
        en="The sums are normalized, which is right in post-norm, but attention reads a normalized input as well. "
        "In post-norm it reads `src` itself.",
        zh="你归一化了相加的结果，在后置归一化（post-norm）里这是对的；但你又归一化了注意力的输入。"
        "后置归一化的注意力直接读 `src`。",
    ),
    wrong("plain-sum-carried", in_post_norm(parts=plain_sum_carried)).hint(
        en="In post-norm your `norm1` normalizes only what the feed-forward network reads; the second residual "
        "connection carries the plain sum. All that follows should get the normalized one.",
        zh="在后置归一化（post-norm）里，你的 `norm1` 只归一化了前馈网络的输入，"
        "第二个残差连接传递的还是没有归一化的和。后面用的都应当是归一化之后的。",
    ),
)


def almost_flat(place: int) -> Tensor:
    """Tokens that are nearly flat where they meet the norm, so that its ε counts.

    Equal tokens are mixed into themselves, whatever the shares: then attention is one matrix and a bias.
    """
    value, bias = WEIGHTS["self_attn.in_proj_weight"][2 * D_MODEL :], WEIGHTS["self_attn.in_proj_bias"][2 * D_MODEL :]
    out, out_bias = WEIGHTS["self_attn.out_proj.weight"], WEIGHTS["self_attn.out_proj.bias"]
    wanted = 1 + 3e-3 * waves(D_MODEL)
    x = torch.linalg.solve((torch.eye(D_MODEL) + out @ value).double(), (wanted - out @ bias - out_bias).double())
    return x.float().expand(1, place, D_MODEL).clone()


SEEN_BY_FEW = torch.tensor([[0, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0], [1, 1, 0, 1]]).bool()  # True is hidden

EASILY_MADE_HERE = (
    "norm1-twice",
    "norms-swapped",
    "feed-forward-missing",
    "second-residual-missing",
    "second-residual-from-the-start",
    "side-by-side",
)

RARER_HERE = "sublayers-swapped", "halves-swapped", "attention-missing", "first-residual-missing", "third-residual"

ENCODER_LAYER = Exercise(
    name="encoder_layer",
    recipe=recipe,
    kernel=ours,
    module=in_eval_mode,
    only_module=True,
    cases=(
        Case("tokens", {"src": waves(2, 5, 8), "norm_first": False, "src_mask": None}),
        Case("pre-norm", {"src": waves(2, 5, 8), "norm_first": True, "src_mask": None}),
        *(
            Case(name, {"src": waves(2, 5, 8), "norm_first": norm_first, "src_mask": torch.ones(5, 5).triu(1).bool()})
            for name, norm_first in (("causal", False), ("causal, pre-norm", True))
        ),
        Case("not causal", {"src": waves(4, 4, 8), "norm_first": False, "src_mask": SEEN_BY_FEW}),
        Case("not causal, pre-norm", {"src": waves(3, 4, 8), "norm_first": True, "src_mask": SEEN_BY_FEW}),
        Case("one token", {"src": waves(1, 1, 8), "norm_first": False, "src_mask": None}),
        Case("one token, pre-norm", {"src": waves(1, 1, 8), "norm_first": True, "src_mask": None}),
        Case("almost flat", {"src": almost_flat(2), "norm_first": False, "src_mask": None}, tolerance=1e-3),
        Case(
            "almost flat, pre-norm",
            {"src": 1 + 3e-3 * waves(1, 2, 8), "norm_first": True, "src_mask": None},
            tolerance=1e-3,
        ),
        Case("gradient", {"src": waves(2, 5, 8), "norm_first": False, "src_mask": None}, gradient=True),
        Case("gradient, pre-norm", {"src": waves(2, 5, 8), "norm_first": True, "src_mask": None}, gradient=True),
        *(  # with gradients torch's attention takes another way, on which `is_causal` counts for more than the mask
            Case(name, {"src": waves(1, 4, 8), "norm_first": first, "src_mask": SEEN_BY_FEW}, gradient=True)
            for name, first in (("gradient, not causal", False), ("gradient, not causal, pre-norm", True))
        ),
    ),
    mistakes=(
        *LAYER_MISTAKES,
        *ATTENTION_MISTAKES,
        *with_section(BY_HAND, *(row for row in (*NORMS_MISTAKES, *CHAIN_MISTAKES) if row.id in EASILY_MADE_HERE)),
        *exclusive(recipe, *RARER_IN_ATTENTION, *RARER_IN_THE_LAYER),
        *POST_NORM_PLACES,
        *with_section(
            BY_HAND,
            *exclusive(recipe, *(row for row in (*SUBLAYERS_MISTAKES, *CHAIN_MISTAKES) if row.id in RARER_HERE)),
        ),
    ),
    exempt={"axis 2 of size 1": "the layer has eight features", "empty": "nobody reads a batch of no sentence"},
    section=Text(en="Going further: post-norm, and a whole layer", zh="选读：后置归一化，以及完整的一层"),
    panel=PANEL,
    hint_line="x = self.norm1(src + self.self_attn(src, src, src, attn_mask=src_mask)[0])",
)
