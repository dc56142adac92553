"""Select the states of a panel that the site stores."""

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement, count, product, takewhile
from math import comb, prod
from typing import Any

from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.controls import Control

ALL = 400  # a panel with at most this many states is stored whole
STOPS = 101  # stops of a slider that are stored, evenly spread: every tenth from 0 to 1000
PAIRS = 12  # stops of each of two sliders that are stored together; fewer if there are more sliders

Places = list[int]


def select_states(panel: Panel, base: Mapping[str, Any] = {}) -> list[Places]:
    """The opening state first, then all other states if they are few.

    If they are many: those that differ from the base in one or two controls. `base` names the controls whose value
    there is not their default.
    """
    controls = panel.controls
    opening = [control.place_of(control.default) for control in controls.values()]
    every = [list(_places(control)) for control in controls.values()]
    if prod(map(len, every)) <= ALL:
        return _unique([opening, *map(list, product(*every))])
    home = [control.place_of(control.validate(base.get(name, control.default))) for name, control in controls.items()]
    slides = [isinstance(control, Slider) for control in controls.values()]
    side = max(2, PAIRS // max(1, comb(sum(slides), 2)))
    fine = [_thin_out(places, STOPS) for places in every]
    coarse = [_thin_out(places, side) for places in fine]
    for some in (fine, coarse):
        for places, own in zip(some, zip(opening, home, strict=True), strict=True):
            places += own
    states = [opening, home]
    for i, j in combinations_with_replacement(range(len(home)), 2):
        states += _vary(home, i, j, coarse if i != j and slides[i] and slides[j] else fine)
    return _unique(states)


def _places(control: Control) -> Iterator[int]:
    if control.has(-1):
        yield -1
    yield from takewhile(control.has, count())


def _thin_out(places: Places, most: int) -> Places:
    """At most so many of them, evenly spread, with both ends."""
    last = len(places) - 1
    return [places[round(step * last / (most - 1))] for step in range(most)] if last >= most else places.copy()


def _vary(home: Places, i: int, j: int, some: list[Places]) -> Iterator[Places]:
    """The states that differ from home in controls i and j, each at some of its places."""
    for one, other in product(some[i], some[j]):
        at = home.copy()
        at[i], at[j] = one, other
        yield at


def _unique(states: list[Places]) -> list[Places]:
    return [list(at) for at in dict.fromkeys(map(tuple, states))]
