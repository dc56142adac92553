"""Where the norms of a layer stand: the steps of a layer, mistakes that any order knows, and `post_norm_layer`."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab_course.checks.case import EMPTY_INPUT_ADVICE, Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, with_section, wrong
from blocklab_course.i18n import Text

Part = Callable[[Tensor], Tensor]


# The steps: which sub-layer comes when, with which norms (`parts`; a half is a sub-layer and its norms), the residual
# connection around one of them (`around`), and how two of those make the layer (`chain`). A residual connection adds
# what it carries to what the sub-layer makes of what it reads; carried and read are the same unless a mistake is made.

Half = tuple[Part, ...]


def as_it_is(x: Tensor) -> Tensor:
    """Like nn.Identity, and dropout in eval mode: what is written into the result is written into the input."""
    return x


def attention_first(attention: Half, feed_forward: Half) -> tuple[Half, Half]:
    return attention, feed_forward


def norm_inside(carried: Tensor, read: Tensor, sublayer: Part, norm: Part) -> Tensor:
    return carried + sublayer(norm(read))


def norm_outside(carried: Tensor, read: Tensor, sublayer: Part, norm: Part) -> Tensor:
    return norm(carried + sublayer(read))


def one_after_the_other(x: Tensor, first: Callable, second: Callable) -> Tensor:
    h = first(x, x)
    return second(h, h)


def layer(
    x: Tensor, attention: Half, feed_forward: Half, *, parts: Callable, around: Callable, chain: Callable
) -> Tensor:
    """Two residual connections, each around one half: `around(carried, read, sublayer, *norms)`."""

    def connected(half: Half) -> Callable:
        return lambda carried, read: around(carried, read, *half)

    return chain(x, *map(connected, parts(attention, feed_forward)))


def post_norm(
    x: Tensor,
    attention: Part,
    feed_forward: Part,
    norm1: Part,
    norm2: Part,
    *,
    parts: Callable = attention_first,
    around: Callable = norm_outside,
    chain: Callable = one_after_the_other,
) -> Tensor:
    return layer(x, (attention, norm1), (feed_forward, norm2), parts=parts, around=around, chain=chain)


BY_HAND = Text(en="By hand", zh="动手算")
FOUR_NORMS = Text(en="Exercise: a layer with four norms", zh="练习：有四个归一化的层")


NORMS_MISTAKES = (
    wrong("norm1-twice", parts=lambda one, two: (one, (two[0], one[1]))).hint(
        en="You use `norm1` for both sub-layers, and `norm2` is never called. Each norm has weights of its own.",
        zh="两个子层都用了 `norm1`，`norm2` 一次也没有调用。两个归一化层各有自己的权重。",
    ),
    wrong("norm2-twice", parts=lambda one, two: ((one[0], two[1]), two)).hint(
        en="You use `norm2` for both sub-layers, and `norm1` is never called. Each norm has weights of its own.",
        zh="两个子层都用了 `norm2`，`norm1` 一次也没有调用。两个归一化层各有自己的权重。",
    ),
    wrong("norms-swapped", parts=lambda one, two: ((one[0], two[1]), (two[0], one[1]))).hint(
        en="The norms are swapped: `norm1` belongs to attention, `norm2` to the feed-forward network.",
        zh="两个归一化层用反了：`norm1` 属于注意力，`norm2` 属于前馈网络。",
    ),
)


def without_norm1(one: Half, two: Half) -> tuple[Half, Half]:
    return (one[0], as_it_is), two


def without_norm2(one: Half, two: Half) -> tuple[Half, Half]:
    return one, (two[0], as_it_is)


SUBLAYERS_MISTAKES = (
    wrong(
        "sublayers-swapped",
        parts=lambda one, two: ((two[0], *one[1:]), (one[0], *two[1:])),
    ).hint(
        en="The sub-layers are swapped: the feed-forward network comes first and is normalized as attention should be.",
        zh="两个子层的顺序反了：前馈网络排在了前面，用的还是属于注意力的归一化层。",
    ),
    wrong(
        "halves-swapped",
        parts=lambda one, two: (two, one),
    ).hint(
        en="Each sub-layer is normalized rightly, but the feed-forward network comes first. Attention does.",
        zh="每个子层的归一化层都对，但前馈网络排在了前面。应当是注意力在前。",
    ),
    wrong("attention-twice", parts=lambda one, two: (one, (one[0], *two[1:]))).hint(
        en="Attention is called twice and the feed-forward network never. That is the second sub-layer.",
        zh="注意力调用了两次，前馈网络一次也没有。前馈网络才是第二个子层。",
    ),
    wrong(
        "feed-forward-twice",
        parts=lambda one, two: ((two[0], *one[1:]), two),
    ).hint(
        en="The feed-forward network is called twice and attention never, so no position learns of another.",
        zh="前馈网络调用了两次，注意力一次也没有，于是各个位置之间没有任何交流。",
    ),
)

CHAIN_MISTAKES = (
    wrong("feed-forward-missing", chain=lambda x, first, second: first(x, x)).hint(
        en="Your layer ends after attention. The second half, the feed-forward network, is missing.",
        zh="你的层在注意力之后就结束了，漏掉了后一半，也就是前馈网络。",
    ),
    wrong("attention-missing", chain=lambda x, first, second: second(x, x)).hint(
        en="Your result does not depend on attention: the second half starts from x instead of the first half's "
        "result.",
        zh="你的结果与注意力无关：后一半用的是 x，而不是前一半的结果。",
    ),
    wrong(
        "first-residual-missing",
        chain=lambda x, first, second: one_after_the_other(x, lambda _x, read: first(0 * x, read), second),
    ).hint(
        en="Nothing is carried past attention. Its residual connection adds x.",
        zh="注意力那一半没有残差连接，x 没有绕过去。应当把 x 加到注意力的输出上。",
    ),
    wrong(
        "second-residual-missing",
        chain=lambda x, first, second: one_after_the_other(x, first, lambda h, read: second(0 * h, read)),
    ).hint(
        en="Nothing is carried past the feed-forward network. Its residual connection adds the first half's result.",
        zh="前馈网络那一半没有残差连接，前一半的结果没有绕过去。应当把它加到前馈网络的输出上。",
    ),
    wrong("second-residual-from-the-start", chain=lambda x, first, second: second(x, first(x, x))).hint(
        en="The second residual connection adds the x of the start, so what attention found is not carried on. Add the "
        "first half's result.",
        zh="第二个残差连接加的是最初的 x，于是注意力的结果没有沿残差连接传下去。应当加上前一半的结果。",
    ),
    wrong("one-residual-around-both", chain=lambda x, first, second: second(x, first(0 * x, x))).hint(
        en="You have one residual connection around both sub-layers. Each has its own: attention's result is added to "
        "x, then the feed-forward network's to that sum.",
        zh="你只有一个残差连接，把两个子层一起绕过去了。每个子层各有一个：先把注意力的结果加到 x 上，"
        "再把前馈网络的结果加到这个和上。",
    ),
    wrong("third-residual", chain=lambda x, first, second: x + one_after_the_other(x, first, second)).hint(
        en="You add x once more at the very end. Two residual connections are enough, one around each sub-layer.",
        zh="你在最后又加了一次 x。两个残差连接就够了，每个子层一个。",
    ),
    wrong("side-by-side", chain=lambda x, first, second: second(first(x, x), x)).hint(
        en="Your sub-layers stand side by side: the feed-forward network reads x instead of the first half's result. "
        "Falcon-7B and phi-2 set them side by side, too, with one norm for both; here one follows the other.",
        zh="你的两个子层是并列的：前馈网络读的是 x，而不是前一半的结果。"
        "Falcon-7B 和 phi-2 也让它们并列，共用一个归一化层；而这里是一前一后。",
    ),
)


# Where the norm stands. What is right for one order is a mistake in the other


def residual_doubled(order: Callable) -> Callable:
    return lambda carried, read, *half: order(2 * carried, read, *half)


def nothing_carried(order: Callable) -> Callable:
    return lambda carried, read, *half: order(0 * carried, read, *half)


def result_normalized(carried: Tensor, read: Tensor, sublayer: Part, norm: Part) -> Tensor:
    return carried + norm(sublayer(read))


def carried_normalized(carried: Tensor, read: Tensor, sublayer: Part, norm: Part) -> Tensor:
    return norm(carried) + sublayer(read)


def both_normalized(carried: Tensor, read: Tensor, sublayer: Part, norm: Part) -> Tensor:
    return norm(carried) + sublayer(norm(read))


def norm_inside_and_outside(carried: Tensor, read: Tensor, sublayer: Part, norm: Part) -> Tensor:
    return norm(carried + sublayer(norm(read)))


NO_NORM = wrong("no-norm", around=lambda carried, read, sublayer, *norms: carried + sublayer(read)).hint(
    en="No norm is called. What the sub-layer reads then grows from layer to layer, and so does what it adds.",
    zh="归一化一次也没有调用。这样，子层读入的数一层比一层大，它加上去的部分也越来越大。",
)
SUBLAYERS_ALONE = wrong("sublayers-alone", around=lambda carried, read, sublayer, *norms: sublayer(read)).hint(
    en="The sub-layer alone is called. Around it belong a residual connection and what normalizes.",
    zh="你只调用了子层。子层外面还要有残差连接，还要有归一化。",
)
NEITHER = NO_NORM, SUBLAYERS_ALONE


def plain_sum_carried(x: Tensor, attention: Part, feed_forward: Part, norm1: Part, norm2: Part) -> Tensor:
    h = x + attention(x)
    return norm2(h + feed_forward(norm1(h)))


POST_NORM_MISTAKES = (
    wrong("plain-sum-carried", plain_sum_carried).hint(
        en="`norm1` normalizes only what the feed-forward network reads; the second residual connection carries the "
        "plain sum. In post-norm all that follows gets the normalized one.",
        zh="`norm1` 只归一化了前馈网络的输入，第二个残差连接传递的还是没有归一化的和。"
        "在后置归一化（post-norm）里，后面用的都是归一化之后的。",
        hint_line="h = norm1(x + attention(x))",
    ),
    wrong("norm1-missing", parts=without_norm1).hint(
        en="`norm1` is never called: x and what attention gives are added, and the sum is not normalized.",
        zh="`norm1` 一次也没有调用：加上注意力的输出之后，没有归一化。",
    ),
    wrong("norm2-missing", parts=without_norm2).hint(
        en="`norm2` is never called: the sum with what the feed-forward network gives is not normalized.",
        zh="`norm2` 一次也没有调用：加上前馈网络的输出之后，没有归一化。",
        hint_line="y = norm2(h + feed_forward(h))",
    ),
    wrong("pre-norm", around=norm_inside).hint(
        en="This is pre-norm: you normalize what the sub-layer reads. In post-norm, the order of 2017, the sub-layer "
        "reads x itself, and you normalize the sum.",
        zh="这是前置归一化（pre-norm）：你归一化的是子层的输入。"
        "后置归一化（post-norm）是 2017 年的顺序：子层的输入就是 x 本身，归一化的是相加的结果。",
    ),
    wrong("residual-missing", around=nothing_carried(norm_outside)).hint(
        en="There is no residual connection: you normalize what the sub-layer gives. Add x to it first.",
        zh="没有残差连接：你归一化的只是子层的输出。应当先加上 x。",
    ),
    wrong("read-normalized-without-residual", around=nothing_carried(norm_inside)).hint(
        en="You normalize what the sub-layer reads, and there is no residual connection. Add x to what it gives, and "
        "normalize the sum.",
        zh="你归一化的是子层的输入，而且没有残差连接。应当把 x 加到子层的输出上，再归一化相加的结果。",
    ),
    wrong("residual-twice", around=residual_doubled(norm_outside)).hint(
        en="x is added twice around each sub-layer. Once is right.", zh="每个子层外面都把 x 加了两次。应当只加一次。"
    ),
    wrong("normalized-before-adding", around=result_normalized).hint(
        en="You normalize what the sub-layer gives and add x afterwards, as OLMo 2 does. Post-norm adds "
        "first and normalizes the sum.",
        zh="你先归一化子层的输出，再加上 x，OLMo 2 就是这样。后置归一化（post-norm）先相加，再归一化。",
    ),
    wrong("only-the-residual-normalized", around=carried_normalized).hint(
        en="You normalize x alone and add what the sub-layer gives. Add first, and normalize the sum.",
        zh="你只归一化了 x，然后才加上子层的输出。应当先相加，再归一化。",
    ),
    wrong("each-normalized", around=lambda carried, read, sublayer, norm: norm(carried) + norm(sublayer(read))).hint(
        en="You normalize both parts and add them. Add first, and normalize the sum: one call of the norm.",
        zh="你把两部分分别归一化，再相加。应当先相加，再归一化，归一化层只调用一次。",
    ),
    wrong("residual-normalized", around=both_normalized).hint(
        en="You normalize x at the start and go on from there, and the sum is not normalized. In post-norm the norm "
        "comes last.",
        zh="你一开始就把 x 归一化，后面用的都是它，相加的结果却没有归一化。"
        "在后置归一化（post-norm）里，归一化是最后一步。",
    ),
    wrong("read-normalized-too", around=norm_inside_and_outside).hint(
        en="The sum is normalized, which is right, but the sub-layer reads a normalized x as well. In post-norm it "
        "reads x itself.",
        zh="你归一化了相加的结果，这是对的；但你又归一化了子层的输入。后置归一化（post-norm）的子层直接以 x 为输入。",
    ),
)


# Two sets of parts: one to reckon with by hand, and one like a Transformer's


def ten_times(x: Tensor) -> Tensor:
    return 10 * x


def plus_100(x: Tensor) -> Tensor:
    return x + 100


def half_of(x: Tensor) -> Tensor:
    return x / 2


def three_times(x: Tensor) -> Tensor:
    return 3 * x


def sum_so_far(x: Tensor) -> Tensor:
    return x.cumsum(-2)


def relu_and_neighbour(x: Tensor) -> Tensor:
    return F.relu(x) - 0.5 * x.roll(1, -1)


def layer_norm_doubled(x: Tensor) -> Tensor:
    return 2 * F.layer_norm(x, x.shape[-1:])


def layer_norm_shifted(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:]) + 0.5


IN_THE_HEAD = {"attention": ten_times, "feed_forward": plus_100, "norm1": half_of, "norm2": three_times}
LIKE_A_TRANSFORMER = {
    "attention": sum_so_far,
    "feed_forward": relu_and_neighbour,
    "norm1": layer_norm_doubled,
    "norm2": layer_norm_shifted,
}
CASES = (
    Case("by hand", {"x": torch.tensor([[1.0, 2]])} | IN_THE_HEAD),
    Case("tokens", {"x": waves(2, 3, 4)} | LIKE_A_TRANSFORMER),
    Case("one feature", {"x": waves(2, 3, 1)} | LIKE_A_TRANSFORMER),
    Case("one token", {"x": waves(2, 1, 4)} | LIKE_A_TRANSFORMER),
    Case("cube", {"x": waves(3, 3, 3)} | LIKE_A_TRANSFORMER),
    Case("given back", {"x": torch.tensor([[1.0, 2]])} | dict.fromkeys(IN_THE_HEAD, as_it_is)),
    Case("nothing", {"x": torch.zeros(0, 3, 4)} | LIKE_A_TRANSFORMER, advice=EMPTY_INPUT_ADVICE),
    Case("gradient", {"x": waves(3, 4)} | LIKE_A_TRANSFORMER, gradient=True),
)
PANEL = Text(
    en="under *Where the norms go*, choose post-norm, drag *depth* to 48 and look at the sizes of the tokens.",
    zh="在“归一化放在哪里”一节，选“后置归一化”，把“深度”拖到 48，看词元的大小。",
)
WHOLE_LAYER_MISTAKES = (*SUBLAYERS_MISTAKES, *CHAIN_MISTAKES)

POST_NORM_LAYER = Exercise(
    name="post_norm_layer",
    recipe=post_norm,
    cases=CASES,
    mistakes=(
        *POST_NORM_MISTAKES,
        *NORMS_MISTAKES,
        NO_NORM,
        *exclusive(post_norm, SUBLAYERS_ALONE),  # with another mistake it would give what others give
        *with_section(BY_HAND, *WHOLE_LAYER_MISTAKES, hint_line="y = norm2(h + feed_forward(h))"),
    ),
    section=BY_HAND,
    panel=PANEL,
    hint_line="h = norm1(x + attention(x))",
)
