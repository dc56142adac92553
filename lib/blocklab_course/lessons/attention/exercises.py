"""Known mistakes of `causal_mask`, `weight_by_hand`, `attention` and `split_heads`."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

import blocklab.attention
from blocklab_course.checks.case import Advice, Case, cast_floats, waves
from blocklab_course.checks.exercise import Exercise, one_number
from blocklab_course.checks.mistake import with_section, wrong
from blocklab_course.checks.mutation_testing import Mutant, make_mutation_exercise
from blocklab_course.i18n import Text

POKING = Text(en="Poke one token", zh="推一个词元")
POLARITIES = Text(en="One mask, two polarities", zh="一个掩码，两种写法")
ELSEWHERE = Text(en="What you will meet elsewhere", zh="在别处会遇到什么")


def before_and_itself(i: Tensor, j: Tensor) -> Tensor:
    return j <= i


def mask(length: int, *, allowed: Callable = before_and_itself, kind: Callable = lambda allowed: allowed) -> Tensor:
    place = torch.arange(length)
    return kind(allowed(place[:, None], place))


INVERTED_MASK = (
    wrong("inverted", allowed=lambda i, j: j > i).hint(
        en="Your mask is inverted: True where a query may not look. `nn.MultiheadAttention` wants it so; here True "
        "takes part, as in `scaled_dot_product_attention`.",
        zh="你的掩码反了：不许查询看的地方成了 True。"
        "`nn.MultiheadAttention` 要的是那种；这里 True 表示参与，与 `scaled_dot_product_attention` 一样。",
    ),
)

MASK_MISTAKES = (
    wrong("upper-triangle", allowed=lambda i, j: j >= i).hint(
        en="Your tokens see themselves and what comes after them: it is the upper triangle. Row i is for token i, "
        "which sees tokens 0 to i.",
        zh="你的词元能看到自己和后面的词元：这是上三角。第 i 行对应词元 i，它能看到词元 0 到 i。",
    ),
    wrong("without-itself", allowed=lambda i, j: j < i).hint(
        en="The diagonal is missing: a token may see itself. In your mask the first one sees nothing, and its softmax "
        "is 0 / 0.",
        zh="漏了对角线：词元可以看到自己。按你的掩码，第一个词元什么也看不到，它的 softmax 成了 0 / 0。",
    ),
    wrong("sees-the-next", allowed=lambda i, j: j <= i + 1).hint(
        en="Every token also sees the one after it, which it is to predict. The diagonal is the last that is True.",
        zh="每个词元还能看到它后面的那一个，而那正是它要预测的。每一行的 True 应当到对角线为止。",
    ),
    wrong("sees-all", allowed=lambda i, j: (i >= 0) & (j >= 0)).hint(
        en="Your mask hides nothing. A token must not see those that come after it.",
        zh="你的掩码什么也没有挡住。词元不应看到后面的词元。",
    ),
    wrong("sees-itself-alone", allowed=lambda i, j: i == j).hint(
        en="Only the diagonal is True: a token sees itself and nothing else. What came before it takes part too.",
        zh="只有对角线是 True：词元只能看到自己。它前面的词元也应参与。",
    ),
)

KIND_MISTAKES = (
    wrong("added-to-scores", kind=lambda allowed: torch.zeros(allowed.shape).masked_fill(~allowed, -math.inf)).hint(
        en="This is the mask of numbers, 0 and -inf, that is added to the scores. Here it is boolean: True takes part.",
        zh="这是与得分相加的数值掩码，由 0 和 -inf 组成。这里要的是布尔掩码：True 表示参与。",
    ),
    wrong("ones-and-zeros", kind=lambda allowed: allowed.float()).hint(
        en="Your mask holds numbers, 1 and 0. As numbers they would be added to the scores and hide nothing: make it "
        "boolean.",
        zh="你的掩码由数 1 和 0 组成。这样的掩码会与得分相加，什么也挡不住：请把它变成布尔类型。",
    ),
)

MORE_AXES = wrong("more-axes", kind=lambda allowed: allowed[None]).hint(
    en="Your mask has more than two axes. It is `(length, length)` and broadcasts over batch and heads.",
    zh="你的掩码不止两个轴。它的形状应是 `(length, length)`，会沿批量轴和头的轴自动广播。",
)
AXES_MISTAKES = (
    MORE_AXES,
    MORE_AXES.spelled(partial(mask, kind=lambda allowed: allowed[None, None])),
)

CAUSAL_MASK = Exercise(
    name="causal_mask",
    recipe=mask,
    kernel=blocklab.attention.causal_mask,
    cases=(
        Case("three tokens", {"length": 3}),
        Case("five tokens", {"length": 5}),
        Case("one token", {"length": 1}),
        Case("a paragraph", {"length": 130}),
        Case(
            "empty",
            {"length": 0},
            advice=Advice(
                Text(
                    en="A mask for no token has the shape `(0, 0)` and is boolean. For length 0 your function stops, "
                    "or gives something else.",
                    zh="没有词元时，掩码的形状是 `(0, 0)`，仍是布尔类型。length 为 0 时，你的函数会报错，"
                    "或者结果不是这样。",
                ),
                weak_functions=(lambda length: torch.empty(0), lambda length: torch.empty(0, dtype=torch.bool)),
                raises=(Exception,),
            ),
        ),
        Case(
            "a-long-text",
            {"length": 5001},
            advice=Advice(
                Text(
                    en="A text of 5001 tokens has 5001² pairs, and your function walks through them one by one. "
                    "Let torch compare all positions at once.",
                    zh="5001 个词元的文本有 5001² 对位置，而你的函数是一对一对地处理的。"
                    "请让 torch 一次比较所有的位置。",
                ),
                endless=True,
            ),
        ),
    ),
    mistakes=(
        *with_section(POLARITIES, *INVERTED_MASK),
        *MASK_MISTAKES,
        *with_section(ELSEWHERE, *KIND_MISTAKES, hint_line="every = torch.ones(length, length, dtype=torch.bool)"),
        *AXES_MISTAKES,
    ),
    scaled_inputs=lambda n: {"length": n},
    section=POKING,
    panel=Text(
        en="under *Poke one token*, set mask to causal and drag token to 7: what is orange is True.",
        zh="在“推一个词元”一节把“掩码”设为“因果”，再把“词元”拖到 7：橙色的格子就是 True。",
    ),
    hint_line="query, key = torch.arange(length)[:, None], torch.arange(length)",
)


BY_HAND = Text(en="By hand", zh="动手算")

NO_SHARE = wrong("impossible-weight", answer=math.nan).hint(
    en="The softmax cannot give this number. Each of the three weights is more than 0 and less than 1, and together "
    "they make 1.",
    zh="softmax 不可能给出这个数。三个权重都大于 0、小于 1，加起来等于 1。",
)
IMPOSSIBLE_WEIGHT = (
    NO_SHARE,
    *(NO_SHARE.spelled({"answer": answer}) for answer in (math.inf, -math.inf, 0.0, 1.0)),
    NO_SHARE.spelled({"answer": 1.5}, value_range=(1.0, math.inf)),
    NO_SHARE.spelled({"answer": -0.5}, value_range=(-math.inf, 0.0)),
)

WEIGHT_BY_HAND = one_number(
    name="weight_by_hand",
    answer=math.exp(8**0.5) / (math.exp(2**0.5) + 1 + math.exp(8**0.5)),
    result_name=Text(en="weight of the last key", zh="最后一个键的权重"),
    tolerance=4e-3,  # of two digits
    mistakes=(
        wrong("exponential", answer=16.9).hint(
            en="16.9 is the exponential of the score, not yet a weight. Divide it by the sum of all three.",
            zh="16.9 是得分的指数，还不是权重。应当除以三个指数之和。",
        ),
        wrong("divided-by-the-others", answer=16.9 / 5.1).hint(
            en="You divide by the other two. The sum holds all three, 16.9 itself too: a share is never more than 1.",
            zh="你除以的是另外两个之和。总和要算上三个，16.9 自己也在内：一份不会大于 1。",
        ),
        wrong("scaled-by-size", answer=math.exp(2) / (math.exp(1) + 1 + math.exp(2))).hint(
            en="You divide the products, 2, 0 and 4, by d = 2. Divide by its root, √2.",
            zh="你把点积 2、0、4 除以了 d，也就是 2。应当除以它的平方根 √2。",
            value_range=(0.662, 0.6664),
        ),
        wrong("scores-shared-out", answer=2.83 / 4.24).hint(
            en="You share out the scores. The softmax shares out their exponentials, 4.1, 1 and 16.9.",
            zh="你按得分来分配。softmax 按它们的指数 4.1、1、16.9 来分配。",
            value_range=(0.6664, 0.6685),
        ),
        wrong("scaled-by-size-or-scores-shared-out", answer=0.67).hint(
            en="Two mistakes lead to 0.67: dividing the products by d = 2 where √2 belongs, and sharing out the scores "
            "themselves where the softmax shares out their exponentials.",
            zh="有两种错误都会得到 0.67：一是把点积除以了 d = 2，而应当除以 √2；"
            "二是直接按得分来分配，而 softmax 按得分的指数来分配。",
            value_range=(0.6685, 0.672),
        ),
        wrong("products-not-divided", answer=0.8658).hint(
            en="You take the exponentials of the products, 2, 0 and 4. First divide these by √2.",
            zh="你取的是点积 2、0、4 的指数。应当先把它们除以 √2。",
            value_range=(0.862, 0.8705),
        ),
        wrong("first-key", answer=4.1 / 22).hint(
            en="This is the weight of the first key. Asked is that of the last.",
            zh="这是第一个键的权重。问的是最后一个。",
            value_range=(0.183, 0.193),
        ),
        wrong("second-key", answer=1 / 22).hint(
            en="This is the weight of the second key. Asked is that of the last.",
            zh="这是第二个键的权重。问的是最后一个。",
            value_range=(0.0445, 0.0505),
        ),
        wrong("score-of-zero-left-out", answer=16.9 / 21).hint(
            en="You leave out the second key. Its score is 0, but e⁰ is 1, and that belongs to the sum.",
            zh="你漏掉了第二个键。它的得分是 0，但 e⁰ 等于 1，也要算进总和。",
        ),
        wrong("in-percent", answer=76.8).hint(
            en="That is a percentage. A weight is a share of 1: divide by 100.",
            zh="这是百分数。权重是 1 里的一份：请除以 100。",
        ),
        *IMPOSSIBLE_WEIGHT,
    ),
    section=BY_HAND,
    hint_line="total = 4.1 + 1 + 16.9",
)


def all_pairs(query: Tensor, key: Tensor, _value: Tensor) -> Tensor:
    return query @ key.mT


def by_root_of_size(scores: Tensor, query: Tensor, _key: Tensor, _value: Tensor) -> Tensor:
    return scores / math.sqrt(query.shape[-1])


def by_root_of_all_heads(scores: Tensor, query: Tensor, _key: Tensor, _value: Tensor) -> Tensor:
    heads = query.shape[1] if query.dim() == 4 else 1
    return scores / math.sqrt(heads * query.shape[-1])


def unscaled(scores: Tensor, _query: Tensor, _key: Tensor, _value: Tensor) -> Tensor:
    return scores


def hidden(scores: Tensor, mask: Tensor | None) -> Tensor:
    return scores if mask is None else scores.masked_fill(~mask, -math.inf)


def filled_with(number: float) -> Callable:
    return lambda scores, mask: scores if mask is None else scores.masked_fill(~mask, number)


def all_seen(scores: Tensor, _mask: Tensor | None) -> Tensor:
    return scores


def over_keys(scores: Tensor) -> Tensor:
    return scores.softmax(-1)


def one_maximum_for_all(scores: Tensor) -> Tensor:
    powers = (scores - scores.max()).exp()
    return powers / powers.sum(-1, keepdim=True)


def as_they_are(weights: Tensor, _mask: Tensor | None, _query: Tensor) -> Tensor:
    return weights


def mix(weights: Tensor, _key: Tensor, value: Tensor) -> Tensor:
    return weights @ value


def recipe(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    match: Callable = all_pairs,
    scale: Callable = by_root_of_size,
    hide: Callable = hidden,
    normalize: Callable = over_keys,
    after: Callable = as_they_are,
    mix: Callable = mix,
) -> Tensor:
    scores = hide(scale(match(query, key, value), query, key, value), mask)
    return mix(after(normalize(scores), mask, query), key, value)


HIDING = "scores = scores.masked_fill(~mask, -torch.inf)"

SCALE_MISTAKES = (
    wrong("scale-missing", scale=unscaled).hint(
        en="The scores are not scaled. The more features, the larger the products and the sharper the softmax: divide "
        "by √d.",
        zh="得分没有缩放。特征越多，点积越大，softmax 就越尖锐：请除以 √d。",
    ),
    wrong("scaled-by-size", scale=lambda scores, query, key, value: scores / query.shape[-1]).hint(
        en="You divide the scores by d. Take its root: the standard deviation of a sum of d products is √d.",
        zh="你把得分除以了 d。应当除以它的平方根：d 个乘积之和的标准差是 √d。",
    ),
    wrong("scaled-by-root-of-two", scale=lambda scores, query, key, value: scores / math.sqrt(2)).hint(
        en="You divide by √2, which is right only for d = 2, as in the example by hand. d is the length of the last "
        "axis of `query`.",
        zh="你除以了 √2，只有 d = 2 时才对，例如“动手算”里的例子。d 是 `query` 最后一个轴的长度。",
    ),
    wrong("scaled-up", scale=lambda scores, query, key, value: scores * math.sqrt(query.shape[-1])).hint(
        en="You multiply the scores by √d. Divide, so that they stay small enough for the softmax.",
        zh="你给得分乘了 √d。应当除以它，得分才不会大到让 softmax 饱和。",
    ),
    wrong("scaled-by-all-heads", scale=by_root_of_all_heads).hint(
        en="You divide by the root of the whole width, all heads together. Each head has products of its own, of as "
        "many terms as the last axis of `query` is long.",
        zh="你除以了总宽度的平方根，把所有头都算在内。每个头有自己的点积，项数是 `query` 最后一个轴的长度。",
    ),
    wrong("scaled-by-keys", scale=lambda scores, query, key, value: scores / math.sqrt(key.shape[-2])).hint(
        en="You divide by the root of the number of keys. The product of two vectors grows with the number of their "
        "features, the last axis.",
        zh="你除以了键的个数的平方根。两个向量的点积随特征数增大，所以要看最后一个轴的长度。",
    ),
    wrong("scaled-by-queries", scale=lambda scores, query, key, value: scores / math.sqrt(query.shape[-2])).hint(
        en="You divide by the root of the number of queries. What counts is how many features a query has, the last "
        "axis.",
        zh="你除以了查询个数的平方根。要看的是一个查询有多少个特征，即最后一个轴的长度。",
    ),
    wrong("scaled-by-first-axis", scale=lambda scores, query, key, value: scores / math.sqrt(query.shape[0])).hint(
        en="You divide by the root of the length of axis 0, which is the batch, or the number of queries. d is the "
        "last axis: `query.shape[-1]`.",
        zh="你除以了轴 0 长度的平方根，而这个轴是批量轴，没有批量轴时是查询的轴。"
        "d 是最后一个轴的长度：`query.shape[-1]`。",
    ),
    wrong(
        "scaled-by-width-of-values", scale=lambda scores, query, key, value: scores / math.sqrt(value.shape[-1])
    ).hint(
        en="You divide by the root of the width of the values. The scores are made of query and key: take theirs.",
        zh="你除以了值的宽度的平方根。得分由查询和键算出，所以要看它们的宽度。",
    ),
    wrong(
        "scaled-after-softmax", scale=unscaled, after=lambda weights, mask, query: weights / math.sqrt(query.shape[-1])
    ).hint(
        en="You divide by √d after the softmax, so your weights do not sum to 1. The scores are scaled before it.",
        zh="你在 softmax 之后才除以 √d，于是权重之和不是 1。应当在 softmax 之前缩放得分。",
    ),
)

LOGARITHM_OF_SOFTMAX = wrong("logarithm-of-softmax", normalize=lambda scores: scores.log_softmax(-1)).hint(
    en="You weight with the logarithm of the softmax, all of it negative. Use the softmax itself.",
    zh="你用 softmax 的对数作权重，权重全是负数。请直接用 softmax。",
)
SOFTMAX_MISTAKES = (
    wrong("softmax-over-queries", normalize=lambda scores: scores.softmax(-2)).hint(
        en="Your softmax runs over the queries. Each query shares out its own attention over the keys, the last axis.",
        zh="你的 softmax 是沿查询的轴取的。每个查询各自分配自己的注意力，应当沿键的轴，也就是最后一个轴。",
    ),
    wrong("softmax-over-axis-one", normalize=lambda scores: scores.softmax(1)).hint(
        en="Your softmax runs over axis 1, which is the keys only where there is neither batch nor head. Count from "
        "the end: the keys are the last axis.",
        zh="你的 softmax 是沿轴 1 取的，只有在既没有批量轴也没有头的轴时，它才是键的轴。"
        "请从后往前数：键的轴是最后一个。",
    ),
    wrong("softmax-over-axis-zero", normalize=lambda scores: scores.softmax(0)).hint(
        en="Your softmax runs over axis 0, which is the batch, or the queries where there is none. Each query shares "
        "out its own attention over the keys, the last axis.",
        zh="你的 softmax 是沿轴 0 取的，而这个轴是批量轴，没有批量轴时是查询的轴。"
        "每个查询各自分配自己的注意力，应当沿键的轴，也就是最后一个轴。",
    ),
    wrong("softmax-missing", normalize=lambda scores: scores).hint(
        en="The scores are used as weights directly. Through the softmax they become positive and sum to 1.",
        zh="你直接把得分当成了权重。经过 softmax，它们才会都是正数，且和为 1。",
    ),
    LOGARITHM_OF_SOFTMAX,
    LOGARITHM_OF_SOFTMAX.spelled(partial(recipe, hide=filled_with(-1e9), **LOGARITHM_OF_SOFTMAX.replaces)),
    wrong("exponentials-not-divided", partial(recipe, normalize=torch.exp)).hint(
        en="Your weights are the exponentials of the scores, and they do not sum to 1. Divide each by the sum over the "
        "keys: that is the softmax.",
        zh="你的权重是得分的指数，加起来不等于 1。还要除以沿键的轴求得的和，这才是 softmax。",
    ),
    wrong("one-maximum-for-all", normalize=one_maximum_for_all).hint(
        en="You subtract one maximum from the scores of all queries. Where a query has only far smaller scores, all "
        "its `exp` become 0, and 0 / 0 is NaN. Each row has a maximum of its own.",
        zh="你给所有查询的得分都减去同一个最大值。"
        "如果某个查询的得分全都小得多，它的 `exp` 就都成了 0，而 0 / 0 是 NaN。每一行应当减去自己的最大值。",
    ),
    wrong("divided-by-sum", normalize=lambda scores: scores / scores.sum(-1, keepdim=True)).hint(
        en="You divide the scores by their sum, without `exp`. Scores can be negative, and a sum can be 0.",
        zh="你把得分除以它们的总和，却没有先取 `exp`。得分可以是负数，总和也可能是 0。",
        shown_on="batch",
    ),
)


def causal(scores: Tensor, _mask: Tensor | None) -> Tensor:
    return hidden(scores, torch.ones_like(scores, dtype=torch.bool).tril())


def masked_and_causal(scores: Tensor, mask: Tensor | None) -> Tensor:
    return causal(hidden(scores, mask), mask)


def zero_where_nothing_is_seen(weights: Tensor, _mask: Tensor | None, _query: Tensor) -> Tensor:
    """Torch's attention gives 0 where the softmax by hand gives NaN."""
    return weights.nan_to_num(0.0)


