"""Run a trained network with a learner's block in it, and free it again."""

import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TypeVar

import torch

from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.isolation import CapturedOutput, isolated
from blocklab_course.checks.timeout import Interrupted, TimeLimit
from blocklab_course.dependencies import MISSING, optional_package
from blocklab_course.pretrained.free_memory import TooLittleMemory, free_memory, shortage_message

from . import messages
from .adapters import adapt
from .errors import SwapError, swap_error
from .guard import Guard
from .networks import NETWORKS, Answer, Network
from .patch import patch
from .result import SwapResult

UNWRITTEN = "not-written-yet"
PATIENCE = 30.0  # seconds; with the right block a network takes 4

Made = TypeVar("Made")


def swap(exercise: Exercise, candidate: object, patience: float = PATIENCE, free: float | None = None) -> SwapResult:
    """What the network that holds such a block says with the candidate in its place. free: bytes of memory there are.

    Nothing of the network is left afterwards, and nothing is changed that stood before.
    """
    sheet = CapturedOutput()
    try:
        with isolated(sheet), torch.no_grad():
            return _plugged_in(exercise, candidate, patience, free_memory() if free is None else free, sheet)
    except SwapError as refusal:
        return refuse(exercise.name, refusal)
    finally:
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(sheet.getvalue().encode(encoding, "backslashreplace").decode(encoding), end="")


def refuse(block: str, refusal: SwapError) -> SwapResult:
    return SwapResult(block, stopped=refusal.id, messages=refusal.messages)


def _plugged_in(
    exercise: Exercise, candidate: object, patience: float, free: float, sheet: CapturedOutput
) -> SwapResult:
    block = _if_written(lambda: Guard(adapt(exercise, candidate), sheet))
    network, notes = _network(NETWORKS[exercise.name], free)
    said = block and _if_written(lambda: _said(network, exercise, block, patience))
    if said is None:
        about = exercise.name, network.name, 0, network.labels
        return SwapResult(*about, (*notes, str(messages.NOT_WRITTEN)), right=network.right, stopped=UNWRITTEN)
    yours, places = said
    same = [messages.SAME] if yours.shown() == network.right.shown() else []
    told = tuple(map(str, [*same, *yours.beside(network.right)]))
    about = exercise.name, network.name, places, network.labels, tuple(notes)
    return SwapResult(*about, yours, network.right, messages=told)


def _if_written(step: Callable[[], Made]) -> Made | None:
    """What a step gives; None where it comes upon a block that is not written yet."""
    try:
        return step()
    except SwapError as refusal:
        if refusal.id != UNWRITTEN:
            raise
        return None


def _said(network: Network, exercise: Exercise, block: Guard, patience: float) -> tuple[Answer, int]:
    """What the network says with the block in it, and in how many places the block stands."""
    with TimeLimit(patience) as watch, patch(network.model, exercise, block) as places:
        start = monotonic()
        try:
            return watch.call(network.say), places
        except Interrupted:
            network.model.to("meta")  # Python may keep the frames of a function that it had to strike more than once
            id = "stopped" if watch.stopped else "interrupted"
            raise swap_error(id, seconds=monotonic() - start) from None


def _network(kinds: Sequence[type[Network]], free: float) -> tuple[Network, list[str]]:
    """The first of these networks that can be had, and what is to be said of those before it."""
    notes: list[str] = []
    for kind in kinds:
        if note := shortage_message(kind.name, kind.wants, free):
            notes.append(note)
            continue
        try:
            network = kind()
        except TooLittleMemory as told:  # since it was asked for
            notes.append(str(told))
            continue
        except ModuleNotFoundError as missing:
            package = optional_package((missing.name or "").partition(".")[0])
            if package is None:
                raise
            notes.append(MISSING.format(function=kind.name, package=package.name, command=package.command))
            continue
        return network, [*notes, messages.FALLBACK.format(network=network.name)] if notes else []
    raise SwapError("network-missing", (*notes, str(messages.LESSON_CONTINUES)))
