"""A chat model built from a learner's block; its answer is printed piece by piece."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from blocklab_course.i18n import Text
from blocklab_course.pretrained import load_glassllm, load_smollm2
from blocklab_course.pretrained.decoder import Decoder
from blocklab_course.pretrained.free_memory import TooLittleMemory
from blocklab_course.pretrained.smollm2 import END

from . import messages
from .errors import missing_message

MOST_TOKENS = 60
NOTHING_HERE = Text(
    en="No chat model is available here, so read the answers stored in the lesson.",
    zh="这里没有能对话的模型，请看课里存好的回答。",
)

Cache = tuple[Tensor, Tensor]
Block = Callable[..., tuple[Tensor, Cache]]
"""block(x, layer, cache) -> (y, cache): x (1, L, d), one of the model's layers, and its cache, None at first."""


@dataclass(frozen=True)
class ChatModel:
    """A model with its tokenizer; `encode` also applies the chat template, `end` is the token that ends an answer."""

    model: Decoder
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    end: int


def load_chat_model() -> ChatModel | None:
    """Load SmolLM2, or else glassllm with a line that says why, or return None if neither can be loaded."""
    try:
        model = load_smollm2()
        return ChatModel(model, model.chat, model.byte_pairs.decode, model.byte_pairs.token_ids[END])
    except TooLittleMemory as error:
        print(error)
    except ModuleNotFoundError as missing:
        print(missing_message("SmolLM2", missing))
    try:
        model = load_glassllm()
        from glassllm import load_pretrained  # an optional package
    except ModuleNotFoundError:
        print(NOTHING_HERE)
        return None
    print(messages.FALLBACK.format(network="glassllm"))
    tokenizer = load_pretrained("en")[1]
    return ChatModel(model, tokenizer.encode, tokenizer.decode, -1)


class PromptReader:
    """Reads a text a piece at a time: `scores = reading(tokens)`, (len(tokens), vocab_size).

    Each layer has its cache of the tokens before. `on_token` is called with every token after the prompt as soon as it
    has been read.
    """

    def __init__(
        self,
        model: Decoder,
        block: Block,
        norm: Callable,
        prompt_length: int = 0,
        on_token: Callable[[int], None] = lambda _token: None,
    ):
        self.model, self.block, self.norm, self.on_token = model, block, norm, on_token
        self.caches: list[Cache | None] = [None] * len(model.blocks)
        self.prompt_left = prompt_length

    @torch.no_grad()
    def __call__(self, tokens: Sequence[int]) -> Tensor:
        x = self.model.tokens(torch.tensor([list(tokens)]))
        for number, layer in enumerate(self.model.blocks):
            x, self.caches[number] = self.block(x, layer, self.caches[number])
        norm = self.model.norm
        x = self.norm(x, norm.normalized_shape, norm.weight, norm.eps)
        for token in tokens[max(self.prompt_left, 0) :]:
            self.on_token(token)
        self.prompt_left -= len(tokens)
        return x[0] @ self.model.tokens.weight.T


@dataclass
class StreamPrinter:
    """Prints an answer as it grows."""

    decode: Callable[[list[int]], str]
    tokens: list[int] = field(default_factory=list)
    printed: str = ""

    def __call__(self, token: int) -> None:
        self.tokens.append(token)
        text = self.decode(self.tokens).rstrip("�")  # wait for the other tokens of an incomplete character
        print(text[len(self.printed) :], end="", flush=True)
        self.printed = text


def chat(
    chat_model: ChatModel, block: Block, norm: Callable, generate: Callable, prompt: str, most: int = MOST_TOKENS
) -> None:
    """Print the model's answer with this block as every layer, piece by piece.

    norm: the final norm, called like blocklab's `rms_norm`; generate: a function for the exercise of that name.
    """
    ids, printer = chat_model.encode(prompt), StreamPrinter(chat_model.decode)
    reading = PromptReader(chat_model.model, block, norm, len(ids), printer)
    text = generate(reading, list(ids), most, chat_model.end)
    for token in list(text)[len(ids) + len(printer.tokens) :]:  # the last one, which is never read
        printer(token)
    print()