ALWAYS_CAUSAL = wrong("always-causal", hide=causal).hint(
    en="You always apply a causal mask of your own. Use only the one that is given, and none if it is `None`.",
    zh="你总是用自己的因果掩码。请只使用传入的掩码；如果是 `None`，就不要屏蔽。",
)
SEEING_MISTAKES = (
    wrong("mask-ignored", hide=all_seen).hint(
        en="The mask has no effect: every query sees every key.", zh="掩码没有起作用：每个查询都能看到所有的键。"
    ),
    wrong("mask-transposed", hide=lambda scores, mask: hidden(scores, None if mask is None else mask.mT)).hint(
        en="You use the mask turned over. Its rows are the queries, its columns the keys, like the scores.",
        zh="你把掩码转置了。它的行是查询，列是键，与得分一致。",
    ),
    ALWAYS_CAUSAL,
    ALWAYS_CAUSAL.spelled(partial(recipe, hide=masked_and_causal)),
    ALWAYS_CAUSAL.spelled(partial(recipe, hide=masked_and_causal, after=zero_where_nothing_is_seen)),
)

POLARITY_MISTAKES = (
    wrong("mask-inverted", hide=lambda scores, mask: hidden(scores, None if mask is None else ~mask)).hint(
        en="You hide what should take part. Here True takes part, as in `scaled_dot_product_attention`; "
        "`nn.MultiheadAttention` means the opposite.",
        zh="你屏蔽了本该参与的键。"
        "这里的 True 表示参与，与 `scaled_dot_product_attention` 一样；在 `nn.MultiheadAttention` 里，意思正好相反。",
    ),
)

