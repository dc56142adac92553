"""Which states of a panel a page stores."""

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement, count, product, takewhile
from math import comb, prod
from typing import Any

from blocklab.panel import Panel, Slider
from blocklab.panel.controls import Control

ALL = 400
"""So many states are stored whole."""

STOPS = 101
"""Of a slider that has more stops so many are stored, evenly spread: every tenth from 0 to 1000."""

PAIRS = 12
"""Of each of two sliders so many stops are stored together, where there are just two sliders; of more sliders fewer."""

Places = list[int]


def stored(panel: Panel, base: Mapping[str, Any] = {}) -> list[Places]:
    """The opening state first, then all states there are; or else those that differ from the base in one control or
    in two, of two sliders some. `base` names controls that do not stand as they open.
    """
    controls = panel.controls
    opening = [control.place_of(control.default) for control in controls.values()]
    every = [list(every_place(control)) for control in controls.values()]
    if prod(map(len, every)) <= ALL:
        return unique([opening, *map(list, product(*every))])
    home = [control.place_of(control.checked(base.get(name, control.default))) for name, control in controls.items()]
    slides = [isinstance(control, Slider) for control in controls.values()]
    side = max(2, PAIRS // max(1, comb(sum(slides), 2)))
    fine = [thinned(places, STOPS) for places in every]
    coarse = [thinned(places, side) for places in fine]
    for some in (fine, coarse):
        for places, own in zip(some, zip(opening, home, strict=True), strict=True):
            places += own
    states = [opening, home]
    for i, j in combinations_with_replacement(range(len(home)), 2):
        states += moved(home, (i, j), coarse if i != j and slides[i] and slides[j] else fine)
    return unique(states)


def every_place(control: Control) -> Iterator[int]:
    if control.has(-1):
        yield -1
    yield from takewhile(control.has, count())


def thinned(places: list[int], most: int) -> list[int]:
    """So many of them at most, evenly spread, both ends among them."""
    last = len(places) - 1
    return [places[round(step * last / (most - 1))] for step in range(most)] if last >= most else places.copy()


def moved(home: Places, ways: tuple[int, int], some: list[list[int]]) -> Iterator[Places]:
    """The states to which two controls lead from home, each through some of its places."""
    i, j = ways
    for one, other in product(some[i], some[j]):
        at = home.copy()
        at[i], at[j] = one, other
        yield at


def unique(states: list[Places]) -> list[Places]:
    return [list(at) for at in dict.fromkeys(map(tuple, states))]
