"""Known mistakes of `sandwich_layer`, a layer with a norm before and a norm after each sub-layer."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab_course.checks.case import EMPTY_INPUT_ADVICE, Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, with_section, wrong
from blocklab_course.i18n import Text

from .norm_order import (
    BY_HAND,
    FOUR_NORMS,
    IN_THE_HEAD,
    LIKE_A_TRANSFORMER,
    NO_NORM,
    SUBLAYERS_ALONE,
    WHOLE_LAYER_MISTAKES,
    Half,
    Part,
    as_it_is,
    attention_first,
    half_of,
    layer,
    layer_norm_doubled,
    layer_norm_shifted,
    nothing_carried,
    one_after_the_other,
    residual_doubled,
    three_times,
)


def between_two_norms(carried: Tensor, read: Tensor, sublayer: Part, before: Part, after: Part) -> Tensor:
    return carried + after(sublayer(before(read)))


def sandwich(
    x: Tensor,
    attention: Part,
    feed_forward: Part,
    input_norm: Part,
    post_attention_norm: Part,
    pre_feedforward_norm: Part,
    post_feedforward_norm: Part,
    *,
    parts: Callable = attention_first,
    around: Callable = between_two_norms,
    chain: Callable = one_after_the_other,
) -> Tensor:
    halves = (attention, input_norm, post_attention_norm), (feed_forward, pre_feedforward_norm, post_feedforward_norm)
    return layer(x, *halves, parts=parts, around=around, chain=chain)


def as_llama_uses_the_names(one: Half, two: Half) -> tuple[Half, Half]:
    """Llama's `post_attention_layernorm` stands after attention's sum, where the feed-forward network reads."""
    (attention, input_norm, post_attention_norm), (feed_forward, _before, after) = one, two
    return (attention, input_norm, as_it_is), (feed_forward, post_attention_norm, after)


def after_the_sum(carried: Tensor, read: Tensor, sublayer: Part, before: Part, after: Part) -> Tensor:
    return after(carried + sublayer(before(read)))


def normed_carried(carried: Tensor, read: Tensor, sublayer: Part, before: Part, after: Part) -> Tensor:
    return before(carried) + after(sublayer(before(read)))


def added_inside_too(carried: Tensor, read: Tensor, sublayer: Part, before: Part, after: Part) -> Tensor:
    return carried + after(carried + sublayer(before(read)))


def both_where_the_second_half_reads(one: Half, two: Half) -> tuple[Half, Half]:
    """Llama's `post_attention_layernorm`, and behind it the norm that belongs there."""
    (attention, input_norm, post_attention_norm), (feed_forward, before, after) = one, two
    return (attention, input_norm, as_it_is), (feed_forward, lambda h: before(post_attention_norm(h)), after)


def halves_unlike(first: Callable, second: Callable) -> Callable:
    """A whole layer whose halves have their norms in different places."""

    def unlike(x: Tensor, attention: Part, feed_forward: Part, *norms: Part) -> Tensor:
        h = first(x, x, attention, *norms[:2])
        return second(h, h, feed_forward, *norms[2:])

    return unlike


ELSEWHERE = Text(en="What you will meet elsewhere", zh="在别处会遇到什么")
SECOND_HALF = "y = h + post_feedforward_norm(feed_forward(pre_feedforward_norm(h)))"