MASKED_WITH_A_SMALL_NUMBER = wrong("masked-with-a-small-number", hide=filled_with(-20.0)).hint(
    en="Hidden scores become a number that is not low enough. Scores that may be seen can lie below it, and then what "
    "is hidden gets the weight: put -inf there.",
    zh="屏蔽掉的得分成了一个不够小的数。能看到的得分可能比它还小，这时权重反而给了被屏蔽的键：应当填入 -inf。",
)

HIDING_MISTAKES = (
    wrong("mask-always-wanted", hide=lambda scores, mask: scores.masked_fill(~mask, -math.inf)).hint(
        en="Without a mask `mask` is `None`, and there is no `~None`. Hide something only `if mask is not None`.",
        zh="没有掩码时，`mask` 是 `None`，不能写 `~None`。只有 `if mask is not None` 时才屏蔽。",
        hint_line="if mask is not None:",
    ),
    wrong("masked-with-zero", hide=filled_with(0.0)).hint(
        en="Hidden scores become 0 or nearly 0, as `-1e-9` is. To the softmax that is a score like any other: only "
        "-inf gets no share.",
        zh="屏蔽掉的得分成了 0，或者像 `-1e-9` 那样接近 0。对 softmax 来说，这也是普通的得分：只有 -inf 才分不到权重。",
    ),
    MASKED_WITH_A_SMALL_NUMBER,
    *(  # -1000 stands for all that is lower than ordinary scores, and shows only beside scores that are lower still
        MASKED_WITH_A_SMALL_NUMBER.spelled(partial(recipe, hide=filled_with(number)))
        for number in (*range(-1, -13, -1), -1000)
    ),
    wrong("mask-added", hide=lambda scores, mask: scores if mask is None else scores + mask.to(scores.dtype)).hint(
        en="You add the boolean mask, as 1 and 0. That hides nothing: hidden scores have to become -inf.",
        zh="你把布尔掩码当作 1 和 0 加了上去，什么也没有屏蔽。要屏蔽的得分应当变成 -inf。",
    ),
    wrong(
        "masked-after-softmax",
        hide=all_seen,
        after=lambda weights, mask, query: weights if mask is None else weights * mask.to(weights.dtype),
    ).hint(
        en="You hide weights after the softmax, so the rest no longer sums to 1. Hide the scores before it.",
        zh="你在 softmax 之后才去掉权重，剩下的权重之和就不再是 1。应当在 softmax 之前屏蔽得分。",
    ),
    wrong(
        "mask-makes-nan",
        hide=lambda scores, mask: scores if mask is None else scores - (~mask).to(scores.dtype) * math.inf,
    ).hint(
        en="With your mask every row becomes NaN. Either you multiply the mask by -inf, and 0 times infinity is no "
        "number, or you fill in +inf. Put -inf in place with `masked_fill`.",
        zh="一用掩码，你的每一行都成了 NaN。"
        "要么你用掩码乘以 -inf，而 0 乘以无穷大没有意义；要么你填的是 +inf。请用 `masked_fill` 填入 -inf。",
    ),
)

