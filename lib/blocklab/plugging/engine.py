"""Run a trained network with a learner's block in it, and free it again."""

import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TypeVar

import torch

from blocklab.checks.exercise import Exercise
from blocklab.checks.interrupts import Interrupted, Watch
from blocklab.checks.surroundings import Sheet, settled
from blocklab.packages import MISSING, optional
from blocklab.real_models.free_memory import TooLittleMemory, free_memory, too_little_memory

from . import words
from .as_called import as_called
from .cannot_run import CannotRun, in_words
from .guarded import Guarded
from .networks import NETWORKS, Network, Said
from .plugged import plugged
from .plugged_in import PluggedIn

UNWRITTEN = "not-written-yet"
PATIENCE = 30.0  # seconds; with the right block a network takes 4

Made = TypeVar("Made")


def plug(exercise: Exercise, candidate: object, patience: float = PATIENCE, free: float | None = None) -> PluggedIn:
    """What the network that holds such a block says with the candidate in its place. free: bytes of memory there are.

    Nothing of the network is left afterwards, and nothing is changed that stood before.
    """
    sheet = Sheet()
    try:
        with settled(sheet), torch.no_grad():
            return _plugged_in(exercise, candidate, patience, free_memory() if free is None else free, sheet)
    except CannotRun as refusal:
        return refused(exercise.name, refusal)
    finally:
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(sheet.getvalue().encode(encoding, "backslashreplace").decode(encoding), end="")


def refused(block: str, refusal: CannotRun) -> PluggedIn:
    return PluggedIn(block, stopped=refusal.id, told=refusal.told)


def _plugged_in(exercise: Exercise, candidate: object, patience: float, free: float, sheet: Sheet) -> PluggedIn:
    block = _if_written(lambda: Guarded(as_called(exercise, candidate), sheet))
    network, notes = _network(NETWORKS[exercise.name], free)
    said = block and _if_written(lambda: _said(network, exercise, block, patience))
    if said is None:
        about = exercise.name, network.name, 0, network.labels
        return PluggedIn(*about, (*notes, str(words.NOT_WRITTEN)), right=network.right, stopped=UNWRITTEN)
    yours, places = said
    same = [words.SAME] if yours.shown() == network.right.shown() else []
    told = tuple(map(str, [*same, *yours.beside(network.right)]))
    about = exercise.name, network.name, places, network.labels, tuple(notes)
    return PluggedIn(*about, yours, network.right, told=told)


def _if_written(step: Callable[[], Made]) -> Made | None:
    """What a step gives; None where it comes upon a block that is not written yet."""
    try:
        return step()
    except CannotRun as refusal:
        if refusal.id != UNWRITTEN:
            raise
        return None


def _said(network: Network, exercise: Exercise, block: Guarded, patience: float) -> tuple[Said, int]:
    """What the network says with the block in it, and in how many places the block stands."""
    with Watch(patience) as watch, plugged(network.model, exercise, block) as places:
        start = monotonic()
        try:
            return watch.call(network.say), places
        except Interrupted:
            network.model.to("meta")  # Python may keep the frames of a function that it had to strike more than once
            id = "stopped" if watch.stopped else "interrupted"
            raise in_words(id, seconds=monotonic() - start) from None


def _network(kinds: Sequence[type[Network]], free: float) -> tuple[Network, list[str]]:
    """The first of these networks that can be had, and what is to be said of those before it."""
    notes: list[str] = []
    for kind in kinds:
        if note := too_little_memory(kind.name, kind.wants, free):
            notes.append(note)
            continue
        try:
            network = kind()
        except TooLittleMemory as told:  # since it was asked for
            notes.append(str(told))
            continue
        except ModuleNotFoundError as missing:
            package = optional((missing.name or "").partition(".")[0])
            if package is None:
                raise
            notes.append(MISSING.format(function=kind.name, package=package.name, command=package.command))
            continue
        return network, [*notes, words.INSTEAD.format(network=network.name)] if notes else []
    raise CannotRun("network-missing", (*notes, str(words.GOES_ON)))
