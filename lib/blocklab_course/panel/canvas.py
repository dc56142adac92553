"""A figure that is drawn many times a second: the static part once, moving artists in every frame.

A picture creates moving artists with `animated=True`. The first drawing goes through a `Tape`: it paints everything
that no moving artist can overlap, and records the rest as strokes in matplotlib's order. A frame is that background
plus the moving artists and the strokes between and above them, identical pixel by pixel to a full drawing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from math import cos, inf, radians, sin

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from PIL import Image

from blocklab_course.panel.display_list import DisplayList, Drawing
from blocklab_course.panel.recording_renderer import RecordingRenderer, is_scalable_image

DPI = 100
"""Dots per inch: a figure 10 inches wide is 1000 CSS pixels wide."""

Box = tuple[float, float, float, float]
EVERYWHERE: Box = (-inf, -inf, inf, inf)


class Canvas:
    """A figure, its pixels and its strokes.

    `frame()` draws the figure and returns (height, width, 4) RGBA bytes. `strokes()` returns the numbers of what is
    drawn; `records` holds their contents, and `moving_artists` the artists in the order of `Drawing.moving`. Both are
    cheap while only animated artists change. A stale static artist, or one that was added or removed, redraws
    everything. Two canvases may share their records. A layout engine runs once and is then removed, so that the axes
    keep their place; a picture that needs a new layout sets its engine again.
    """

    def __init__(self, size: tuple[float, float], scale: float, records: DisplayList | None = None):
        self.figure = Figure(size, dpi=DPI * scale, facecolor="white")
        FigureCanvasAgg(self.figure)
        self._renderer = RendererAgg(*self.figure.bbox.size, self.figure.dpi)
        self._tape = Tape(self._renderer)
        self._pixels = np.asarray(self._renderer.buffer_rgba())
        self.records = DisplayList() if records is None else records
        self._recorder: RecordingRenderer | None = None
        self._invalidate()

    def frame(self) -> np.ndarray:
        self._drop_stale()
        if self._background is None:
            self._draw_background()
        else:
            self._pixels[:] = self._background
        for stroke in self._tape.strokes:
            stroke(self._renderer)
        return self._pixels

    def strokes(self) -> Drawing:
        self._drop_stale()
        if self._recorder is None:
            self._recorder = RecordingRenderer(*self.figure.bbox.size, self.figure.dpi, self.records)
        if self._rest not in self.records:  # the other canvas that shares the records may have dropped it
            self._record_static()
        draws = [partial(RecordingRenderer.draw, artist=artist) for artist in self.moving_artists]
        moving = [self._recorder.strokes_of(draw) for draw in draws]
        drawing = Drawing(self._rest, moving)
        self.records.trim(drawing)
        return drawing

    def still(self, scale: float) -> np.ndarray:
        """Draw the whole picture from scratch, with nothing animated: for saving, and as the reference for frames."""
        dpi, self.figure.dpi = self.figure.dpi, DPI * scale
        try:
            renderer = RendererAgg(*self.figure.bbox.size, self.figure.dpi)
            with without_animation([artist for artist in parts(self.figure) if artist.get_animated()]):
                self.figure.draw(renderer)
        finally:
            self.figure.dpi = dpi
            self._invalidate()
        return np.asarray(renderer.buffer_rgba())

    def _invalidate(self) -> None:
        """Redraw everything next time, pixels and strokes."""
        self._static_artists: list[Artist] | None = None
        self._background: np.ndarray | None = None
        self._rest: int | None = None

    def _drop_stale(self) -> None:
        # Drawing either pixels or strokes clears the stale flags, so a stale flag invalidates both.
        if self._static_artists is None or self._is_stale():
            self._invalidate()

    def _draw_background(self) -> None:
        self._renderer.clear()
        self._tape.rewind()
        with self._draw_everything() as (moving, _still), override_draw(moving, self._tape.mark):
            self.figure.draw(self._tape)
        self._background = self._pixels.copy()

    def _record_static(self) -> None:
        self.moving_artists: list[Artist] = []

        def slot(artist: Artist, recorder: RecordingRenderer) -> None:
            self.moving_artists.append(artist)
            recorder.mark_slot()

        with self._draw_everything() as (moving, still):
            images = [artist for artist in still if is_scalable_image(artist)]
            with override_draw(moving, slot), override_draw(images, lambda image, recorder: recorder.draw(image)):
                strokes = self._recorder.strokes_of(self.figure.draw)
        self._rest = self.records.number(("rest", tuple(strokes)))

    @contextmanager
    def _draw_everything(self) -> Iterator[tuple[list[Artist], list[Artist]]]:
        """Draw animated artists like all others, then remember the state of all. Yields (moving, static) artists."""
        self._static_artists = None  # if drawing fails, the next one starts from scratch
        everything = parts(self.figure)
        moving = [artist for artist in everything if artist.get_animated()]
        still = [artist for artist in everything if not artist.get_animated()]
        with without_animation(moving):
            yield moving, still
        self.figure.set_layout_engine("none")
        alive = {id(part) for artist in moving for part in parts(artist)}
        static = [artist for artist in parts(self.figure) if id(artist) not in alive]
        for artist in static:
            artist.stale = False  # matplotlib does not clear the flag of what it did not draw
        self._axes = [artist for artist in static if isinstance(artist, Axes)]
        self._moving, self._background_keys = moving, [background_key(artist) for artist in moving]
        self._static_artists = static

    def _is_stale(self) -> bool:
        for axes in self._axes:
            axes.viewLim  # noqa: B018  runs a pending autoscale, which marks the axes stale if their limits change
        stale = any(artist.stale for artist in self._static_artists)
        return stale or self._background_keys != [background_key(artist) for artist in self._moving]


class Tape:
    """A renderer that paints whatever no moving artist overlaps, and records the rest as `strokes`, in order."""

    def __init__(self, renderer: RendererAgg):
        self._renderer = renderer
        self.rewind()

    def rewind(self) -> None:
        self.strokes: list[Callable[[RendererAgg], None]] = []
        self._covered: list[Box] = []

    def mark(self, artist: Artist, _tape: "Tape") -> None:
        """Reserve the place of a moving artist in the drawing order."""
        self.strokes.append(type(artist).draw.__get__(artist))
        self._covered.append(moving_bounds(artist))

    def __getattr__(self, name: str):
        if name in BOUNDS:
            return partial(self._take, name)
        return getattr(self._renderer, name)

    def _take(self, name: str, *args, **options) -> None:
        if not self._covered or not overlaps_any(box := BOUNDS[name](self._renderer, *args), self._covered):
            getattr(self._renderer, name)(*args, **options)
            return
        # An artist may reuse its graphics context after the stroke.
        saved = [copy_gc(a) if isinstance(a, GraphicsContextBase) else a for a in args]
        self.strokes.append(lambda renderer: getattr(renderer, name)(*saved, **options))
        self._covered.append(box)


@contextmanager
def override_draw(artists: list[Artist], draw: Callable[[Artist, RendererBase], None]) -> Iterator[None]:
    """Replace the artists' `draw` method."""
    try:
        for artist in artists:
            artist.draw = partial(draw, artist)
        yield
    finally:
        for artist in artists:
            vars(artist).pop("draw", None)


