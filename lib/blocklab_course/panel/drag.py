"""What of a picture the reader can take hold of, and which control moves with it.

A picture says so for its moving artists: `picked` for one whose parts are touched, `dragged` for one that is pulled
along a line. A page knows the artist by the slot that its strokes fill, and gets for each

    (slot, control, "pick", (place, place, None, …))                 the place to which touching stroke i leads
    (slot, control, "drag", (place, place, …), (x, y, x, y, …))      places, and where they lie, in tenths of a pixel
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist

from blocklab_course.panel.controls import Control, Slider

MAX_POINTS = 41  # of a line along which something is dragged; a page goes straight from one to the next

Handle = Callable[[dict[str, Control], float], tuple | None]

HANDLE = "_blocklab_handle"  # what an artist keeps its handle as: so both go together, whatever `where` refers to


def pickable(artist: Artist, control: str, values: Sequence[Any]) -> None:
    """Touching the artist's stroke i sets the control to `values[i]`; a stroke without a value, or None, does nothing.

    Say it again when the artist draws other strokes.
    """

    def handle(controls: dict[str, Control], _height: float) -> tuple:
        return "pick", tuple(None if value is None else controls[control].place_of(value) for value in values)

    setattr(artist, HANDLE, _for_control(control, handle))


def draggable(
    artist: Artist, control: str, where: Callable[[Any], tuple[float, float]], through: Sequence[Any] = ()
) -> None:
    """The artist can be pulled along the points `where(value)`, in data coordinates of its axes, of a slider's values.

    `where` is asked for some of the values whenever the picture is drawn, so it may depend on how the picture stands:
    for both ends and those that the line is to go `through`, or for evenly spread ones.
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
    """The handle, preceded by the number of its control; None in a panel without that control."""

    def numbered(controls: dict[str, Control], height: float) -> tuple | None:
        return (list(controls).index(control), *handle(controls, height)) if control in controls else None

    return numbered


def handles(moving: Sequence[Artist], controls: dict[str, Control], height: float) -> tuple[tuple, ...]:
    """What of the moving artists, slot by slot, is seen and can be touched. `height` of the picture in pixels."""
    seen = [(slot, artist) for slot, artist in enumerate(moving) if hasattr(artist, HANDLE) and artist.get_visible()]
    found = ((slot, getattr(artist, HANDLE)(controls, height)) for slot, artist in seen)
    return tuple((slot, *record) for slot, record in found if record is not None)
