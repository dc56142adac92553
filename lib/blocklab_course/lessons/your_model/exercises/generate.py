"""Known mistakes of `generate`, on a made-up model whose next token is computed from all that it has read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from blocklab_course.checks.case import Advice, Case
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.messages import A_KIND
from blocklab_course.checks.mistake import exclusive, wrong
from blocklab_course.checks.safe_repr import type_name
from blocklab_course.i18n import Text

VOCABULARY = 11
MOST_CALLS = 40
LONGEST = 11  # items of a result: a prompt of 3 and 8 more

READ_TOO_OFTEN = Text(
    en="the model was called {count} times; so many tokens were not asked for",
    zh="模型调用了 {count} 次，要的词元没有这么多",
)
NOTHING_TO_READ = Text(
    en="the model was called with {got}; it reads a list of numbers, for one token `[token]`",
    zh="调用模型时给的是{got}；它读的是列表，元素都是整数，只有一个词元时写 `[token]`",
)
NO_TOKEN = Text(en="an empty list", zh="空列表")
A_LIST_IN_A_LIST = Text(en="a list inside a list (there is no batch axis here)", zh="列表里的列表（这里没有批量轴）")
MODEL = Text(
    en="begins at s = 0; each token t it reads makes s the remainder of 7 s + t + 1 by 11; s is what it wants next",
    zh="从 s = 0 开始；每读一个词元 t，s 就变成 7 s + t + 1 除以 11 的余数；下一个词元就是 s",
)


class ReadTooOften(Exception):
    """The model was called far more often than any right loop calls it."""


class MadeUpModel:
    """A model with a memory, as the cache is one: it is given new tokens and goes by all that it has been given.

    Called with a list of tokens, it gives scores of shape (len(tokens), 11); row i is for what follows tokens[i]. As in
    a real model, the order of the tokens counts, and the last row may be less sure than those before it.
    """

    def __init__(self):
        self.state = self.count = self.calls = 0

    def __call__(self, tokens: Sequence[int]) -> Tensor:
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise ReadTooOften(READ_TOO_OFTEN.format(count=self.calls))
        if not isinstance(tokens, list | tuple):
            raise TypeError(NOTHING_TO_READ.format(got=A_KIND.format(kind=type_name(tokens))))
        if not tokens:
            raise TypeError(NOTHING_TO_READ.format(got=NO_TOKEN))
        if any(isinstance(token, list | tuple) for token in tokens):
            raise TypeError(NOTHING_TO_READ.format(got=A_LIST_IN_A_LIST))
        rows = []
        for token in tokens:
            self.state, self.count = (7 * self.state + int(token) + 1) % VOCABULARY, self.count + 1
            distance = (torch.arange(VOCABULARY) - self.state) % VOCABULARY
            rows.append(3 * self.count % 7 / 2 - distance)  # best scores 1.5, 3, 1, 2.5, 0.5, 2, 0
        return torch.stack(rows)


class Told:
    """Stands for the model where a case is shown to the reader, and says what it does."""

    @property
    def __name__(self) -> str:
        return str(MODEL)

    def __call__(self) -> None:
        raise NotImplementedError


TOLD = Told()


@dataclass(frozen=True, eq=False)
class WithModel(Case):
    """A case whose model has read nothing yet, whatever ran before."""

    def copy_arguments(self) -> dict[str, object]:
        return self.arguments | {"model": MadeUpModel(), "ids": list(self.arguments["ids"])}


def with_model(name: str, ids: list[int], most: int, end: int, advice: Advice | None = None) -> WithModel:
    return WithModel(name, {"model": TOLD, "ids": ids, "most": most, "end": end}, advice=advice)


# The steps: what the model reads first, how often the loop goes round, which token is taken, when it ends, what the
# model reads next, and what is returned


def all_of_it(ids: list[int]) -> list[int]:
    return list(ids)


def best_of_the_last_row(scores: Tensor) -> int:
    return scores[-1].argmax().item()


def is_the_end(token: int, end: int, _text: list[int]) -> bool:
    return token == end


def without_the_end(text: list[int], _end: int) -> list[int]:
    return text


def the_new_token(text: list[int], _prompt: int) -> list[int]:
    return text[-1:]


def everything(text: list[int], _prompt: int) -> list[int]:
    return text


def recipe(
    model: Callable[[list[int]], Tensor],
    ids: list[int],
    most: int,
    end: int,
    *,
    first: Callable = all_of_it,
    rounds: Callable = lambda most, prompt: most,
    choose: Callable = best_of_the_last_row,
    stops: Callable = is_the_end,
    at_the_end: Callable = without_the_end,
    following: Callable = the_new_token,
    returned: Callable = everything,
) -> list[int]:
    text, scores = list(ids), model(first(ids))
    for _ in range(rounds(most, len(ids))):
        token = choose(scores)
        if stops(token, end, text):
            text = at_the_end(text, end)
            break
        text = [*text, token]
        new = following(text, len(ids))
        scores = model(new) if new else scores
    return returned(text, len(ids))


LOOP = Text(en="Exercise: the loop that writes", zh="练习：一个接一个地写")
PREFILL = "scores = model(ids)"
ONE_MORE = "scores = model([token])"
BEST = "token = scores[-1].argmax().item()"

READING_MISTAKES = (
    wrong("last-of-the-prompt-only", first=lambda ids: list(ids)[-1:]).hint(
        en="The model reads the last token of the prompt only. It knows nothing but what it was given: give it the "
        "whole prompt first.",
        zh="提示里的词元，模型只读了最后一个。没有给它读过的，它都不知道：先把整个提示交给它。",
        hint_line=PREFILL,
    ),
    wrong("first-of-the-prompt-only", first=lambda ids: list(ids)[:1]).hint(
        en="The model reads the first token of the prompt only. Give it all of them, in one call.",
        zh="提示里的词元，模型只读了第一个。应当用一次调用把它们全部交给它。",
        hint_line=PREFILL,
    ),
    wrong("prompt-twice", first=lambda ids: [*ids, *ids]).hint(
        en="The prompt reaches the model twice. What was read stays in the cache, so once is enough.",
        zh="提示交给模型两遍了。读过的都留在缓存里，读一遍就够。",
        hint_line=PREFILL,
    ),
    wrong("everything-again", following=lambda text, prompt: text).hint(
        en="In each round you hand over the whole text again. The model has kept what it read, so to it the text grows "
        "by a whole copy. Hand over the new token alone.",
        zh="每一轮你都把整段文字重新交给模型。它已经记住了读过的，这样在它看来，文字每次都多出完整的一份。应当只交新的那个词元。",
        hint_line=ONE_MORE,
    ),
    wrong("prompt-again", following=lambda text, prompt: text[:prompt]).hint(
        en="In each round the model reads the prompt again, and never the token that you chose. Hand over that one.",
        zh="每一轮模型读的都是提示，从没读到你选出的词元。应当把选出的词元交给它。",
        hint_line=ONE_MORE,
    ),
    wrong("answer-again", following=lambda text, prompt: text[prompt:]).hint(
        en="In each round you hand over the whole answer so far. All of it but its last token has been read already.",
        zh="每一轮你都把已有的回答整个交给模型。除了最后一个词元，其余的它都读过了。",
        hint_line=ONE_MORE,
    ),
    wrong("last-two-again", following=lambda text, prompt: text[-2:]).hint(
        en="In each round you hand over two tokens. The first of them has been read already.",
        zh="每一轮你都交给模型两个词元，其中前一个它已经读过了。",
        hint_line=ONE_MORE,
    ),
    wrong("never-read", following=lambda text, prompt: []).hint(
        en="You choose from the same scores in every round. Let the model read the new token, and take its scores.",
        zh="每一轮你都在同一份得分里选。应当把新的词元交给模型，取回新的得分。",
        hint_line=ONE_MORE,
    ),
    wrong("last-of-the-prompt-twice", first=lambda ids: [*ids, ids[-1]]).hint(
        en="The model reads the last token of the prompt twice. What follows it stands in the scores already.",
        zh="提示的最后一个词元，模型读了两遍。读完提示，它后面该是什么，得分里已经有了。",
        hint_line=PREFILL,
    ),
    wrong("token-before-the-new-one", following=lambda text, prompt: text[-2:-1] or text[-1:]).hint(
        en="You hand over the token before the new one, which has been read already. The model never reads the new one "
        "in time.",
        zh="你交给模型的是新词元前面的那个，它已经读过了；新的那个总是晚一步。",
        hint_line=ONE_MORE,
    ),
)

CHOOSING_MISTAKES = (
    wrong("first-row", choose=lambda scores: scores[0].argmax().item()).hint(
        en="You take the first row of the scores, which is for what follows the first token. What follows the last one "
        "stands in the last row.",
        zh="你取了得分的第一行，它说的是第一个词元后面该是什么。最后一个词元后面该是什么，在最后一行。",
        hint_line=BEST,
        section=Text(en="It answers", zh="它回答了"),
    ),
    wrong("row-before-the-last", choose=lambda scores: scores[-2:][0].argmax().item()).hint(
        en="You take the row before the last, which foretells the last token of the prompt. Take the last row.",
        zh="你取了倒数第二行，它预测的是提示的最后一个词元。应当取最后一行。",
        hint_line=BEST,
    ),
    wrong("best-of-all-rows", choose=lambda scores: scores.argmax().item()).hint(
        en="`scores.argmax()` counts through all rows, as if they were one long row. Take the last row first.",
        zh="`scores.argmax()` 把所有的行连成一长行来数。应当先取出最后一行。",
        hint_line=BEST,
    ),
    wrong("surest-row", choose=lambda scores: scores.amax(0).argmax().item()).hint(
        en="You take the best token of all rows. Another row may have a higher score than the last one, but it says "
        "what follows an earlier token.",
        zh="你在所有的行里找得分最高的词元。别的行的得分可能比最后一行还高，但它说的是前面某个词元后面该是什么。",
        hint_line=BEST,
    ),
    wrong("single-score", choose=lambda scores: scores[0, -1].argmax().item()).hint(
        en="You index the scores as if they had a batch axis, as `logits[0, -1]` does in Hugging Face's code. Here "
        "they have two axes, positions and tokens, so `[0, -1]` is a single score, and the `argmax` of one number is "
        "0.",
        zh="你按有批量轴的写法取得分，就像 Hugging Face 代码里的 `logits[0, -1]`。这里的得分只有两个轴，位置和词元，"
        "`[0, -1]` 取出的只是一个得分，而单独一个数的 `argmax` 总是 0。",
        hint_line=BEST,
    ),
    wrong("best-row", choose=lambda scores: scores.argmax(0)[-1].item()).hint(
        en="You compare positions, as `argmax(0)` and `scores[:, -1].argmax()` do, and get the number of a row. The "
        "scores of one row are to be compared, those of the tokens.",
        zh="你比较的是各个位置，`argmax(0)` 和 `scores[:, -1].argmax()` 都是这样，得到的是行号。"
        "应当在一行之内比较各个词元的得分。",
        hint_line=BEST,
    ),
    wrong("least-probable", choose=lambda scores: scores[-1].argmin().item()).hint(
        en="You take the token with the lowest score. Greedy decoding takes the one with the highest.",
        zh="你取了得分最低的词元。贪心解码取得分最高的。",
        hint_line=BEST,
    ),
    wrong("score-for-token", choose=lambda scores: int(scores[-1].max().item())).hint(
        en="`max` gives the score itself. Which token has it is what `argmax` gives.",
        zh="`max` 给出的是得分本身。哪个词元得了这个分，要用 `argmax`。",
        hint_line=BEST,
    ),
)

ENDING_MISTAKES = (
    wrong("never-ends", stops=lambda token, end, text: False).hint(
        en="You go on behind the end. Where the best token is `end`, the answer is done.",
        zh="到了结束的地方，你还在写。得分最高的词元是 `end`，回答就写完了。",
        hint_line="if token == end: break",
    ),
    wrong("end-kept", at_the_end=lambda text, end: [*text, end]).hint(
        en="Your text holds the end token. It is a sign for the loop, and no part of the answer.",
        zh="你的文字里留下了结束词元。它是给循环看的，不属于回答。",
        hint_line="if token == end: break",
    ),
    wrong("end-of-the-prompt", stops=lambda token, end, text: end in [*text, token]).hint(
        en="You look for `end` in the whole text. In a chat the prompt holds that sign, too, where the question ends. "
        "Ask about the new token alone.",
        zh="你在整段文字里找 `end`。对话的提示里也有这个标记，那是问题结束的地方。应当只看新的词元。",
        hint_line="if token == end: break",
    ),
    wrong("ends-at-zero", stops=lambda token, end, text: not token).hint(
        en="You stop at token 0, as at something empty. 0 is a token like others; stop at `end`.",
        zh="你遇到词元 0 就停了，把它当成了空。0 也是普通的词元，应当遇到 `end` 才停。",
        hint_line="if token == end: break",
    ),
    wrong("most-of-the-whole-text", rounds=lambda most, prompt: most - prompt).hint(
        en="You count the prompt, too. `most` is how many tokens may be new.",
        zh="你把提示也数进去了。`most` 说的是最多新写几个词元。",
        hint_line="for _ in range(most):",
    ),
    wrong("one-too-many", rounds=lambda most, prompt: most + 1).hint(
        en="You write one token more than `most`.",
        zh="你比 `most` 多写了一个词元。",
        hint_line="for _ in range(most):",
    ),
    wrong("one-too-few", rounds=lambda most, prompt: most - 1).hint(
        en="Where the answer is as long as `most` allows, yours has one token less: you stop too early, or cut off the "
        "last one, which is not `end`. The first token comes from the scores of the prompt.",
        zh="回答写满 `most` 个时，你的少一个：不是停早了，就是去掉了最后一个，而它并不是 `end`。"
        "第一个词元来自提示的得分。",
        hint_line="for _ in range(most):",
    ),
)

MOST_IGNORED = wrong("most-ignored", rounds=lambda most, prompt: 2 * MOST_CALLS).hint(
    en="You go on until the end token, however late it comes, and it may never come. Stop after `most` new tokens.",
    zh="你一直写到结束词元为止，不管它来得多晚，而它可能永远不来。写够 `most` 个新词元就应当停下。",
    hint_line="for _ in range(most):",
)

TENSORS = wrong("tensors-for-numbers", choose=lambda scores: scores[-1].argmax()).hint(
    en="The tokens in your list are tensors. A token is a number: `.item()` makes one of it.",
    zh="你的列表里，词元成了张量。词元是一个数：用 `.item()` 取出来。",
    hint_line=BEST,
)

PROMPT_ALONE = wrong("prompt-alone", returned=lambda text, prompt: text[:prompt]).hint(
    en="Your text does not grow: you return the prompt as it was. Append each token that you choose.",
    zh="你的文字没有变长，返回的还是提示。每选出一个词元，都要接到后面。",
    hint_line="text.append(token)",
)

ANSWER_ALONE = wrong("answer-alone", returned=lambda text, prompt: text[prompt:]).hint(
    en="You return the answer alone. The whole text is asked for, the prompt and behind it the answer.",
    zh="你只返回了回答。这里要的是整段文字：提示，后面接着回答。",
    hint_line="text = list(ids)",
)

ANSWER_AND_END = wrong(
    "answer-and-end", returned=lambda text, prompt: text[prompt:], at_the_end=lambda text, end: [*text, end]
).hint(
    en="You return the answer without the prompt, and with the end token. Begin with the prompt, and keep no `end`.",
    zh="你返回的回答前面少了提示，后面多了结束词元。应当以提示开头，不留下 `end`。",
    hint_line="text = list(ids)",
)

RETURNING_MISTAKES = (
    wrong(
        "first-new-token-lost",
        rounds=lambda most, prompt: most + 1,
        returned=lambda text, prompt: text[:prompt] + text[prompt + 1 :],
    ).hint(
        en="You choose the first new token and let the model read it, but never keep it: it is missing in your list.",
        zh="第一个新词元，你选出来了，也交给模型读了，却没有留下：你的列表里少了它。",
        hint_line="text.append(token)",
    ),
    wrong("last-token-alone", returned=lambda text, prompt: text[-1]).hint(
        en="You return the last token alone. Return the whole text.",
        zh="你只返回了最后一个词元。应当返回整段文字。",
        hint_line="text = list(ids)",
    ),
    wrong("as-a-tensor", returned=lambda text, prompt: torch.tensor(text)).hint(
        en="You return a tensor. A list of numbers is asked for.",
        zh="你返回的是张量。这里要的是列表，元素都是整数（int）。",
        hint_line="text = list(ids)",
    ),
)

GENERATE = Exercise(
    name="generate",
    recipe=recipe,
    cases=(
        with_model("usual", [3, 1, 4], most=5, end=9),
        with_model("the end comes", [3, 1, 4], most=5, end=10),
        with_model("one token", [5], most=4, end=9),
        with_model("another prompt", [2, 7, 1, 1], most=5, end=9),
        with_model("the prompt holds the end", [6, 2, 2], most=4, end=6),
        with_model("token 0 on the way", [9, 9, 4], most=8, end=8),
        with_model("one new token", [3, 1, 4], most=1, end=9),
        with_model("twice the same", [4, 4], most=4, end=3),
    ),
    mistakes=(
        *READING_MISTAKES,
        *CHOOSING_MISTAKES,
        *ENDING_MISTAKES,
        *exclusive(recipe, MOST_IGNORED, TENSORS, PROMPT_ALONE, ANSWER_ALONE, ANSWER_AND_END),
        *RETURNING_MISTAKES,
    ),
    section=LOOP,
    names={
        f"result {place}": Text(en=f"item {place + 1} of the list", zh=f"列表的第 {place + 1} 项")
        for place in range(LONGEST)
    },
    hint_line=ONE_MORE,
)
