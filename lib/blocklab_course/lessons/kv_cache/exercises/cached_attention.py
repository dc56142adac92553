"""Known mistakes of `cached_attention`."""

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab._validation import upcast
from blocklab.positional_encoding import rotary_embedding
from blocklab_course.checks.case import Advice, Case, cast_floats, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import Mistake, exclusive, with_section, wrong
from blocklab_course.i18n import Text


def at_the_end(past: Tensor, new: Tensor) -> Tensor:
    return torch.cat([past, new], 2)


def as_heads(past: Tensor, new: Tensor) -> Tensor:
    return torch.cat([past, new], 1)


def in_place(x: Tensor, n_rep: int) -> Tensor:
    return x.repeat_interleave(n_rep, 1)


def by_root_of_size(scores: Tensor, query: Tensor) -> Tensor:
    return scores / math.sqrt(query.shape[-1])


def up_to_itself(i: Tensor, j: Tensor, past: int) -> Tensor:
    """Whether new token i sees position j, where so many positions are not new."""
    return j <= i + past


def by_what_is_appended(L: int, S: int, _past: int) -> int:
    """How far the diagonal of the mask is shifted: where the keys are right, by as many positions as were kept."""
    return S - L


def by_what_was_kept(_L: int, _S: int, past: int) -> int:
    return past


def hidden(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -math.inf)


def over_keys(scores: Tensor) -> Tensor:
    return scores.softmax(-1)


def as_they_are(weights: Tensor, _mask: Tensor) -> Tensor:
    return weights


def values_of(_keys: Tensor, values: Tensor) -> Tensor:
    return values


def all_that_is_kept(keys: Tensor, values: Tensor, *_others: Tensor) -> tuple[Tensor, Tensor]:
    return keys, values


def recipe(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_keys: Tensor,
    past_values: Tensor,
    *,
    append: Callable = at_the_end,
    serve: Callable = in_place,
    scale: Callable = by_root_of_size,
    shift: Callable = by_what_is_appended,
    see: Callable = up_to_itself,
    hide: Callable = hidden,
    normalize: Callable = over_keys,
    after: Callable = as_they_are,
    mixed: Callable = values_of,
    hand_on: Callable = all_that_is_kept,
) -> tuple[Tensor, Tensor, Tensor]:
    keys, values = append(past_keys, key), append(past_values, value)
    n_rep = query.shape[1] // key.shape[1]
    all_keys, all_values = serve(upcast(keys), n_rep), serve(upcast(values), n_rep)
    scores = scale(upcast(query) @ all_keys.mT, query)
    L, S = scores.shape[-2:]
    mask = see(torch.arange(L)[:, None], torch.arange(S), shift(L, S, past_keys.shape[2]))
    weights = after(normalize(hide(scores, mask)), mask)
    y = (weights @ mixed(all_keys, all_values)).to(value.dtype)
    return y, *hand_on(keys, values, key, value, past_keys, past_values, n_rep)