def parts(artist: Artist) -> list[Artist]:
    """Return an artist and all its descendants, except ticks of axes that do not show them.

    matplotlib creates ticks on access, which takes longer than drawing a frame.
    """
    found = [artist]
    for child in artist.get_children():
        found += [child] if isinstance(child, Axis) and not artist.axison else parts(child)
    return found


@contextmanager
def without_animation(artists: list[Artist]) -> Iterator[None]:
    """Make matplotlib draw animated artists too."""
    try:
        for artist in artists:
            artist.set_animated(False)
        yield
    finally:
        for artist in artists:
            artist.set_animated(True)


def background_key(artist: Artist) -> tuple:
    """The properties of a moving artist that the background depends on."""
    return artist.get_zorder(), moving_bounds(artist)


def moving_bounds(artist: Artist) -> Box:
    """Return a box that a moving artist never leaves: its clip box, if it has one."""
    clip = artist.get_clip_box() if artist.get_clip_on() and artist.get_agg_filter() is None else None
    if clip is None or isinstance(artist, Annotation) or artist.get_children():
        return EVERYWHERE  # the arrow of an annotation and the children of a group have their own clips
    return expand(clip.extents, 1)


# --- bounding boxes of strokes, in pixels from the lower left --------------------------------------------------------


def path_bounds(_renderer, gc, path, transform, *_face) -> Box:
    return clip_to_gc(gc, expand(extents(path, transform), line_margin(gc, path)))


