"""Run a trained network with a learner's block in it, then free it."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import TypeVar

import torch

from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.isolation import CapturedOutput, isolated
from blocklab_course.checks.safe_repr import truncate, type_name
from blocklab_course.checks.timeout import Interrupted, TimeLimit
from blocklab_course.i18n import Text
from blocklab_course.pretrained.free_memory import TooLittleMemory, free_memory, shortage_message

from . import messages
from .adapters import adapt
from .errors import SwapError, missing_message, swap_error
from .guard import Guard
from .networks import NETWORKS, Answer, Network
from .patch import patch
from .result import SwapResult

UNWRITTEN = "not-written-yet"
MAX_NAME = 40  # characters
PATIENCE = 30.0  # seconds; with the right block a network takes 4

T = TypeVar("T")


def swap(
    exercise: Exercise,
    candidate: object,
    patience: float = PATIENCE,
    free: float | None = None,
    proved: bool = False,
) -> SwapResult:
    """Run the network of this exercise with the candidate in it.

    free: bytes of free memory, measured if None. proved: whether `check` has passed this candidate.

    Afterwards the network is freed, and torch's global state is as before.
    """
    output = CapturedOutput()
    try:
        with isolated(output), torch.no_grad():
            return _swap(exercise, candidate, patience, free_memory() if free is None else free, output, proved)
    except SwapError as error:
        return refuse(exercise.name, error)
    finally:
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(output.getvalue().encode(encoding, "backslashreplace").decode(encoding), end="")


def refuse(block: str, error: SwapError) -> SwapResult:
    return SwapResult(block, stopped=error.id, messages=error.messages)


def _swap(
    exercise: Exercise, candidate: object, patience: float, free: float, output: CapturedOutput, proved: bool
) -> SwapResult:
    block = _none_if_unwritten(lambda: Guard(adapt(exercise, candidate), output))
    network, notes = _load_network(NETWORKS[exercise.name], free)
    result = block and _none_if_unwritten(lambda: _run(network, exercise, block, patience))
    if result is None:
        about = exercise.name, network.name, 0, network.labels
        return SwapResult(*about, (*notes, str(messages.NOT_WRITTEN)), right=network.right, stopped=UNWRITTEN)
    yours, places = result
    same = [_same(yours, proved)] if yours.lines() == network.right.lines() else []
    comments = tuple(map(str, [*same, *yours.compare(network.right)]))
    about = exercise.name, network.name, places, network.labels, tuple(notes)
    return SwapResult(*about, yours, network.right, messages=comments, name=_name_of(candidate))


def _same(answer: Answer, proved: bool) -> Text:
    """What the same answer as with the right block says about a block."""
    if not proved:
        return messages.SAME
    return messages.SPEAKS_THE_SAME if getattr(answer, "text", None) else messages.PROVED


def _name_of(candidate: object) -> str:
    """The name of a function or class, or of what else is called like one."""
    with suppress(Exception):  # the candidate's own code may run here
        return truncate(str.__str__(candidate.__name__), MAX_NAME)
    return truncate(type_name(candidate), MAX_NAME)


def _none_if_unwritten(step: Callable[[], T]) -> T | None:
    try:
        return step()
    except SwapError as error:
        if error.id != UNWRITTEN:
            raise
        return None


def _run(network: Network, exercise: Exercise, block: Guard, patience: float) -> tuple[Answer, int]:
    """The network's answer with the block in it, and the number of places that the block was put in."""
    with TimeLimit(patience) as watch, patch(network.model, exercise, block) as places:
        start = monotonic()
        try:
            return watch.call(network.run), places
        except Interrupted:
            id = "stopped" if watch.stopped else "interrupted"
            raise swap_error(id, seconds=monotonic() - start) from None


def _load_network(kinds: Sequence[type[Network]], free: float) -> tuple[Network, list[str]]:
    """Load the first of these networks that is available; return it with notes on the ones before it."""
    notes: list[str] = []
    for kind in kinds:
        if note := shortage_message(kind.name, kind.memory_gb, free):
            notes.append(note)
            continue
        try:
            network = kind()
        except TooLittleMemory as error:  # memory has become short since `free` was measured
            notes.append(str(error))
            continue
        except ModuleNotFoundError as missing:
            notes.append(missing_message(kind.name, missing))
            continue
        return network, [*notes, messages.FALLBACK.format(network=network.name)] if notes else []
    raise SwapError("network-missing", (*notes, str(messages.LESSON_CONTINUES)))