PLACE_MISTAKES = (
    wrong("only-before", around=lambda carried, read, f, before, after: carried + f(before(read))).hint(
        en="This is pre-norm, Llama's order: two of the four norms are never called. Here what a sub-layer gives is "
        "normalized, too.",
        zh="这是前置归一化（pre-norm），也就是 Llama 的顺序：四个归一化层有两个没有调用。这里子层的输出也要归一化。",
    ),
    wrong("only-after", around=lambda carried, read, f, before, after: carried + after(f(read))).hint(
        en="This is OLMo 2's order: only what a sub-layer gives is normalized. Here what it reads is, too.",
        zh="这是 OLMo 2 的顺序：只归一化子层的输出。这里子层的输入也要归一化。",
    ),
    wrong("after-the-sum", around=after_the_sum).hint(
        en="The second norm normalizes the sum, as in post-norm, and so shrinks what the residual connection carries. "
        "It takes what the sub-layer gives, before x is added.",
        zh="你的第二个归一化作用于相加的结果，就像后置归一化（post-norm）那样，残差连接传递的 x 也跟着变了。"
        "它应当在加上 x 之前，只归一化子层的输出。",
    ),
    wrong("after-the-first-sum", halves_unlike(after_the_sum, between_two_norms)).hint(
        en="`post_attention_norm` normalizes the sum. It takes what attention gives, before x is added; in the second "
        "half you do it so.",
        zh="你的 `post_attention_norm` 归一化的是相加的结果。"
        "它应当在加上 x 之前，只归一化注意力的输出；后一半你就写对了。",
    ),
    wrong("after-the-second-sum", halves_unlike(between_two_norms, after_the_sum)).hint(
        en="`post_feedforward_norm` normalizes the sum. It takes what the feed-forward network gives, before that is "
        "added; in the first half you do it so.",
        zh="你的 `post_feedforward_norm` 归一化的是相加的结果。"
        "它应当在相加之前，只归一化前馈网络的输出；前一半你就写对了。",
        hint_line=SECOND_HALF,
    ),
    wrong("post-norm", around=lambda carried, read, f, before, after: after(carried + f(read))).hint(
        en="This is post-norm, the order of 2017: you normalize the sum. Here the sum stays as it is, and the norms "
        "stand before and after the sub-layer.",
        zh="这是后置归一化（post-norm），即 2017 年的顺序：你归一化的是相加的结果。"
        "这里相加的结果保持不变，归一化在子层的前后各做一次。",
    ),
    wrong("both-before", around=lambda carried, read, f, before, after: carried + f(after(before(read)))).hint(
        en="Both norms stand before the sub-layer, one upon the other. The second takes what the sub-layer gives.",
        zh="两个归一化都放在了子层之前，一个接着一个。第二个应当归一化子层的输出。",
    ),
    wrong("norms-swapped", around=lambda carried, read, f, before, after: carried + before(f(after(read)))).hint(
        en="The norms of a half are swapped: `input_norm` and `pre_feedforward_norm` stand before their sub-layers, "
        "the two with *post* in their names after them.",
        zh="每一半的两个归一化层都用反了：`input_norm` 和 `pre_feedforward_norm` 在子层之前，"
        "名称里带 post 的在子层之后。",
    ),
)
RESIDUAL_MISTAKES = (
    wrong(
        "norms-in-the-stream",
        around=lambda carried, read, f, before, after: after(before(carried) + f(before(read))),
    ).hint(
        en="Your norms stand in the stream itself: what they give is all that goes on. x goes on exactly as it came "
        "in; one norm takes only what the sub-layer reads, the other only what it gives.",
        zh="你的归一化放在了残差流上，往下传的全是归一化之后的数。x 应当原样往下传；"
        "一个归一化只管子层的输入，另一个只管子层的输出。",
    ),
    wrong("residual-normalized", around=normed_carried).hint(
        en="You normalize x and go on from there, so the residual connection carries the normalized x. It carries x "
        "exactly as it came in.",
        zh="你先把 x 归一化，后面用的都是它，连残差连接传递的也是。残差连接应当原样传递 x。",
    ),
    wrong("added-inside-too", around=added_inside_too).hint(
        en="What comes in is added twice in each half, once within the brackets of the second norm. Within them "
        "belongs only what the sub-layer gives.",
        zh="每一半的输入都加了两次，其中一次加在了第二个归一化的括号里。括号里只放子层的输出。",
    ),
    wrong("added-inside-the-first-too", halves_unlike(added_inside_too, between_two_norms)).hint(
        en="x is added twice, once within the brackets of `post_attention_norm`. Within them belongs only what "
        "attention gives.",
        zh="x 进了 `post_attention_norm` 的括号，又在外面加了一次。括号里只放注意力的输出。",
    ),
    wrong("first-residual-normalized", halves_unlike(normed_carried, between_two_norms)).hint(
        en="In the first half you go on from the normalized x. The residual connection carries x exactly as it came "
        "in; only attention reads the normalized one. In the second half you do it so.",
        zh="前一半里，你先把 x 归一化，后面用的都是它。残差连接应当原样传递 x，只有注意力的输入才归一化；"
        "后一半你就写对了。",
    ),
    wrong("second-residual-normalized", halves_unlike(between_two_norms, normed_carried)).hint(
        en="In the second half you go on from the normalized sum. The residual connection carries the first half's sum "
        "as it is; only the feed-forward network reads the normalized one.",
        zh="后一半里，你先把前一半的和归一化，后面用的都是它。残差连接应当原样传递这个和，只有前馈网络的输入才归一化。",
        hint_line=SECOND_HALF,
    ),
    wrong("residual-missing", around=nothing_carried(between_two_norms)).hint(
        en="There are no residual connections: you return what the last norm gives. Add what came in.",
        zh="没有残差连接：你返回的只是最后那个归一化的结果。还要加上原来的输入。",
    ),
    wrong("residual-twice", around=residual_doubled(between_two_norms)).hint(
        en="What comes in is added twice around each sub-layer. Once is right.",
        zh="每个子层外面都把输入加了两次。应当只加一次。",
    ),
)
NAME_MISTAKES = (  # a norm that is missing is a whole of its own: with a wrong place, two mistakes would give the same
    wrong("names-as-in-llama", parts=as_llama_uses_the_names).hint(
        en="You use `post_attention_norm` as Llama uses the norm of that name: on what the feed-forward network reads. "
        "Here it normalizes what attention gives; the feed-forward network reads through `pre_feedforward_norm`.",
        zh="你按 Llama 的用法使用了 `post_attention_norm`：拿它归一化前馈网络的输入。"
        "这里它归一化的是注意力的输出；前馈网络的输入用 `pre_feedforward_norm`。",
    ),
    wrong("post-attention-norm-too-late", partial(sandwich, parts=both_where_the_second_half_reads)).hint(
        en="What the feed-forward network reads is normalized twice, and what attention gives not at all. "
        "`post_attention_norm` comes right after attention, before x is added.",
        zh="前馈网络的输入归一化了两次，注意力的输出却一次也没有。"
        "`post_attention_norm` 应当紧跟在注意力之后，在加上 x 之前。",
    ),
    wrong("input-norm-twice", parts=lambda one, two: (one, (two[0], one[1], two[2]))).hint(
        en="The feed-forward network reads through `input_norm`, which belongs to attention. Its own is "
        "`pre_feedforward_norm`.",
        zh="前馈网络的输入用了 `input_norm`，它属于注意力；这里应当用 `pre_feedforward_norm`。",
        hint_line=SECOND_HALF,
    ),
    wrong("post-attention-norm-twice", parts=lambda one, two: (one, (two[0], two[1], one[2]))).hint(
        en="What the feed-forward network gives goes through `post_attention_norm`, which belongs to attention. Its "
        "own is `post_feedforward_norm`.",
        zh="前馈网络的输出用了 `post_attention_norm`，它属于注意力；这里应当用 `post_feedforward_norm`。",
        hint_line=SECOND_HALF,
    ),
    wrong("middle-norms-swapped", parts=lambda one, two: ((one[0], one[1], two[1]), (two[0], one[2], two[2]))).hint(
        en="The two norms in the middle are swapped: `post_attention_norm` normalizes what attention gives, "
        "`pre_feedforward_norm` what the feed-forward network reads.",
        zh="中间的两个归一化层用反了：`post_attention_norm` 归一化注意力的输出，"
        "`pre_feedforward_norm` 归一化前馈网络的输入。",
    ),
    wrong("norms-of-the-other-half", parts=lambda one, two: ((one[0], *two[1:]), (two[0], *one[1:]))).hint(
        en="Attention has the norms of the feed-forward network, and the other way round.",
        zh="注意力用了前馈网络的归一化层，前馈网络用了注意力的。",
    ),
    wrong("norms-of-attention-twice", parts=lambda one, two: (one, (two[0], *one[1:]))).hint(
        en="Both halves use the norms of attention. Each norm has weights of its own: the second half has two others.",
        zh="两半都用了属于注意力的归一化层。每个归一化层各有自己的权重：后一半另有两个。",
    ),
    wrong("input-norm-missing", partial(sandwich, parts=lambda one, two: ((one[0], as_it_is, one[2]), two))).hint(
        en="`input_norm` is never called: attention reads x as it came in.",
        zh="`input_norm` 一次也没有调用：注意力的输入没有归一化。",
    ),
    wrong(
        "post-attention-norm-missing", partial(sandwich, parts=lambda one, two: ((one[0], one[1], as_it_is), two))
    ).hint(
        en="`post_attention_norm` is never called: what attention gives is added as it is.",
        zh="`post_attention_norm` 一次也没有调用：注意力的输出没有归一化就加上去了。",
    ),
    wrong(
        "pre-feedforward-norm-missing", partial(sandwich, parts=lambda one, two: (one, (two[0], as_it_is, two[2])))
    ).hint(
        en="`pre_feedforward_norm` is never called: the feed-forward network reads the sum as it is.",
        zh="`pre_feedforward_norm` 一次也没有调用：前馈网络的输入没有归一化。",
    ),
    wrong(
        "post-feedforward-norm-missing", partial(sandwich, parts=lambda one, two: (one, (two[0], two[1], as_it_is)))
    ).hint(
        en="`post_feedforward_norm` is never called: what the feed-forward network gives is added as it is.",
        zh="`post_feedforward_norm` 一次也没有调用：前馈网络的输出没有归一化就加上去了。",
    ),
)


