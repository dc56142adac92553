"""The trained networks that learners' blocks run in, and the task that each of them does."""

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

MOST_TOKENS = 8  # the right answer has seven and an end token
UNRELATED = 0.25  # unrelated sentences have cosines up to this
BATCHES = 10  # of training between the two answers of EfficientNet-Lite0; a message names the number
GUITAR = "He is playing the guitar."


@dataclass(frozen=True)
class Generation:
    """A language model's loss on a text, its answer if it is a chat model, and whether it sees future tokens."""

    loss: float
    text: str | None = None
    leaks_future: bool = False

    def lines(self) -> list[str]:
        answer = [] if self.text is None else [truncate_line(self.text) or str(messages.NO_WORD)]
        return [*answer, f"{self.loss:.2f}"]

    def compare(self, right: "Generation") -> Iterator[Text]:
        drop = round(right.loss, 2) - round(self.loss, 2)
        if self.text != right.text:
            yield messages.ANOTHER_ANSWER
        elif drop < 0:
            yield messages.HIGHER if self.text is None else messages.BLURRED
        if self.leaks_future:
            yield messages.LEAKS_FUTURE
        if drop > 0:
            yield messages.LEAKS_AND_GAINS if self.leaks_future else messages.LOWER


def check_finite(loss: float) -> float:
    """Raise SwapError for a loss that is NaN or infinite: the block's results are finite, the network's may not be."""
    if not math.isfinite(loss):
        raise swap_error("overflow")
    return loss


class LanguageModel:
    """What all language models have in common."""

    model: Decoder

    def new_caches(self) -> list[KeyValueCache] | None:
        """Caches to read a text with; None to read without."""
        return None

    def loss(self, ids: list[int]) -> float:
        tokens = torch.tensor([ids])
        return check_finite(F.cross_entropy(self.model(tokens, self.new_caches())[0, :-1], tokens[0, 1:]).item())

    def leaks_future(self, ids: list[int]) -> bool:
        """Whether changing the last token changes the hidden states of the tokens before it."""
        texts = (torch.tensor([[*ids[:-1], last]]) for last in (ids[-1], ids[0]))
        one, other = (self.model.states(text, self.new_caches())[:, :-1] for text in texts)
        return not nearly_equal(one, other)

    def works_in_pieces(self, ids: list[int]) -> bool:
        """Whether reading a text in pieces, with caches, gives the same, so that answers can use caches."""
        tokens, caches = torch.tensor([ids]), self.model.new_caches()
        try:
            pieces = [self.model.states(piece, caches) for piece in tokens.split([len(ids) - 3, 1, 2], 1)]
        except SwapError:  # a block that needs as many queries as keys
            return False
        return nearly_equal(torch.cat(pieces, 1), self.model.states(tokens))


def nearly_equal(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-3, atol=1e-3)


class SmolLM2(LanguageModel):
    """SmolLM2-135M-Instruct answers a question. The right answer is stored, because computing it takes seconds."""

    name = "SmolLM2"
    memory_gb = MEMORY_GB
    labels = messages.ANSWER, messages.LOSS_ON_ZEN
    right = Generation(loss=3.0819, text="The capital of France is Paris.")

    def __init__(self):
        self.model = load_smollm2()
        self.zen = self.model.byte_pairs.encode(ZEN)

    def run(self) -> Generation:
        tokens = list(self.model.next_tokens(self.model.chat(QUESTION), MOST_TOKENS, self.use_cache()))
        more = "…" if len(tokens) == MOST_TOKENS else ""
        return Generation(
            self.loss(self.zen), self.model.byte_pairs.decode(tokens) + more, self.leaks_future(self.zen[:8])
        )

    def use_cache(self) -> bool:
        """Whether to answer with caches; with a block that cannot, every new token reads the whole text again."""
        return self.works_in_pieces(self.zen[:8])


class CachedSmolLM2(SmolLM2):
    """SmolLM2 with caches even if they change the result, for exercises about the cache."""

    def new_caches(self) -> list[KeyValueCache]:
        return self.model.new_caches()

    def use_cache(self) -> bool:
        return True


class Glassllm(LanguageModel):
    """glassllm only babbles, so only its loss counts."""

    name = "glassllm"
    memory_gb = 0.0
    labels = (messages.LOSS_ON_ALICE,)

    def __init__(self):
        self.model = load_glassllm()
        from glassllm import load_pretrained  # an optional package

        self.alice = load_pretrained("en")[1].encode(ALICE)
        self.right = self.run()

    def run(self) -> Generation:
        return Generation(self.loss(self.alice), leaks_future=self.leaks_future(self.alice[:8]))