ROLE_MISTAKES = (
    wrong("all-axes-of-the-key-turned", match=lambda query, key, value: query @ key.T).hint(
        en="`.T` turns round all axes of `key`, those of batch and heads, too. Only the last two should change places: "
        "`key.mT`.",
        zh="`.T` 会把 `key` 的轴全都倒过来，连批量轴和头的轴也在内。这里只交换最后两个：`key.mT`。",
    ),
    wrong("axes-one-and-two-turned", match=lambda query, key, value: query @ key.transpose(1, 2)).hint(
        en="`transpose(1, 2)` is right only where exactly one axis stands before the last two. There may be none or "
        "more: count from the end, `key.transpose(-2, -1)`, which is `key.mT`.",
        zh="`transpose(1, 2)` 只有在最后两个轴前面恰好有一个轴时才对。前面的轴可多可少，"
        "请从后往前数：`key.transpose(-2, -1)`，也就是 `key.mT`。",
    ),
    wrong("keys-for-values", mix=lambda weights, key, value: weights @ key).hint(
        en="You mix the keys. They only serve to find the weights; what is mixed are the values.",
        zh="你加权求和的是键。键只用来算权重，应当加权求和的是值。",
        hint_line="y = weights @ value",
        shown_on="batch",
    ),
    wrong("weights-transposed", mix=lambda weights, key, value: weights.mT @ value).hint(
        en="You turn the weights over before you mix the values. A row holds the weights of one query: multiply "
        "`weights @ value` as they are.",
        zh="求加权和之前，你把权重转置了。每一行是一个查询的权重：直接算 `weights @ value`。",
        hint_line="y = weights @ value",
        shown_on="batch",
    ),
    wrong("query-with-itself", match=lambda query, key, value: query @ query.mT).hint(
        en="You match the queries with each other. Match each query with the keys.",
        zh="你让查询与查询自己做了点积。应当让每个查询与各个键做点积。",
        shown_on="batch",
    ),
    wrong("query-and-key-swapped", match=lambda query, key, value: key @ query.mT).hint(
        en="Your scores have a row for each key. A row is for a query: it goes on the left of the product.",
        zh="你的得分里，每个键占一行。每一行应对应一个查询：相乘时，查询放在左边。",
        shown_on="batch",
    ),
    wrong("values-for-keys", match=lambda query, key, value: query @ value.mT).hint(
        en="You match the queries with the values. The keys tell what there is to find, the values what is taken from "
        "there.",
        zh="你让查询与值做了点积。键用来比对，值才是要取出的内容。",
        shown_on="batch",
    ),
)

