"""A chat with a model that the learner built."""

from collections.abc import Callable

from blocklab_course.model_swap.chat_model import MOST_TOKENS, Block, ChatModel, PromptReader, chat, load_chat_model

from .lessons.catalog import EXERCISES


class Chat:
    """talk = Chat(block, rms_norm); talk("Why?") prints the answer of a SmolLM2 that is made of them.

    block: of x (1, L, d), one of the model's layers, and what it kept of the text so far or None; it gives its result
    and what to keep. rms_norm: called before the last matrix. The model is loaded with the first prompt. Where its
    package is missing, or memory is short, a line says so, and glassllm goes on with the prompt as well as it can.
    """

    def __init__(self, block: Block, rms_norm: Callable):
        self.block, self.norm = block, rms_norm
        self.speaker: ChatModel | None = None

    def __call__(self, prompt: str, most: int = MOST_TOKENS, generate: Callable | None = None) -> None:
        """Print the answer, piece by piece, of at most so many tokens. generate: the learner's, in place of ours."""
        self.speaker = self.speaker or load_chat_model()
        if self.speaker is not None:
            chat(self.speaker, self.block, self.norm, generate or EXERCISES["generate"].reference, prompt, most)

    def reading(self) -> PromptReader:
        """The model that has answered, with nothing read yet: `scores = reading(tokens)`, (len(tokens), vocabulary)."""
        return PromptReader(self.speaker.model, self.block, self.norm)
