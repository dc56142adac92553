"""A chat model out of a block: it reads a prompt, and its answer is printed piece by piece."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from blocklab_course.dependencies import MISSING, optional_package
from blocklab_course.i18n import Text
from blocklab_course.pretrained import load_glassllm, load_smollm2
from blocklab_course.pretrained.decoder import Decoder
from blocklab_course.pretrained.free_memory import TooLittleMemory
from blocklab_course.pretrained.smollm2 import END

from . import messages

MOST_TOKENS = 60
NOTHING_HERE = Text(
    en="Nothing here can chat, so read the answers that the lesson stores.",
    zh="这里没有能对话的模型，请看课里存好的回答。",
)

Cache = tuple[Tensor, Tensor]
Block = Callable[..., tuple[Tensor, Cache]]
"""Of x (1, L, d), one of the model's layers, and what it kept of the text so far or None: its result, and what to keep.
"""


@dataclass(frozen=True)
class ChatModel:
    """A model with its tokens: from a prompt to numbers, from numbers to a text, and the number that ends an answer."""

    model: Decoder
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    end: int


def load_chat_model() -> ChatModel | None:
    """SmolLM2, or where it cannot be had glassllm, with a line that says why; None without both."""
    try:
        model = load_smollm2()
        return ChatModel(model, model.chat, model.byte_pairs.decode, model.byte_pairs.token_ids[END])
    except TooLittleMemory as told:
        print(told)
    except ModuleNotFoundError as missing:
        print(missing_message("SmolLM2", missing))
    try:
        model = load_glassllm()
        from glassllm import load_pretrained  # here, for it may be missing
    except ModuleNotFoundError:
        print(NOTHING_HERE)
        return None
    print(messages.FALLBACK.format(network="glassllm"))
    tokens = load_pretrained("en")[1]
    return ChatModel(model, tokens.encode, tokens.decode, -1)


def missing_message(name: str, missing: ModuleNotFoundError) -> str:
    """What is said of a model whose package is missing."""
    package = optional_package((missing.name or "").partition(".")[0])
    if package is None:
        raise missing
    return MISSING.format(function=name, package=package.name, command=package.command)


class PromptReader:
    """A text that the model reads, a piece at a time: `scores = reading(tokens)`, (len(tokens), vocabulary).

    Each layer keeps what it made of the tokens before. `said` is called with every token behind the prompt, as soon as
    it has been read; without it nobody is told.
    """

    def __init__(
        self,
        model: Decoder,
        block: Block,
        norm: Callable,
        prompt: int = 0,
        said: Callable[[int], None] = lambda _token: None,
    ):
        self.model, self.block, self.norm, self.said = model, block, norm, said
        self.kept: list[Cache | None] = [None] * len(model.blocks)
        self.before_the_answer = prompt

    @torch.no_grad()
    def __call__(self, tokens: Sequence[int]) -> Tensor:
        x = self.model.tokens(torch.tensor([list(tokens)]))
        for number, layer in enumerate(self.model.blocks):
            x, self.kept[number] = self.block(x, layer, self.kept[number])
        last = self.model.norm
        x = self.norm(x, last.normalized_shape, last.weight, last.eps)
        for token in tokens[max(self.before_the_answer, 0) :]:
            self.said(token)
        self.before_the_answer -= len(tokens)
        return x[0] @ self.model.tokens.weight.T


@dataclass
class StreamPrinter:
    """An answer as it grows: what is complete of it is printed at once."""

    decode: Callable[[list[int]], str]
    tokens: list[int] = field(default_factory=list)
    shown: str = ""

    def __call__(self, token: int) -> None:
        self.tokens.append(token)
        text = self.decode(self.tokens).rstrip("�")  # of a character of several tokens the rest is still to come
        print(text[len(self.shown) :], end="", flush=True)
        self.shown = text


def chat(
    speaker: ChatModel, block: Block, norm: Callable, generate: Callable, prompt: str, most: int = MOST_TOKENS
) -> None:
    """Print what the speaker answers with this block in all of its layers, each piece as soon as it is there.

    norm: called before the last matrix as blocklab's `rms_norm`; generate: as the exercise of that name.
    """
    ids, printed = speaker.encode(prompt), StreamPrinter(speaker.decode)
    reading = PromptReader(speaker.model, block, norm, len(ids), printed)
    text = generate(reading, list(ids), most, speaker.end)
    for token in list(text)[len(ids) + len(printed.tokens) :]:  # the last one, which nothing comes after
        printed(token)
    print()