RETURN_MISTAKES = (
    wrong("weights-returned", partial(recipe, mix=lambda weights, key, value: weights)).hint(
        en="You return the weights. They only say how much each value counts: what is returned is the mixed values.",
        zh="你返回的是权重。权重只表示每个值占多少，要返回的是按权重混合之后的值。",
        shown_on="batch",
    ),
    wrong("weights-returned-too", partial(recipe, mix=lambda weights, key, value: (weights @ value, weights))).hint(
        en="You return two results, the output and the weights. Return the output alone.",
        zh="你返回了两个结果：输出和权重。只返回输出就行。",
    ),
)

OVERFLOW = Text(
    en="In float16 your products overflow above 65504 and the weights become NaN. Convert to float32 first, "
    "`.float()`, and convert the result back.",
    zh="在 float16 里，点积超过 65504 就会溢出，权重成了 NaN。请先用 `.float()` 转成 float32，算完再转回去。",
)
EXPONENTIAL = Text(
    en="With large scores your `exp` overflows. Subtract the largest score of the row first, as `softmax` does: the "
    "weights stay the same.",
    zh="得分很大时，你的 `exp` 会溢出。请像 `softmax` 那样，先减去这一行的最大得分：权重不变。",
)
VANISHING = Text(
    en="Where the scores that may be seen lie far below 0, or far below hidden ones, their `exp` all become 0, and "
    "0 / 0 is NaN. Hide first, then take the `softmax`.",
    zh="能看到的得分远小于 0，或者远小于被屏蔽的得分时，它们的 `exp` 全都成了 0，而 0 / 0 是 NaN。"
    "请先屏蔽，再取 `softmax`。",
)
NOTHING_SEEN = Text(
    en="A query that may see no key gets NaN, or a mean of what is hidden from it. `F.scaled_dot_product_attention` "
    "gives zeros: such rows come from padding, and NaN would spread.",
    zh="如果一个查询看不到任何键，你的结果是 NaN，或者是本该屏蔽的那些值的均值。"
    "`F.scaled_dot_product_attention` 给出的全是零：这样的行来自填充，而 NaN 会扩散。",
)


