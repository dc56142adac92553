"""Which states of a panel a page stores."""

from collections.abc import Iterator, Mapping
from itertools import count, product, takewhile
from math import prod
from typing import Any

from blocklab.panel import Panel, Slider
from blocklab.panel.controls import Control

ALL = 400
"""So many states are stored whole."""

STOPS = 60
"""Of a slider that has more stops so many are stored, evenly spread."""

Places = list[int]


def stored(panel: Panel, base: Mapping[str, Any] = {}) -> list[Places]:  # noqa: B006  only read
    """The opening state first, then all states there are, or else those that differ from the base in one control, and
    for each option of a choice or a toggle in a slider besides. `base` names controls that do not stand as they open.
    """
    controls = panel.controls
    opening = [control.place_of(control.default) for control in controls.values()]
    every = [list(every_place(control)) for control in controls.values()]
    if prod(map(len, every)) <= ALL:
        return unique([opening, *map(list, product(*every))])
    home = [
        control.place_of(control.checked(base.get(name, control.default))) for name, control in controls.items()
    ]
    some = [thinned(places, {opening[i], home[i]}) for i, places in enumerate(every)]
    options = [i for i, control in enumerate(controls.values()) if not isinstance(control, Slider)]
    sliders = [i for i in range(len(some)) if i not in options]
    ways = [(i,) for i in range(len(some))] + list(product(options, sliders))
    return unique([opening, home, *(at for way in ways for at in moved(home, way, some))])


def every_place(control: Control) -> Iterator[int]:
    if control.has(-1):
        yield -1
    yield from takewhile(control.has, count())


def thinned(places: list[int], kept: set[int]) -> list[int]:
    """At most STOPS of them, both ends among them, and those that are kept."""
    steps = min(len(places), STOPS) - 1
    return sorted({places[round(step * (len(places) - 1) / (steps or 1))] for step in range(steps + 1)} | kept)


def moved(home: Places, way: tuple[int, ...], some: list[list[int]]) -> Iterator[Places]:
    """The states to which these controls lead from home, each through some of its places."""
    for places in product(*(some[i] for i in way)):
        at = home.copy()
        for i, place in zip(way, places, strict=True):
            at[i] = place
        yield at


def unique(states: list[Places]) -> list[Places]:
    return [list(at) for at in dict.fromkeys(map(tuple, states))]