def over_the_past(
    query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    keys, values = (in_place(x, query.shape[1] // key.shape[1]) for x in (past_keys, past_values))
    weights = by_root_of_size(query @ keys.mT, query).softmax(-1)
    return weights @ values, at_the_end(past_keys, key), at_the_end(past_values, value)


def by_torch(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_keys: Tensor,
    past_values: Tensor,
    *,
    see: Callable = up_to_itself,
    append: Callable = at_the_end,
) -> tuple[Tensor, Tensor, Tensor]:
    """With torch's attention, which gives 0 where a row of the mask hides everything; the recipe gives NaN."""
    keys, values = append(past_keys, key), append(past_values, value)
    L, S = query.shape[2], keys.shape[2]
    mask = see(torch.arange(L)[:, None], torch.arange(S), S - L)
    return F.scaled_dot_product_attention(query, keys, values, mask, enable_gqa=True), keys, values


def attend_by_hand(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    return over_keys(hidden(by_root_of_size(query @ keys.mT, query), mask)) @ values


def shared_by_what_is_appended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_keys: Tensor,
    past_values: Tensor,
    *,
    append: Callable,
    attend: Callable = attend_by_hand,
    shift: Callable = by_what_is_appended,
) -> tuple[Tensor, Tensor, Tensor]:
    """The group is counted in the appended keys, which have too many heads."""
    keys, values = append(past_keys, key), append(past_values, value)
    n_rep, L, S = query.shape[1] // keys.shape[1], query.shape[2], keys.shape[2]
    mask = up_to_itself(torch.arange(L)[:, None], torch.arange(S), shift(L, S, past_keys.shape[2]))
    return attend(query, in_place(keys, n_rep), in_place(values, n_rep), mask), keys, values


def repeated_before(
    query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    n_rep = query.shape[1] // key.shape[1]
    return recipe(query, in_place(key, n_rep), in_place(value, n_rep), past_keys, past_values)


def rotated_again(
    query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    first = past_keys.shape[2]
    places = torch.arange(first, first + query.shape[2])
    return recipe(rotary_embedding(query, places), rotary_embedding(key, places), value, past_keys, past_values)


def empty_slots_behind(
    query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    keys, values = at_the_end(past_keys, key), at_the_end(past_values, value)
    filled = (F.pad(x, (0, 0, 0, BUFFER - x.shape[2])) for x in (keys, values))
    return F.scaled_dot_product_attention(query, *filled, enable_gqa=True), keys, values


def large_negative(
    query: Tensor, key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    keys, values = at_the_end(past_keys, key), at_the_end(past_values, value)
    n_rep, L, S = query.shape[1] // keys.shape[1], query.shape[2], keys.shape[2]
    mask = up_to_itself(torch.arange(L)[:, None], torch.arange(S), S - L)
    scores = by_root_of_size(query @ in_place(keys, n_rep).mT, query).masked_fill(~mask, -1e9)
    return over_keys(scores) @ in_place(values, n_rep), keys, values


BUFFER = 128  # positions of the buffer in the lesson's table of mistakes


def as_few(x: Tensor, _n_rep: int) -> Tensor:
    """Heads of keys or values as few as they came."""
    return x


def not_shared_and(id: str, *, en: str, zh: str, shows: str | None = None, **steps: Callable) -> Mistake:
    """Heads that are not shared, and one more mistake: told together, for the first stops most calls and hides it."""
    return wrong(f"heads-not-shared-and-{id}", serve=as_few, **steps).hint(
        en="Two things. There are fewer heads of keys than of queries, and your product cannot pair them: each serves "
        f"`h / g` neighboring queries' heads. And {en}",
        zh="有两处错误。一是键的头比查询的头少，你的乘法无法把它们配对：每个键值头要给相邻的 `h / g` 个查询头用。"
        f"二是{zh}",
        shown_on=shows,
    )


def blind(id: str, see: Callable, *, en: str, zh: str, shows: str | None = None) -> tuple[Mistake, Mistake]:
    """A mask with a row that hides everything: by hand that row is NaN, with torch's attention 0."""
    by_hand, with_torch = wrong(id, see=see), wrong(f"{id}-in-torch", partial(by_torch, see=see))
    return (
        by_hand.hint(
            en=f"{en} A softmax of nothing but -inf is NaN.",
            zh=f"{zh}整行都是 -inf，softmax 就成了 NaN。",
            shown_on=shows,
        ),
        with_torch.hint(
            en=f"{en} For such a row torch's attention gives 0.",
            zh=f"{zh}对这样的一行，torch 的注意力函数给出 0。",
            shown_on=shows,
        ),
    )


def by_both_shifts(mistake: Mistake) -> tuple[Mistake, Mistake]:
    """A wrong number of keys, with a mask shifted by `S - L`, and by the number of positions that were kept."""
    return mistake, mistake.spelled(partial(recipe, shift=by_what_was_kept, **mistake.replaces))


APPEND_MISTAKES = (
    *by_both_shifts(
        wrong("past-forgotten", append=lambda past, new: new).hint(
            en="What was kept has no effect: the new tokens see only each other. Put the new keys and values behind "
            "the old ones.",
            zh="以前存下的没有起作用：新词元只能看到彼此。应当把新的键和值接在旧的后面。",
            shown_on="one new token",
        )
    ),
    wrong("new-token-in-front", append=lambda past, new: torch.cat([new, past], 2)).hint(
        en="You put the new keys and values in front of the old ones. They come last, in the order of the text.",
        zh="你把新的键和值放到了旧的前面。它们应排在最后，与文本的顺序一致。",
        shown_on="one new token",
    ),
    *by_both_shifts(
        wrong("oldest-dropped", append=lambda past, new: torch.cat([past[:, :, 1:], new], 2)).hint(
            en="You drop the oldest position with each call, as a sliding window does. Here everything is kept.",
            zh="每调用一次，你就丢掉最旧的一个位置，像滑动窗口那样。这里要全部保留。",
            shown_on="one new token",
        )
    ),
    *by_both_shifts(
        wrong("new-token-twice", append=lambda past, new: torch.cat([past, new, new], 2)).hint(
            en="The new keys and values stand in your cache twice. Append them once.",
            zh="新的键和值在你的缓存里出现了两次。只应接上一次。",
            shown_on="one new token",
        )
    ),
    wrong(
        "one-cache-for-all-texts",
        append=lambda past, new: torch.cat([past[-1:].expand_as(past), new], 2),
    ).hint(
        en="All texts of the batch read what the last of them left. Each text has a cache of its own along axis 0.",
        zh="小批量里所有文本读的都是最后一个文本存下的内容。沿轴 0，每个文本都有自己的缓存。",
    ),
    wrong(
        "pasts-swapped",
        lambda query, key, value, past_keys, past_values: recipe(query, key, value, past_values, past_keys),
    ).hint(
        en="You put new keys behind old values, and new values behind old keys. `past_keys` comes before "
        "`past_values`.",
        zh="你把新的键接在了旧的值后面，把新的值接在了旧的键后面。参数里 `past_keys` 在前，`past_values` 在后。",
        shown_on="one new token",
    ),
    wrong(
        "zero-slot-seen",
        append=lambda past, new: torch.cat([torch.zeros_like(new[:, :, :1]), past, new], 2),
        hand_on=lambda keys, values, *others: (keys[:, :, 1:], values[:, :, 1:]),
    ).hint(
        en="A slot of zeros takes part. Its score is 0, not -inf, so it gets a weight and takes it from the others.",
        zh="有一个全是零的空位参与了计算。它的得分是 0，不是 -inf，所以它分到了权重，别的词元就少了。",
        shown_on="one new token",
    ),
    wrong("empty-slots-behind", empty_slots_behind).hint(
        en="Behind what is filled, the empty slots of your buffer take part. Their scores are 0, not -inf. Read only "
        "what is filled.",
        zh="你的缓冲区里，填好的部分后面还有空位，它们也参与了计算：得分是 0，不是 -inf。请只读已经填好的部分。",
        shown_on="one new token",
    ),
    wrong("rotated-again", rotated_again).hint(
        en="`query` and `key` come rotated already. Do not rotate them again.",
        zh="`query` 和 `key` 已经旋转过，请不要再转。",
    ),
)

AXIS_MISTAKES = (
    wrong("appended-as-heads", append=as_heads).hint(
        en="You append along axis 1, that of the heads. Positions are axis 2.",
        zh="你是沿轴 1，也就是头的轴拼接的。位置是轴 2。",
    ),
    wrong("appended-as-features", append=lambda past, new: torch.cat([past, new], -1)).hint(
        en="You append along the last axis, that of the features. Positions are axis 2.",
        zh="你是沿最后一个轴，也就是特征轴拼接的。位置是轴 2。",
    ),
    wrong("appended-as-texts", append=lambda past, new: torch.cat([past, new])).hint(
        en="`torch.cat` without `dim` appends along axis 0, that of the texts. Positions are axis 2.",
        zh="`torch.cat` 不写 `dim`，就沿轴 0，也就是批量轴拼接。位置是轴 2。",
    ),
)

TOO_MANY_HEADS = wrong("appended-as-heads-then-shared", partial(shared_by_what_is_appended, append=as_heads)).hint(
    en="You append along axis 1, so there are too many heads of keys to share. Positions are axis 2.",
    zh="你是沿轴 1，也就是头的轴拼接的，键的头就多了，没法共用。位置是轴 2。",
)
AXIS_AND_HEADS = (
    TOO_MANY_HEADS,
    *(
        TOO_MANY_HEADS.spelled(partial(shared_by_what_is_appended, append=as_heads, attend=attend, shift=shift))
        for attend, shift in (
            (attend_by_hand, by_what_was_kept),
            (F.scaled_dot_product_attention, by_what_is_appended),
            (F.scaled_dot_product_attention, by_what_was_kept),
        )
    ),
    wrong("appended-as-heads-in-torch", partial(by_torch, append=as_heads)).hint(
        en="You append along axis 1, so torch finds more heads of keys than the queries can share. Positions are "
        "axis 2.",
        zh="你是沿轴 1，也就是头的轴拼接的，torch 收到的键头数不对。位置是轴 2。",
    ),
)

NOT_SHARED = (
    wrong("heads-not-shared", serve=as_few).hint(
        en="There are fewer heads of keys than of queries, and your product cannot pair them. Each of them serves "
        "`h / g` neighboring queries' heads.",
        zh="键的头比查询的头少，你的乘法无法把它们配对。每个键值头要给相邻的 `h / g` 个查询头用。",
    ),
    not_shared_and(
        "triangle-upper-left",
        see=lambda i, j, past: j <= i,
        en="your triangle begins at the upper left, so a new token sees position 0 alone: shift its diagonal by "
        "`S - L`.",
        zh="三角形从左上角开始，新词元只看得到位置 0，对角线应平移 `S - L`。",
        shows="four heads share two",
    ),
    not_shared_and(
        "nothing-hidden",
        hide=lambda scores, mask: scores,
        en="nothing is hidden, so of several new tokens the first sees those after it.",
        zh="什么也没有屏蔽，有几个新词元时，前面的就看到了后面的。",
    ),
    not_shared_and(
        "mask-of-numbers",
        hide=lambda scores, mask: scores + mask,
        en="your mask is of numbers, which are added to the scores: make it boolean.",
        zh="掩码是数，会被加到得分上，应当用布尔型的。",
    ),
)

REPEATED_BEFORE = (
    wrong("repeated-before-appending", repeated_before).hint(
        en="You repeat the new heads before appending, but the past has g heads. Append first, then repeat, and hand "
        "on the g heads.",
        zh="你先重复了新的头，再去拼接，而以前存下的只有 g 个头。应当先接上，再重复；返回的仍是 g 个头。",
    ),
)

SHARING_MISTAKES = (
    wrong("heads-tiled", serve=lambda x, n_rep: x.repeat(1, n_rep, 1, 1)).hint(
        en="Your heads stand as 0 1 0 1, copies of the whole beside each other, as `repeat` lays them. "
        "`repeat_interleave(n, 1)` repeats each head in its place, 0 0 1 1.",
        zh="你的头排成了 0 1 0 1，是把整体复制几份再并排，`repeat` 就是这样。"
        "`repeat_interleave(n, 1)` 把每个头就地重复，得到 0 0 1 1。",
    ),
    wrong("first-head-for-all", serve=lambda x, n_rep: x[:, :1].expand(-1, x.shape[1] * n_rep, -1, -1)).hint(
        en="All queries' heads read the first head of keys and values. That is right only if there is no other.",
        zh="所有查询头读的都是第一个键值头。只有总共一个键值头时，这才是对的。",
    ),
    wrong("heads-averaged", serve=lambda x, n_rep: x.mean(1, keepdim=True).expand(-1, x.shape[1] * n_rep, -1, -1)).hint(
        en="You average the heads of keys and values. They stay apart; a group of queries' heads reads one of them.",
        zh="你对各个键值头取了平均。它们应各自独立，每一组查询头读其中一个。",
    ),
    wrong("heads-in-reverse", serve=lambda x, n_rep: in_place(x.flip(1), n_rep)).hint(
        en="The groups are in reverse: the first queries' heads read the last head of keys and values.",
        zh="各组的次序反了：最前面的查询头读的是最后一个键值头。",
    ),
)

PAST_HIDDEN = wrong("past-hidden", see=lambda i, j, past: (j >= past) & (j <= i + past)).hint(
    en="You hand on the kept positions, but they have no part in your output: you attend to the new tokens alone and "
    "append afterwards, or your mask hides the past.",
    zh="你返回的键和值里有以前的位置，但计算输出时没有用到它们：要么你先对新词元算了注意力，然后才拼接；"
    "要么你的掩码挡住了以前的位置。",
    shown_on="one new token",
)

SEEING_MISTAKES = (
    wrong("triangle-upper-left", see=lambda i, j, past: j <= i).hint(
        en="Your triangle begins at the upper left, as `is_causal=True` and `tril()` have it. So the first new token "
        "sees position 0 alone, though it stands behind all that was kept. Shift the diagonal by `S - L`.",
        zh="你的三角形从左上角开始，`is_causal=True` 和 `tril()` 就是这样。于是第一个新词元只看得到位置 0，"
        "而它其实排在所有存下的词元后面。请把对角线平移 `S - L`。",
        shown_on="one new token",
    ),
    wrong("nothing-hidden", hide=lambda scores, mask: scores).hint(
        en="Nothing is hidden: there is no mask, or it lets everything through. For one new token that is right; of "
        "several, the first sees those after it.",
        zh="什么也没有屏蔽：要么没有掩码，要么掩码全都放行。只有一个新词元时，这样没错；有几个时，前面的就看到了后面的。",
    ),
    wrong("mask-of-numbers", hide=lambda scores, mask: scores + mask).hint(
        en="Your mask is of numbers, 1 and 0, and those are added to the scores: nothing is hidden. Make it boolean, "
        "`dtype=torch.bool`.",
        zh="你的掩码是 1 和 0 这样的数，会被加到得分上，什么也没有挡住。请用布尔型：`dtype=torch.bool`。",
    ),
    wrong("shifted-by-the-new", see=lambda i, j, past: j <= i + len(i)).hint(
        en="You shift the diagonal by the number of new tokens. Shift it by how many were kept before, `S - L`.",
        zh="你把对角线平移了新词元的个数。应平移以前存下的个数，即 `S - L`。",
    ),
    wrong("itself-and-later", see=lambda i, j, past: j >= i + past).hint(
        en="A new token sees itself and what comes after, none of what came before: you took the upper triangle. Where "
        "True takes part, it is the lower one, `tril`.",
        zh="新词元看到的是自己和后面的，前面的却看不到：你用的是上三角。True 表示看得到时，应当用下三角 `tril`。",
        shown_on="one new token",
    ),
    wrong("chunk-not-masked", see=lambda i, j, past: (j <= i + past) | torch.tensor(past > 0)).hint(
        en="You mask only while nothing is kept. When several tokens come later, at once, the first of them must not "
        "see the last either.",
        zh="只有还没存下东西时，你才用掩码。后面再一次送来几个词元时，其中靠前的同样不能看到靠后的。",
    ),
    wrong("several-always-masked-from-zero", see=lambda i, j, past: (j <= i) | torch.tensor(len(i) == 1)).hint(
        en="With several new tokens your triangle begins at the upper left, as if nothing were kept. Only for a single "
        "one you leave the mask away. Shift the diagonal by `S - L`.",
        zh="有几个新词元时，你的三角形从左上角开始，好像什么也没存过；只有一个新词元时，你才不用掩码。"
        "请把对角线平移 `S - L`。",
    ),
    PAST_HIDDEN,
    PAST_HIDDEN.spelled(partial(recipe, see=lambda i, j, past: j >= past + 0 * i)),
    wrong("sees-the-next", see=lambda i, j, past: j <= i + past + 1).hint(
        en="Every new token also sees the one after it. Your diagonal is shifted one too far.",
        zh="每个新词元还看得到它后面的那一个。你的对角线多移了一格。",
    ),
    *blind(
        "inverted",
        lambda i, j, past: j > i + past,
        en="Your mask is inverted: it shows what comes after a token and hides what came before. In torch's attention "
        "True takes part. The last token sees nothing.",
        zh="你的掩码反了：看得到的是后面的，挡住的是前面的。在 torch 的注意力函数里，True 表示看得到。"
        "最后一个词元什么也看不到。",
        shows="a prompt",
    ),
    *blind(
        "shifted-the-wrong-way",
        lambda i, j, past: j <= i - past,
        en="Your diagonal is shifted the wrong way, so a new token sees nothing once enough is kept. It is "
        "`tril(S - L)`, S being the longer one.",
        zh="对角线移反了方向，存下的词元一多，新词元就什么也看不到。应当是 `tril(S - L)`，S 是较长的那个。",
    ),
    *blind(
        "itself-hidden",
        lambda i, j, past: j < i + past,
        en="A new token does not see itself: your diagonal is one too far to the left. Row i sees up to S − L + i, "
        "itself included. At a prompt the first token sees nothing.",
        zh="新词元看不到自己：对角线偏左了一格。第 i 行能看到第 S − L + i 个位置为止，包括它自己。"
        "读提示时，第一个词元什么也看不到。",
        shows="a prompt",
    ),
    wrong("all-as-the-first", see=lambda i, j, past: j <= past + 0 * i).hint(
        en="All new tokens see what the first of them sees. Row i may see i positions more.",
        zh="所有新词元看到的都与第一个新词元一样。第 i 行应多看 i 个位置。",
    ),
)

NEW_HIDDEN = (
    wrong("new-tokens-hidden", over_the_past).hint(
        en="The new tokens see only what was kept before, neither themselves nor each other. Append first, then "
        "attend.",
        zh="新词元只看得到以前存下的，看不到自己，也看不到彼此。应当先接上，再计算注意力。",
        shown_on="one new token",
    ),
)

SOFTMAX_MISTAKES = (
    wrong("scale-missing", scale=lambda scores, query: scores).hint(
        en="The scores are not divided by √d.",
        zh="得分没有除以 √d。",
    ),
    wrong("scaled-by-size", scale=lambda scores, query: scores / query.shape[-1]).hint(
        en="You divide the scores by d. Take its root.",
        zh="你把得分除以了 d。应当除以它的平方根。",
    ),
    wrong("scaled-by-all-heads", scale=lambda scores, query: scores / math.sqrt(query.shape[1] * query.shape[-1])).hint(
        en="You divide by the root of the width of all heads together. d is the width of one head, the last axis.",
        zh="你除以了所有头总宽度的平方根。d 是一个头的宽度，也就是最后一个轴的长度。",
    ),
    wrong("scaled-by-positions", scale=lambda scores, query: scores / math.sqrt(scores.shape[-1])).hint(
        en="You divide by the root of the number of kept positions, so the same scores shrink as the text grows.",
        zh="你除以了位置个数的平方根，于是文本越长，同样的得分就越小。",
    ),
    wrong("softmax-over-queries", normalize=lambda scores: scores.softmax(-2)).hint(
        en="Your softmax runs over the new tokens. With one of them every weight is 1. It runs over the keys, the last "
        "axis.",
        zh="你的 softmax 是沿新词元的轴取的。新词元只有一个时，每个权重都成了 1。应当沿键的轴，也就是最后一个轴。",
        shown_on="one new token",
    ),
    wrong("softmax-over-heads", normalize=lambda scores: scores.softmax(1)).hint(
        en="Your softmax runs over axis 1, the heads. Each head shares out its own attention over the keys, the last "
        "axis.",
        zh="你的 softmax 是沿轴 1，也就是头的轴取的。每个头各自分配注意力，应当沿键的轴，也就是最后一个轴。",
        shown_on="one new token",
    ),
    wrong("masked-with-zero", hide=lambda scores, mask: scores.masked_fill(~mask, 0.0)).hint(
        en="Hidden scores become 0. To the softmax that is a score like any other: only -inf gets no share.",
        zh="屏蔽掉的得分成了 0。对 softmax 来说，这也是普通的得分：只有 -inf 才分不到权重。",
    ),
    wrong(
        "masked-after-softmax",
        hide=lambda scores, mask: scores,
        after=lambda weights, mask: weights * mask.to(weights.dtype),
    ).hint(
        en="You hide weights after the softmax, so the rest no longer sums to 1. Hide the scores before it.",
        zh="你在 softmax 之后才去掉权重，剩下的权重之和就不再是 1。应当在 softmax 之前屏蔽得分。",
    ),
    wrong("large-negative-for-infinity", large_negative).hint(
        en="-1e9 does not fit in float16, whose lowest number is -65504. Write `-torch.inf`.",
        zh="float16 装不下 −1e9，它最小只到 −65504。请写 `-torch.inf`。",
    ),
    wrong("keys-for-values", mixed=lambda keys, values: keys).hint(
        en="The weights mix the keys. What an output is made of are the values.",
        zh="你用权重对键求了和。输出应由值加权求和得到。",
        shown_on="one new token",
    ),
)

HANDING_MISTAKES = (
    wrong("only-the-new-handed-on", hand_on=lambda keys, values, key, value, *others: (key, value)).hint(
        en="You hand on only the new keys and values, so the next call knows nothing of what came before.",
        zh="你只返回了新的键和值，于是下一次调用就不知道以前的内容了。",
        shown_on="one new token",
    ),
    wrong("only-the-old-handed-on", hand_on=lambda keys, values, key, value, *past: past[:2]).hint(
        en="You hand on what came in. The new token is missing, and the next call will not see it.",
        zh="你把传入的原样返回了。里面没有新词元，下一次调用就看不到它。",
        shown_on="one new token",
    ),
    wrong(
        "only-the-prompt-handed-on",
        hand_on=lambda keys, values, key, value, pk, pv, n_rep: (pk, pv) if pk.shape[2] else (keys, values),
    ).hint(
        en="Behind the prompt you hand on what came in. The new token is missing: attention was computed, and the "
        "update forgotten.",
        zh="读提示之后，你返回的就只是传入的键和值，里面没有新词元：算了注意力，忘了保存。",
        shown_on="one new token",
    ),
    wrong(
        "repeated-heads-handed-on",
        hand_on=lambda keys, values, key, value, pk, pv, n_rep: (in_place(keys, n_rep), in_place(values, n_rep)),
    ).hint(
        en="You hand on the repeated heads: the cache is `h / g` times as large, and the next call repeats them again. "
        "Hand on the g heads.",
        zh="你返回的是重复之后的头：缓存变成了原来的 `h / g` 倍，下一次调用还会再重复一遍。应当返回 g 个头。",
    ),
    wrong("handed-on-swapped", hand_on=lambda keys, values, *others: (values, keys)).hint(
        en="You hand on the values before the keys.",
        zh="返回时，你把值放到了键的前面。",
        shown_on="one new token",
    ),
    wrong(
        "scaled-keys-handed-on",
        hand_on=lambda keys, values, *others: (keys / math.sqrt(keys.shape[-1]), values),
    ).hint(
        en="The keys that you hand on are divided by √d already, and the next call divides again. Keep the keys as "
        "they came.",
        zh="你返回的键已经除以了 √d，下一次调用又会再除一遍。键应原样保存。",
    ),
)

NOTHING_HANDED_ON = (
    wrong("nothing-handed-on", lambda *given: recipe(*given)[0]).hint(
        en="You return the output alone. Without the keys and values the next call would begin anew: "
        "`return y, keys, values`.",
        zh="你只返回了输出。没有键和值，下一次调用就得从头算起：`return y, keys, values`。",
    ),
)


def step(N: int, h: int, g: int, past: int, L: int, d: int) -> dict[str, Tensor]:
    """The arguments of one call: L new tokens of N texts behind so many positions."""
    return {
        "query": 2 * waves(N, h, L, d),
        "key": 2 * waves(N, g, L, d, start=1.0),
        "value": waves(N, g, L, d, start=2.0),
        "past_keys": 2 * waves(N, g, past, d, start=3.0),
        "past_values": waves(N, g, past, d, start=4.0),
    }


def joined(key: Tensor, value: Tensor, past_keys: Tensor, past_values: Tensor) -> tuple[Tensor, Tensor]:
    return at_the_end(past_keys, key), at_the_end(past_values, value)


BY_HAND = {  # scores 0 and 0 behind one position, d = 1: a mean of 10 and 20
    "query": torch.zeros(1, 1, 1, 1),
    "key": torch.ones(1, 1, 1, 1),
    "value": torch.full((1, 1, 1, 1), 20.0),
    "past_keys": torch.full((1, 1, 1, 1), 3.0),
    "past_values": torch.full((1, 1, 1, 1), 10.0),
}

OVERFLOW = Text(
    en="In float16 your products overflow above 65504 and the weights become NaN. Convert to float32 first, "
    "`.float()`, and convert the result back.",
    zh="在 float16 里，点积超过 65504 就会溢出，权重成了 NaN。请先用 `.float()` 转成 float32，算完再转回去。",
)

FULL = Text(en="Full against cached", zh="全部重算与缓存")
SHARED = Text(en="Whose cache is larger?", zh="谁的缓存更大？")
WHAT_A_STEP = Text(en="What one step computes", zh="一步要算什么")
EXERCISE = Text(en="Exercise: attention with a cache", zh="练习：带缓存的注意力")

APPENDED = "keys, values = torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)"
REPEATED = "every_key = keys.repeat_interleave(query.shape[1] // keys.shape[1], 1)"
LOWER_RIGHT = "mask = torch.ones(L, S, dtype=torch.bool).tril(S - L)"
SHARES = "weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)"
HANDED = "return y, keys, values"

CACHED_ATTENTION = Exercise(
    name="cached_attention",
    recipe=recipe,
    cases=(
        Case("by hand", BY_HAND),
        Case("one new token", step(1, 2, 1, 2, 1, 2)),
        Case("four heads share two", step(1, 4, 2, 2, 1, 2)),
        Case("a prompt", step(1, 2, 1, 0, 3, 2)),
        Case("a second chunk", step(1, 2, 1, 3, 2, 2)),
        Case("two texts", step(2, 4, 2, 3, 1, 3)),
        Case("six heads share three", step(2, 6, 3, 5, 4, 7)),
        Case("a head of its own for each", step(2, 3, 3, 5, 2, 4)),
        Case("one head for all", step(2, 4, 1, 5, 3, 6)),
        Case("as many new as old", step(3, 4, 2, 5, 5, 6)),
        Case("equal sizes", step(4, 4, 2, 4, 4, 4)),
        Case("a long prompt", step(1, 2, 2, 0, 9, 3)),
        Case("far behind", step(1, 2, 1, 40, 1, 4)),
        Case("one feature", step(2, 4, 2, 3, 2, 1)),
        Case("float16", cast_floats(step(1, 4, 2, 3, 2, 4), torch.float16), tolerance=1e-2),
        Case("bfloat16", cast_floats(step(1, 4, 2, 3, 2, 4), torch.bfloat16), tolerance=5e-2),
        Case("gradient", step(2, 4, 2, 3, 2, 5), gradient=True),
        Case(
            "overflows-in-float16",
            cast_floats({name: torch.full_like(x, 200.0) for name, x in step(1, 2, 1, 2, 1, 4).items()}, torch.float16),
            tolerance=1e-2,
            advice=Advice(
                OVERFLOW,
                weak_functions=(
                    lambda query, key, value, *past: (torch.full_like(query, torch.nan), *joined(key, value, *past)),
                ),
            ),
        ),
    ),
    mistakes=(
        *with_section(FULL, *APPEND_MISTAKES, *NEW_HIDDEN, hint_line=APPENDED),
        *with_section(EXERCISE, *exclusive(recipe, *AXIS_MISTAKES), *AXIS_AND_HEADS, hint_line=APPENDED),
        *with_section(SHARED, *SHARING_MISTAKES, *exclusive(recipe, *NOT_SHARED), *REPEATED_BEFORE, hint_line=REPEATED),
        *with_section(WHAT_A_STEP, *SEEING_MISTAKES, hint_line=LOWER_RIGHT),
        *with_section(EXERCISE, *SOFTMAX_MISTAKES, hint_line=SHARES),
        *with_section(FULL, *HANDING_MISTAKES, hint_line=HANDED),
        *with_section(EXERCISE, *NOTHING_HANDED_ON, hint_line=HANDED),
    ),
    scaled_inputs=lambda n: step(n, 4, 2, n, n, 4),
    section=EXERCISE,
    panel=Text(
        en="under *What one step computes*, set the cache on and a prompt of 4, and go to step 4: the orange row is "
        "your mask.",
        zh="在“一步要算什么”一节里，打开缓存，把“提示词元”设为 4，再走到步骤 4：橙色的那一行就是你的掩码。",
    ),
    hint_line=LOWER_RIGHT,
    names={
        "result 0": Text(en="output", zh="输出"),
        "result 1": Text(en="keys", zh="键"),
        "result 2": Text(en="values", zh="值"),
    },
)