def three(N: tuple[int, ...], L: int, S: int, d: int, d_v: int) -> dict[str, Tensor]:
    """Query, key and value with these sizes."""
    return {
        "query": 2 * waves(*N, L, d),
        "key": 2 * waves(*N, S, d, start=1.0),
        "value": waves(*N, S, d_v, start=2.0),
    }


def pattern(*shape: int) -> Tensor:
    """A mask that hides something and shows something along every axis, and inverted or transposed still does.

    So a mistake gives the same whether what is hidden gets -inf or -1e9: nowhere is all of a softmax hidden.
    """
    *others, key = torch.meshgrid(*map(torch.arange, shape), indexing="ij")
    return (sum(others) - key + 1) % 3 > 0


def filled(with_what: float) -> Callable:
    return lambda query, key, value, mask=None: value.new_full((*query.shape[:-1], value.shape[-1]), with_what)


NO_NUMBER = filled(torch.nan), filled(0.0)  # and what `nan_to_num` puts in its place


LENGTHS = torch.arange(5) < torch.tensor([4, 3]).view(2, 1, 1, 1)  # of the two texts of a batch, the rest is padding

ATTENTION = Exercise(
    name="attention",
    recipe=recipe,
    kernel=blocklab.attention.scaled_dot_product_attention,
    cases=(
        Case(
            "one query",
            {
                "query": torch.tensor([[1.0, 2]]),
                "key": torch.tensor([[1.0, 0], [0, 1]]),
                "value": torch.tensor([[10.0], [20]]),
            },
        ),
        Case(
            "masked",
            {
                "query": torch.tensor([[1.0], [2]]),
                "key": torch.tensor([[1.0], [2]]),
                "value": torch.tensor([[10.0], [20]]),
                "mask": torch.eye(2) > 0,  # each sees one key, and takes its value
            },
        ),
        Case("more keys", three((), 2, 5, 4, 3)),
        Case("batch", three((2,), 3, 3, 4, 4)),
        Case("heads", three((2, 4), 5, 5, 6, 3) | {"mask": pattern(4, 5, 5)}),
        Case("more keys, masked", three((), 2, 5, 4, 3) | {"mask": pattern(2, 5)}),
        Case("more queries, one mask for all", three((2, 3), 4, 3, 2, 5) | {"mask": pattern(4, 3)}),
        Case("padding", three((2, 3), 4, 5, 6, 2) | {"mask": LENGTHS}),
        Case("one new token", three((2, 3), 1, 4, 6, 6)),
        Case("one feature", three((2, 3), 4, 5, 1, 1)),
        Case("self-attention", three((2, 3), 4, 4, 6, 6)),
        Case("float16", cast_floats(three((), 2, 3, 4, 2), torch.float16), tolerance=1e-2),
        Case("bfloat16", cast_floats(three((), 2, 3, 4, 2), torch.bfloat16), tolerance=5e-2),
        Case(
            "rows far apart",
            {
                "query": torch.tensor([[1.0], [-1]]),
                "key": torch.tensor([[60.0], [61]]),
                "value": torch.tensor([[10.0], [20]]),
            },
        ),
        Case(
            "rows far apart, masked",
            {
                "query": torch.tensor([[1.0], [-1]]),
                "key": torch.tensor([[80.0], [81], [0]]),
                "value": torch.tensor([[10.0], [20], [90]]),
                "mask": torch.tensor([[True, True, False]]).expand(2, 3),
            },
        ),
        Case(
            "a score of 0 is seen",
            {
                "query": torch.tensor([[1.0], [2]]),
                "key": torch.tensor([[0.0], [1], [2]]),
                "value": torch.tensor([[10.0], [20], [60]]),
                "mask": torch.tensor([[True, True, False], [True, False, True]]),
            },
        ),
        Case("gradient", three((2,), 4, 4, 3, 2) | {"mask": pattern(4, 4)}, gradient=True),
        Case(
            "overflows-in-float16",
            cast_floats(
                {"query": torch.full((2, 4), 200.0), "key": torch.full((3, 4), 200.0), "value": waves(3, 2)},
                torch.float16,
            ),
            tolerance=1e-2,
            advice=Advice(OVERFLOW, weak_functions=NO_NUMBER),
        ),
        Case(
            "large-scores",
            {
                "query": torch.tensor([[100.0]]),
                "key": torch.tensor([[2.0], [2]]),
                "value": torch.tensor([[10.0], [20]]),
            },
            tolerance=1e-2,
            advice=Advice(EXPONENTIAL, weak_functions=NO_NUMBER),
        ),
        Case(
            "scores-far-below-0",
            {
                "query": torch.tensor([[-1000.0]]),
                "key": torch.tensor([[2.0], [2], [1]]),
                "value": torch.tensor([[10.0], [20], [90]]),
                "mask": torch.tensor([[True, True, False]]),
            },
            tolerance=1e-2,
            advice=Advice(VANISHING, weak_functions=NO_NUMBER),
        ),
        Case(
            "no-key-to-see",
            {
                "query": torch.tensor([[0.5]]),
                "key": torch.tensor([[1.0], [2]]),
                "value": torch.tensor([[10.0], [20]]),
                "mask": torch.tensor([[False, False]]),
            },
            tolerance=1e-2,
            advice=Advice(
                NOTHING_SEEN,
                weak_functions=(
                    NO_NUMBER[0],
                    lambda query, key, value, mask: value.mean(0, keepdim=True),
                    lambda query, key, value, mask: recipe(query, key, value),  # -10000 is added to every score
                ),
            ),
        ),
    ),
    mistakes=(
        *with_section(
            Text(en="Why √d?", zh="为什么除以 √d？"),
            *SCALE_MISTAKES,
            hint_line="scores = scores / query.shape[-1] ** 0.5",
        ),
        *with_section(BY_HAND, *SOFTMAX_MISTAKES, hint_line="weights = scores.softmax(-1)"),
        *with_section(BY_HAND, *HIDING_MISTAKES, hint_line=HIDING),
        *with_section(POLARITIES, *POLARITY_MISTAKES, hint_line=HIDING),
        *with_section(POKING, *SEEING_MISTAKES, hint_line=HIDING),
        *ROLE_MISTAKES,
        *with_section(BY_HAND, *RETURN_MISTAKES, hint_line="y = weights @ value"),
    ),
    scaled_inputs=lambda n: three((n,), n, n, 4, 3),
    section=BY_HAND,
    panel=Text(
        en="under *Poke one token*, set *mask as T and F* to “True takes part” and try every mask: no line leads to an "
        "output from a token that it must not see.",
        zh="在“推一个词元”一节把“掩码的 T/F”设为“True 表示参与”，逐个试掩码：输出与它不该看到的词元之间没有线相连。",
    ),
    hint_line="scores = query @ key.mT / query.shape[-1] ** 0.5",
)


