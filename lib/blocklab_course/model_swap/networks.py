"""The trained networks that hold the blocks, and what each of them says when it is asked."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab.kv_cache import KeyValueCache
from blocklab_course.checks.safe_repr import truncate_line
from blocklab_course.i18n import Text
from blocklab_course.pretrained import load_efficientnet_lite0, load_glassllm, load_minilm, load_smollm2
from blocklab_course.pretrained.decoder import Decoder
from blocklab_course.pretrained.efficientnet_lite0 import class_name, prepare_picture
from blocklab_course.pretrained.photos import photo
from blocklab_course.pretrained.prompts import ALICE, QUESTION, ZEN
from blocklab_course.pretrained.smollm2 import MEMORY_GB

from . import messages
from .errors import SwapError, swap_error

MOST_TOKENS = 8  # the right answer has seven, and an end
UNRELATED = 0.25  # a cosine that sentences of different meaning reach
GUITAR = "He is playing the guitar."


@dataclass(frozen=True)
class Generation:
    """A language model's loss on a text, its answer to a question if it can give one, and whether it looked ahead."""

    loss: float
    text: str | None = None
    leaks_future: bool = False

    def shown(self) -> list[str]:
        answer = [] if self.text is None else [truncate_line(self.text) or str(messages.NO_WORD)]
        return [*answer, f"{self.loss:.2f}"]

    def beside(self, right: "Generation") -> Iterator[Text]:
        gain = round(right.loss, 2) - round(self.loss, 2)
        if self.text != right.text:
            yield messages.ANOTHER_ANSWER
        elif gain < 0:
            yield messages.HIGHER if self.text is None else messages.BLURRED
        if self.leaks_future:
            yield messages.LEAKS_FUTURE
        if gain > 0:
            yield messages.LEAKS_AND_GAINS if self.leaks_future else messages.LOWER


def check_finite(loss: float) -> float:
    """Raises CannotRun for one that is no number."""
    if not math.isfinite(loss):
        raise swap_error("overflow")
    return loss


class LanguageModel:
    """A language model, as it reads."""

    model: Decoder

    def caches(self) -> list[KeyValueCache] | None:
        """What it reads a text with."""
        return None

    def loss(self, ids: list[int]) -> float:
        """Raises CannotRun for one that is no number: the block's own results are, but not what the network made."""
        tokens = torch.tensor([ids])
        return check_finite(F.cross_entropy(self.model(tokens, self.caches())[0, :-1], tokens[0, 1:]).item())

    def leaks_future(self, ids: list[int]) -> bool:
        """Whether what comes out at the tokens before the last one changes with the last one."""
        texts = (torch.tensor([[*ids[:-1], last]]) for last in (ids[-1], ids[0]))
        once, again = (self.model.states(text, self.caches())[:, :-1] for text in texts)
        return not nearly_equal(once, again)

    def reads_in_pieces(self, ids: list[int]) -> bool:
        """Whether it makes the same of a text in pieces, with caches, so that an answer need not be read anew."""
        tokens, caches = torch.tensor([ids]), self.model.new_caches()
        try:
            pieces = [self.model.states(piece, caches) for piece in tokens.split([len(ids) - 3, 1, 2], 1)]
        except SwapError:  # a block that wants all queries beside all keys
            return False
        return nearly_equal(torch.cat(pieces, 1), self.model.states(tokens))


def nearly_equal(once: Tensor, again: Tensor) -> bool:
    return torch.allclose(once, again, rtol=1e-3, atol=1e-3)


class SmolLM2(LanguageModel):
    """SmolLM2-135M-Instruct, which answers. What it says with the right blocks is stored: it takes seconds."""

    name = "SmolLM2"
    wants = MEMORY_GB  # GB of free memory
    labels = messages.ANSWER, messages.LOSS_ON_ZEN
    right = Generation(loss=3.0819, text="The capital of France is Paris.")

    def __init__(self):
        self.model = load_smollm2()
        self.zen = self.model.byte_pairs.encode(ZEN)

    def say(self) -> Generation:
        tokens = list(self.model.next_tokens(self.model.chat(QUESTION), MOST_TOKENS, self.cached()))
        more = "…" if len(tokens) == MOST_TOKENS else ""
        return Generation(
            self.loss(self.zen), self.model.byte_pairs.decode(tokens) + more, self.leaks_future(self.zen[:8])
        )

    def cached(self) -> bool:
        """Whether it answers with caches: with a block that cannot, it reads all anew for every token."""
        return self.reads_in_pieces(self.zen[:8])


