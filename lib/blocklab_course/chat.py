"""Chat with a model that the learner has built."""

from collections.abc import Callable

from blocklab_course.model_swap.chat_model import MOST_TOKENS, Block, ChatModel, PromptReader, chat, load_chat_model

from .lessons.catalog import EXERCISES


class Chat:
    """talk = Chat(block, rms_norm); talk("Why?") prints the answer of SmolLM2, built from the learner's functions.

    block(x, layer, cache) -> (y, cache): x (1, L, d), one of the model's layers, and its cache, None at first.
    rms_norm: the final norm. The first prompt loads the model. If its package is missing or memory is short, a line
    says so, and glassllm continues the prompt instead.
    """

    def __init__(self, block: Block, rms_norm: Callable):
        self.block, self.norm = block, rms_norm
        self.speaker: ChatModel | None = None

    def __call__(self, prompt: str, most: int = MOST_TOKENS, generate: Callable | None = None) -> None:
        """Print the answer piece by piece, at most `most` tokens. generate: the learner's function instead of ours."""
        self.speaker = self.speaker or load_chat_model()
        if self.speaker is not None:
            chat(self.speaker, self.block, self.norm, generate or EXERCISES["generate"].reference, prompt, most)

    def reading(self) -> PromptReader:
        """A fresh reader of a text for the loaded model: `scores = reading(tokens)`, (len(tokens), vocab_size)."""
        return PromptReader(self.speaker.model, self.block, self.norm)