def a_tenth(x: Tensor) -> Tensor:
    return x / 10


def plus_one(x: Tensor) -> Tensor:
    return x + 1


def layer_norm_halved(x: Tensor) -> Tensor:
    return 0.5 * F.layer_norm(x, x.shape[-1:])


def layer_norm_turned(x: Tensor) -> Tensor:
    return 1 - F.layer_norm(x, x.shape[-1:])


SUBLAYERS = ("attention", "feed_forward")
NUMBERS = {name: IN_THE_HEAD[name] for name in SUBLAYERS} | {
    "input_norm": half_of,
    "post_attention_norm": three_times,
    "pre_feedforward_norm": plus_one,
    "post_feedforward_norm": a_tenth,
}
PARTS = {name: LIKE_A_TRANSFORMER[name] for name in SUBLAYERS} | {
    "input_norm": layer_norm_doubled,
    "post_attention_norm": layer_norm_halved,
    "pre_feedforward_norm": layer_norm_shifted,
    "post_feedforward_norm": layer_norm_turned,
}
SANDWICH_LAYER = Exercise(
    name="sandwich_layer",
    recipe=sandwich,
    cases=(
        Case("by hand", {"x": torch.tensor([[1.0, 2]])} | NUMBERS),
        Case("tokens", {"x": waves(2, 3, 4)} | PARTS),
        Case("one feature", {"x": waves(2, 3, 1)} | PARTS),
        Case("one token", {"x": waves(2, 1, 4)} | PARTS),
        Case("cube", {"x": waves(3, 3, 3)} | PARTS),
        Case("given back", {"x": torch.tensor([[1.0, 2]])} | dict.fromkeys(NUMBERS, as_it_is)),
        Case("nothing", {"x": torch.zeros(0, 3, 4)} | PARTS, advice=EMPTY_INPUT_ADVICE),
        Case("gradient", {"x": waves(3, 4)} | PARTS, gradient=True),
    ),
    mistakes=(
        *with_section(ELSEWHERE, *PLACE_MISTAKES, *NAME_MISTAKES),
        *RESIDUAL_MISTAKES,
        NO_NORM,
        *exclusive(sandwich, SUBLAYERS_ALONE),
        *with_section(FOUR_NORMS, *WHOLE_LAYER_MISTAKES, hint_line=SECOND_HALF),
    ),
    section=BY_HAND,
    hint_line="h = x + post_attention_norm(attention(input_norm(x)))",
)