class CachedSmolLM2(SmolLM2):
    """SmolLM2, where the block is what keeps: it reads and answers with its caches, whatever they hold."""

    def caches(self) -> list[KeyValueCache]:
        return self.model.new_caches()

    def cached(self) -> bool:
        return True


class Glassllm(LanguageModel):
    """glassllm, which only babbles: its loss is what tells."""

    name = "glassllm"
    wants = 0.0
    labels = (messages.LOSS_ON_ALICE,)

    def __init__(self):
        self.model = load_glassllm()
        from glassllm import load_pretrained  # here, for it may be missing

        self.alice = load_pretrained("en")[1].encode(ALICE)
        self.right = self.say()

    def say(self) -> Generation:
        return Generation(self.loss(self.alice), leaks_future=self.leaks_future(self.alice[:8]))


class CachedGlassllm(Glassllm):
    """glassllm, where the block is what keeps: it reads the first half at once, then token by token."""

    def caches(self) -> list[KeyValueCache]:
        return self.model.new_caches()

    def loss(self, ids: list[int]) -> float:
        tokens, caches, half = torch.tensor([ids]), self.caches(), len(ids) // 2
        pieces = tokens[:, :-1].split([half] + [1] * (len(ids) - 1 - half), 1)
        logits = torch.cat([self.model(piece, caches) for piece in pieces], 1)
        return check_finite(F.cross_entropy(logits[0], tokens[0, 1:]).item())


@dataclass(frozen=True)
class NearestSentence:
    """The cosines of the sentences, in their order, and so which is nearest in meaning."""

    cosines: tuple[float, ...]

    @property
    def sentence(self) -> str:
        return list(messages.SENTENCES)[self.cosines.index(self.cosine)]

    @property
    def cosine(self) -> float:
        return max(self.cosines)

    def shown(self) -> list[str]:
        return [str(messages.SENTENCES[self.sentence]), *(f"{cosine:.2f}" for cosine in self.cosines)]

    def beside(self, right: "NearestSentence") -> Iterator[Text]:
        if self.sentence != right.sentence:
            yield messages.ANOTHER_SENTENCE
        elif self.shown() != right.shown():
            yield messages.ANOTHER_COSINE if self.cosine > UNRELATED else messages.NO_LONGER_NEAR


class MiniLM:
    """all-MiniLM-L6-v2, which turns sentences into vectors."""

    name = "MiniLM"
    wants = 0.0
    labels = messages.NEAREST, *messages.COSINES

    def __init__(self):
        self.model = load_minilm()
        self.right = self.say()

    def say(self) -> NearestSentence:
        guitar, *others = self.model.encode([GUITAR, *messages.SENTENCES]).nan_to_num()  # of length 0: no direction
        return NearestSentence(tuple(guitar.dot(x).item() for x in others))


@dataclass(frozen=True)
class Classification:
    """The class of a picture, by its number in ImageNet, and its probability."""

    number: int
    chance: float

    def shown(self) -> list[str]:
        return [class_name(self.number), f"{self.chance:.1%}"]

    def beside(self, right: "Classification") -> Iterator[Text]:
        if self.number != right.number:
            yield messages.ANOTHER_CLASS
        elif self.shown() != right.shown():
            yield messages.ANOTHER_PROBABILITY
        yield messages.ONLY_EVAL


class EfficientNetLite0:
    """EfficientNet-Lite0, which says what is in a picture."""

    name = "EfficientNet-Lite0"
    wants = 0.0
    labels = messages.FLOWER, messages.PROBABILITY

    def __init__(self):
        self.model = load_efficientnet_lite0()
        self.photo = prepare_picture(photo("flower"))
        self.right = self.say()

    def say(self) -> Classification:
        chance, number = self.model(self.photo).softmax(-1).max(-1)
        return Classification(number.item(), chance.item())


Answer = Generation | NearestSentence | Classification
Network = SmolLM2 | Glassllm | MiniLM | EfficientNetLite0
LANGUAGE_MODELS = SmolLM2, Glassllm  # the second where the first cannot be had
CACHED_LANGUAGE_MODELS = CachedSmolLM2, CachedGlassllm
NETWORKS = {
    "rms_norm": LANGUAGE_MODELS,
    "swiglu": LANGUAGE_MODELS,
    "rotary_embedding": LANGUAGE_MODELS,
    "attention": LANGUAGE_MODELS,
    "cached_attention": CACHED_LANGUAGE_MODELS,
    "layer_norm": (MiniLM,),
    "layer_norm_by_axes": (MiniLM,),
    "batch_norm": (EfficientNetLite0,),
}