def marker_bounds(_renderer, gc, marker, marker_transform, path, transform, *_face) -> Box:
    mark, places = extents(marker, marker_transform), extents(path, transform)
    return clip_to_gc(gc, expand([a + b for a, b in zip(mark, places, strict=True)], line_margin(gc, marker)))


def text_bounds(renderer, gc, x, y, text, font, angle, ismath=False, mtext=None) -> Box:  # noqa: ARG001
    width, height, descent = renderer.get_text_width_height_descent(text, font, ismath)
    side = height / 8 + 1.5  # a letter may start a little beside its origin; vertically there is only rounding
    corners = np.array([(a, b) for a in (-side, width + side) for b in (-descent - 1.5, height + 1.5)])
    c, s = cos(radians(angle)), sin(radians(angle))
    corners = corners @ [[c, s], [-s, c]] + (x, renderer.height - y)
    return clip_to_gc(gc, (*corners.min(0), *corners.max(0)))


def clip_bounds(_renderer, gc, *_rest) -> Box:
    return clip_to_gc(gc, EVERYWHERE)


def unknown_bounds(*_args) -> Box:
    return EVERYWHERE


BOUNDS = {
    "draw_path": path_bounds,
    "draw_markers": marker_bounds,
    "draw_text": text_bounds,
    "draw_tex": clip_bounds,
    "draw_image": clip_bounds,
    "draw_path_collection": clip_bounds,
    "draw_quad_mesh": clip_bounds,
    "draw_gouraud_triangles": clip_bounds,
    # Everything between these two becomes one image, so none of it may be painted early.
    "start_filter": unknown_bounds,
    "stop_filter": unknown_bounds,
}


def extents(path, transform) -> Box:
    points = transform.transform(path.vertices)
    points = points[np.isfinite(points).all(1)]
    return (*points.min(0), *points.max(0)) if len(points) else (0.0, 0.0, 0.0, 0.0)


def line_margin(gc: GraphicsContextBase, path) -> float:
    """Return how far a line extends beyond its path, plus one pixel for snapping."""
    if gc.get_sketch_params():
        return inf
    # The cap of a straight line is at most half a square; Agg limits a mitre to four half widths.
    return gc.get_linewidth() * (0.71 if len(path.vertices) <= 2 else 2) + 1


def clip_to_gc(gc: GraphicsContextBase, box: Box) -> Box:
    clip = gc.get_clip_rectangle()
    if clip is None:
        return box
    x0, y0, x1, y1 = expand(clip.extents, 1)
    return max(box[0], x0), max(box[1], y0), min(box[2], x1), min(box[3], y1)


def expand(box, by: float) -> Box:
    return float(box[0] - by), float(box[1] - by), float(box[2] + by), float(box[3] + by)


def overlaps_any(box: Box, others: list[Box]) -> bool:
    x0, y0, x1, y1 = box
    return any(x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in others)


def copy_gc(gc: GraphicsContextBase) -> GraphicsContextBase:
    copy = GraphicsContextBase()
    copy.copy_properties(gc)
    return copy


# --- pixels to bytes -------------------------------------------------------------------------------------------------


def jpeg(pixels: np.ndarray, quality: int) -> bytes:
    """For live frames: the fastest to encode. Colour at full resolution (4:4:4), or thin coloured lines turn grey."""
    height, width, _ = pixels.shape
    out = BytesIO()
    # "RGBX" takes the renderer's own bytes: its pixels are opaque, so the fourth of them says nothing.
    Image.frombuffer("RGBX", (width, height), pixels, "raw", "RGBX", 0, 1).save(
        out, "JPEG", quality=quality, subsampling=0
    )
    return out.getvalue()


def png(pixels: np.ndarray) -> bytes:
    """For the saved picture: the same bytes each time, no version of any library in them.

    256 colours, a few levels off at the edges of letters and lines, make a notebook four times smaller.
    """
    image = Image.fromarray(pixels[..., :3]).quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    out = BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()
