"""The one list of the lessons, in their order: the room of each, the exercises that it holds, and which are blocks.

No room is imported here; one is loaded when one of its exercises is asked for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from blocklab.checks.exercise import Exercise
from blocklab.checks.surroundings import settled
from blocklab.language import Text
from blocklab.one_line import OneLine


@dataclass(frozen=True)
class Lesson:
    """A lesson: its number, its room under `blocklab.lessons`, and the names of its exercises."""

    number: int
    room: str
    exercises: tuple[str, ...]

    @property
    def name(self) -> str:
        """What its files are called: "02_norm_axes"."""
        return f"{self.number:02}_{self.room}"


ROOMS = {
    "start_here": ("scale", "relu"),
    "why_normalize": ("feature_axes", "standardize"),
    "norm_axes": ("outputs_that_move", "one_mean_axes", "batch_norm_by_axes", "layer_norm_by_axes", "group_norm"),
    "ema_momentum": ("batch_norm", "ema_update"),
    "small_batches": ("values_per_mean", "merge_statistics"),
    "layer_norm": ("half_size", "catch_layer_norm", "layer_norm", "layer_norm_backward"),
    "rms_norm": ("root_mean_square", "rms_norm", "rms_norm_llama", "rms_norm_gemma"),
    "positional_encoding": ("positions_per_turn", "sinusoidal_encoding", "shift_matrix"),
    "activations_and_gates": ("gelu", "swish", "glu", "swiglu"),
    "swiglu_width": ("round_up", "hidden_width"),
    "attention": ("causal_mask", "weight_by_hand", "attention", "split_heads", "catch_attention"),
    "rotary_positions": ("turned_product", "rotary_embedding", "permute_rows"),
    "transformer_layers": ("pre_norm", "sandwich_layer", "smollm2_layer", "post_norm_layer", "encoder_layer"),
    "kv_cache": ("cache_bytes", "cached_attention"),
    "cuda_timing": ("time_function", "bytes_in_two_kernels", "merge_block"),
    "your_model": ("tokens_per_second", "generate"),
}
BLOCKS = (  # the exercises whose functions are kept, and run in trained models later
    *("relu", "standardize", "batch_norm", "group_norm", "layer_norm", "rms_norm", "rms_norm_llama", "rms_norm_gemma"),
    *("ema_update", "merge_statistics", "sinusoidal_encoding", "rotary_embedding"),
    *("gelu", "swish", "glu", "swiglu", "round_up", "hidden_width", "causal_mask", "attention", "split_heads"),
    *("pre_norm", "sandwich_layer", "post_norm_layer", "encoder_layer", "cached_attention", "generate"),
)
LESSONS = tuple(Lesson(number, room, exercises) for number, (room, exercises) in enumerate(ROOMS.items()))
_HOLDS = {name: lesson for lesson in LESSONS for name in lesson.exercises}

ELSEWHERE = Text(
    en="This file holds its own lesson alone. That exercise is in {lesson}.ipynb, which lies where you got this file.",
    zh="这个文件里只有这一课的内容。那个练习在 {lesson}.ipynb 里，请到当初得到这个文件的地方去找。",
)


class AnotherFile(OneLine):
    """The exercise of a lesson whose room is not along: a lesson as one file brings those that it needs."""


@cache
def _exercises_of(lesson: Lesson) -> dict[str, Exercise]:
    if find_spec(f"blocklab.lessons.{lesson.room}") is None:
        raise AnotherFile(ELSEWHERE.format(lesson=lesson.name))
    with settled():  # the numbers of the tables are float32 on the CPU, whatever a lesson has set
        room = import_module(f"blocklab.lessons.{lesson.room}.exercises")
        return {exercise.name: replace(exercise, lesson=lesson.name) for exercise in room.EXERCISES}


class _Exercises(Mapping):
    """Every exercise by its name, in the order of the lessons."""

    def __getitem__(self, name: str) -> Exercise:
        return _exercises_of(_HOLDS[name])[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_HOLDS)

    def __len__(self) -> int:
        return len(_HOLDS)

    def __contains__(self, name: object) -> bool:  # loads no room
        return name in _HOLDS


EXERCISES = _Exercises()