class CachedGlassllm(Glassllm):
    """glassllm with caches: it reads the first half of a text at once, then token by token."""

    def new_caches(self) -> list[KeyValueCache]:
        return self.model.new_caches()

    def loss(self, ids: list[int]) -> float:
        tokens, caches, half = torch.tensor([ids]), self.new_caches(), len(ids) // 2
        pieces = tokens[:, :-1].split([half] + [1] * (len(ids) - 1 - half), 1)
        logits = torch.cat([self.model(piece, caches) for piece in pieces], 1)
        return check_finite(F.cross_entropy(logits[0], tokens[0, 1:]).item())


@dataclass(frozen=True)
class NearestSentence:
    """The cosines of all sentences with the one about the guitar, and the nearest sentence."""

    cosines: tuple[float, ...]

    @property
    def sentence(self) -> str:
        return list(messages.SENTENCES)[self.cosines.index(self.cosine)]

    @property
    def cosine(self) -> float:
        return max(self.cosines)

    def lines(self) -> list[str]:
        return [str(messages.SENTENCES[self.sentence]), *(f"{cosine:.2f}" for cosine in self.cosines)]

    def compare(self, right: "NearestSentence") -> Iterator[Text]:
        if self.sentence != right.sentence:
            yield messages.ANOTHER_SENTENCE
        elif self.lines() != right.lines():
            yield messages.ANOTHER_COSINE if self.cosine > UNRELATED else messages.NO_LONGER_NEAR


class MiniLM:
    """all-MiniLM-L6-v2 finds the sentence that is nearest in meaning."""

    name = "MiniLM"
    memory_gb = 0.0
    labels = messages.NEAREST, *messages.COSINES

    def __init__(self):
        self.model = load_minilm()
        self.right = self.run()

    def run(self) -> NearestSentence:
        guitar, *others = self.model.encode([GUITAR, *messages.SENTENCES]).nan_to_num()  # NaN for a vector of length 0
        return NearestSentence(tuple(guitar.dot(x).item() for x in others))


@dataclass(frozen=True)
class Classification:
    """The ImageNet class of an image, by number, and its probability."""

    number: int
    probability: float

    def __str__(self) -> str:
        return messages.CLASS_AND_PROBABILITY.format(name=class_name(self.number), probability=self.probability)


@dataclass(frozen=True)
class BeforeAndAfter:
    """What an image shows in eval(), before and after some batches in train()."""

    before: Classification
    after: Classification

    def lines(self) -> list[str]:
        return [str(self.before), str(self.after)]

    def compare(self, right: "BeforeAndAfter") -> Iterator[Text]:
        if self.before.number != right.before.number:
            yield messages.ANOTHER_CLASS
        elif str(self.before) != str(right.before):
            yield messages.ANOTHER_PROBABILITY
        elif str(self.after) != str(right.after):
            yield messages.ANOTHER_MEMORY
        yield messages.TEN_BATCHES


class EfficientNetLite0:
    """EfficientNet-Lite0 classifies a photo, then trains without an optimizer, so that only its buffers move, and
    classifies the photo once more.
    """

    name = "EfficientNet-Lite0"
    memory_gb = 0.0
    labels = messages.FLOWER, messages.FLOWER_AFTER_TRAINING

    def __init__(self):
        self.model = load_efficientnet_lite0()
        self.flower, palace = (prepare_picture(photo(name)) for name in ("flower", "palace"))
        self.batch = torch.cat([self.flower, palace])
        self.right = self.run()

    def run(self) -> BeforeAndAfter:
        buffers = {name: buffer.clone() for name, buffer in self.model.named_buffers()}
        before = self.classify()
        self.model.train()
        for _ in range(BATCHES):
            self.model(self.batch)
        self.model.eval()
        after = self.classify()
        self.model.load_state_dict(buffers, strict=False)
        return BeforeAndAfter(before, after)

    def classify(self) -> Classification:
        probability, number = self.model(self.flower).softmax(-1).max(-1)
        return Classification(number.item(), probability.item())


Answer = Generation | NearestSentence | BeforeAndAfter
Network = SmolLM2 | Glassllm | MiniLM | EfficientNetLite0
LANGUAGE_MODELS = SmolLM2, Glassllm  # the second is the fallback
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
