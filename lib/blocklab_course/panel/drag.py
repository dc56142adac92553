"""Moving artists that the reader can click or drag, and the controls that they set.

A picture marks an artist as `pickable` (its parts can be clicked) or `draggable` (it moves along a line). The page
identifies an artist by its slot and receives for each

    (slot, control, "pick", (place, place, None, …))                 the place that clicking stroke i selects
    (slot, control, "drag", (place, place, …), (x, y, x, y, …))      places and their points, in tenths of a pixel
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist

from blocklab_course.panel.controls import Control, Slider

MAX_POINTS = 41  # of a drag line; the page interpolates linearly between them

Handle = Callable[[dict[str, Control], float], tuple | None]

HANDLE = "_blocklab_handle"  # stored on the artist, so that both are garbage-collected together


def pickable(artist: Artist, control: str, values: Sequence[Any]) -> None:
    """Make clicking the artist's stroke i set the control to `values[i]`; None, or no value, does nothing.

    Call it again if the artist gets different strokes.
    """

    def handle(controls: dict[str, Control], _height: float) -> tuple:
        return "pick", tuple(None if value is None else controls[control].place_of(value) for value in values)

    setattr(artist, HANDLE, _for_control(control, handle))


def draggable(
    artist: Artist, control: str, where: Callable[[Any], tuple[float, float]], through: Sequence[Any] = ()
) -> None:
    """Let the reader drag the artist along the points `where(value)` of a slider's values, in data coordinates.

    `where` is called whenever the picture is drawn, for both ends of the slider and the values in `through`, or for
    evenly spaced values if there are none.
    """

    def handle(controls: dict[str, Slider], height: float) -> tuple:
        slider = controls[control]
        between = [place for place in map(slider.place_of, through) if slider.has(place)]
        places = [0, *between, slider.last] if through else np.linspace(0, slider.last, MAX_POINTS).round().astype(int)
        places = np.unique(places).tolist()
        points = artist.axes.transData.transform([where(slider.at(place)) for place in places])
        points[:, 1] = height - points[:, 1]
        return "drag", tuple(places), tuple((10 * points).round().astype(int).ravel().tolist())

    setattr(artist, HANDLE, _for_control(control, handle))


def _for_control(control: str, handle: Handle) -> Handle:
    """Prepend the index of the control to a handle; None in a panel without that control."""

    def numbered(controls: dict[str, Control], height: float) -> tuple | None:
        return (list(controls).index(control), *handle(controls, height)) if control in controls else None

    return numbered


def handles(moving: Sequence[Artist], controls: dict[str, Control], height: float) -> tuple[tuple, ...]:
    """Return the handles of visible moving artists, by slot. `height` is that of the picture in pixels."""
    seen = [(slot, artist) for slot, artist in enumerate(moving) if hasattr(artist, HANDLE) and artist.get_visible()]
    found = ((slot, getattr(artist, HANDLE)(controls, height)) for slot, artist in seen)
    return tuple((slot, *record) for slot, record in found if record is not None)