def neighbouring(x: Tensor, heads: int) -> Tensor:
    """(N, L, d) to (N, L, h, d/h): a head is a slice of neighbouring features."""
    return x.unflatten(-1, (heads, -1))


def heads_first(parts: Tensor) -> Tensor:
    return parts.transpose(1, 2)


def split(x: Tensor, num_heads: int, *, cut: Callable = neighbouring, order: Callable = heads_first) -> Tensor:
    return order(cut(x, num_heads))


SPLIT_MISTAKES = (
    wrong("view-alone", lambda x, num_heads: x.reshape(x.shape[0], num_heads, x.shape[1], -1)).hint(
        en="`view` straight to the final shape leaves the numbers in their order and so mixes up the tokens. First "
        "make two axes of the last, then swap axes with `transpose`.",
        zh="直接用 `view` 变成最终形状，数的先后次序不变，不同词元的数就混在一起了。"
        "请先把最后一个轴拆成两个，再用 `transpose` 交换轴。",
    ),
    wrong("not-transposed", order=lambda parts: parts).hint(
        en="The features are split, but the heads still stand behind the positions. Swap the two, so that each head "
        "holds a whole sequence.",
        zh="特征已经拆开了，但头的轴还在位置轴后面。请交换这两个轴，让每个头各有一个完整的序列。",
    ),
    wrong("turned-like-keys", order=lambda parts: parts.permute(0, 2, 3, 1)).hint(
        en="Positions and features of a head stand in each other's place. That is how keys go into the product, but "
        "the transposing is done there.",
        zh="每个头里，位置轴和特征轴互换了。键做点积时确实要这样转置，但那一步留到做点积时再做。",
    ),
    wrong("heads-before-batch", order=lambda parts: parts.permute(2, 0, 1, 3)).hint(
        en="Your heads stand before the batch. Wanted is `(N, heads, L, d / heads)`.",
        zh="你把头的轴放在了批量轴前面。需要的形状是 `(N, heads, L, d / heads)`。",
    ),
    wrong("heads-in-the-batch", order=lambda parts: heads_first(parts).flatten(0, 1)).hint(
        en="You merge heads and batch into one axis. That works, and some code does it; here they stay two axes.",
        zh="你把头的轴和批量轴合成了一个轴。这样也行得通，有的代码就是这么写的；但这里要的是两个轴。",
    ),
    wrong("strided-features", cut=lambda x, heads: x.unflatten(-1, (-1, heads)).mT).hint(
        en="A head takes features that lie apart, 0, h, 2h … It is a slice of neighbors: the first head has the first "
        "`d / heads` features.",
        zh="你的每个头取的是隔开的特征：0、h、2h……每个头应当是相邻的一段特征：第一个头取前 `d / heads` 个。",
    ),
    wrong("heads-and-size-swapped", cut=lambda x, heads: x.unflatten(-1, (-1, heads))).hint(
        en="You make heads of `num_heads` features each. `num_heads` is how many there are.",
        zh="你让每个头有 `num_heads` 个特征。`num_heads` 是头的个数。",
    ),
    wrong("every-head-has-all", cut=lambda x, heads: x[:, :, None].expand(-1, -1, heads, -1)).hint(
        en="Every head gets all features. The heads share them: each has `d / heads`.",
        zh="每个头都拿到了全部特征。应当把特征分给各个头：每个头有 `d / heads` 个。",
    ),
    wrong("positions-split", lambda x, num_heads: x.unflatten(1, (num_heads, -1))).hint(
        en="You split the positions among the heads. Every head sees the whole sequence, but only a part of the "
        "features.",
        zh="你把位置分给了各个头。每个头应看到整个序列，但只拿到一部分特征。",
        shown_on="two heads",
    ),
    wrong("tuple-of-heads", lambda x, num_heads: x.chunk(num_heads, -1)).hint(
        en="You return a tuple with a tensor for each head. Put them into one tensor, with an axis for the heads.",
        zh="你返回的是元组，每个头一个张量。请把它们合成一个张量，并给头留一个轴。",
    ),
)

