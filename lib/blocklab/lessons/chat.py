"""The chat model of lesson 00 with the learner's own blocks in it, and a chat with a model that the learner built."""

from collections.abc import Callable
from contextlib import ExitStack

from blocklab.checks.surroundings import Sheet, settled
from blocklab.language import Text
from blocklab.plugging.as_called import as_called
from blocklab.plugging.cannot_run import CannotRun
from blocklab.plugging.chatting import MOST_TOKENS as LONGEST
from blocklab.plugging.chatting import Block, Speaker, chat, speaker
from blocklab.plugging.guarded import Guarded
from blocklab.plugging.plugged import plugged
from blocklab.real_models import load_smollm2
from blocklab.real_models.free_memory import TooLittleMemory

from .kept_blocks import kept
from .order import EXERCISES

MOST_TOKENS = 24  # a wrong block may never come to its end
BLOCKS = ("rms_norm", "rotary_embedding", "attention", "swiglu")
"""The four functions of which, with its matrices, the model is made."""

YOURS = Text(en="{name}: yours, in {places} places", zh="{name}：你写的，共 {places} 处")
NOT_KEPT = Text(
    en="{name}: not kept yet (lesson {number}), so the model's own runs",
    zh="{name}：还没有保存你写的（第 {number} 课），先用模型自带的",
)
ALL_YOURS = Text(
    en="All four functions behind this answer are yours.",
    zh="这个回答背后的四个函数，全是你自己写的。",
)


def answer_with_yours(prompt: str) -> str:
    """Which of the four blocks are the learner's, line by line, and what the model answers with these in it.

    Where memory is short, that is told instead. Raises ModuleNotFoundError without the model's package.
    """
    try:
        model, sheet, lines = load_smollm2(), Sheet(), []
    except TooLittleMemory as told:
        return str(told)
    mine = {name: kept(name) for name in BLOCKS}
    with settled(sheet), ExitStack() as stack:
        try:
            for name, block in mine.items():
                if block is None:
                    lines.append(NOT_KEPT.format(name=name, number=EXERCISES[name].lesson[:2]))
                    continue
                guarded = Guarded(as_called(EXERCISES[name], block), sheet)
                places = stack.enter_context(plugged(model, EXERCISES[name], guarded))
                lines.append(YOURS.format(name=name, places=places))
            lines += ["", "".join(model.answer(prompt, MOST_TOKENS))]
            if None not in mine.values():
                lines += ["", str(ALL_YOURS)]
        except CannotRun as refusal:
            lines += ["", *refusal.told]
    return "\n".join(lines)


class Chat:
    """talk = Chat(block, rms_norm); talk("Why?") prints the answer of a SmolLM2 that is made of them.

    block: of x (1, L, d), one of the model's layers, and what it kept of the text so far or None; it gives its result
    and what to keep. rms_norm: called before the last matrix. The model is loaded with the first prompt. Where its
    package is missing, or memory is short, a line says so, and glassllm goes on with the prompt as well as it can.
    """

    def __init__(self, block: Block, rms_norm: Callable):
        self.block, self.norm = block, rms_norm
        self.speaker: Speaker | None = None

    def __call__(self, prompt: str, most: int = LONGEST, generate: Callable | None = None) -> None:
        """Print the answer, piece by piece, of at most so many tokens. generate: the learner's, in place of ours."""
        self.speaker = self.speaker or speaker()
        if self.speaker is not None:
            chat(self.speaker, self.block, self.norm, generate or EXERCISES["generate"].reference, prompt, most)