SPLIT_HEADS = Exercise(
    name="split_heads",
    recipe=split,
    cases=(
        Case("three heads", {"x": torch.arange(1.0, 13).view(1, 2, 6), "num_heads": 3}),
        Case("two heads", {"x": torch.arange(1.0, 9).view(1, 2, 4), "num_heads": 2}),
        Case("batch", {"x": waves(3, 4, 10), "num_heads": 2}),
        Case("one head", {"x": waves(2, 3, 4), "num_heads": 1}),
        Case("heads of one feature", {"x": waves(2, 3, 4), "num_heads": 4}),
        Case("many heads", {"x": waves(2, 3, 24), "num_heads": 12}),
        Case("one token", {"x": waves(2, 1, 6), "num_heads": 3}),
        Case("one feature", {"x": waves(2, 3, 1), "num_heads": 1}),
        Case("gradient", {"x": waves(2, 4, 6), "num_heads": 2}, gradient=True),
    ),
    mistakes=SPLIT_MISTAKES,
    scaled_inputs=lambda n: {"x": waves(n, n, 4), "num_heads": 2},
    exempt={"empty": "`x.view(*x.shape[:2], num_heads, -1)`, the way of most books, cannot tell the size of nothing"},
    section=Text(en="Heads", zh="多头"),
    hint_line="parts = x.unflatten(-1, (num_heads, -1))",
)
CATCH_ATTENTION = make_mutation_exercise(
    ATTENTION,
    Mutant(
        "scale-missing",
        Text(en="scores not divided by √d", zh="得分没有除以 √d"),
        Text(
            en="The scores have to matter: with one key, equal scores or one feature, √d changes nothing.",
            zh="得分要起作用才行：只有一个键、得分全都相等，或者只有一个特征时，√d 不会改变任何结果。",
        ),
    ),
    Mutant(
        "scaled-by-keys",
        Text(en="divided by the root of the number of keys", zh="除以了键的个数的平方根"),
        Text(
            en="It looks at the wrong axis of `key`. As long as two axes have the same length, nobody can tell.",
            zh="它看的是 `key` 的另一个轴。只要两个轴一样长，就没有人看得出来。",
        ),
    ),
    Mutant(
        "softmax-over-axis-one",
        Text(en="softmax over axis 1", zh="softmax 沿轴 1"),
        Text(
            en="Axis 1 is the right one where the scores have two axes. What can stand before them?",
            zh="得分只有两个轴时，轴 1 恰好是对的。前面还可以有哪些轴？",
        ),
    ),
    Mutant(
        "mask-inverted",
        Text(en="mask inverted", zh="掩码反了"),
        Text(
            en="A mask is wanted that lets some keys through and hides others, whose values differ.",
            zh="需要一个掩码，让一些键通过，挡住另一些键，并且这些键的值互不相同。",
        ),
    ),
    Mutant(
        "mask-transposed",
        Text(en="mask transposed", zh="掩码转置了"),
        Text(
            en="A mask is wanted in which rows and columns do not say the same.",
            zh="需要一个掩码，它的行与列说的不是一回事。",
        ),
    ),
    Mutant(
        "keys-for-values",
        Text(en="keys mixed in place of the values", zh="加权求和的是键，不是值"),
        Text(
            en="Where keys and values are the same numbers, it makes no difference which of them are mixed.",
            zh="键和值如果是同样的数，对哪一个加权求和都一样。",
        ),
    ),
    section=BY_HAND,
)

EXERCISES = (CAUSAL_MASK, WEIGHT_BY_HAND, ATTENTION, SPLIT_HEADS, CATCH_ATTENTION)
