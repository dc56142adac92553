"""A renderer that records what matplotlib draws, as records that a browser can draw again.

Agg draws what it does not support (Gouraud shading, TeX, filters, sketched lines), as an image.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, cycle, groupby, islice
from operator import itemgetter

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgba
from matplotlib.image import AxesImage
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import BboxBase

from blocklab_course.panel import css, glyphs, images, svg_path
from blocklab_course.panel.display_list import DisplayList, count_characters

TENTHS_PER_INCH = 1000
"""Tenths of a CSS pixel per inch."""

LONG = 20_000
"""Characters above which an image of a moving artist may be shorter."""

MARGIN, FAR = 50, 1e6
"""Pixels: the margin at which lines are clipped, and the distance at which marks are dropped."""

UNSMOOTHED = ("none", "nearest", "auto", "antialiased")
"""Image interpolations that keep sharp cells."""

DRAWS = (
    "draw_path",
    "draw_markers",
    "draw_path_collection",
    "draw_quad_mesh",
    "draw_gouraud_triangles",
    "draw_image",
    "draw_text",
    "draw_tex",
)


class RecordingRenderer(RendererBase):
    """Adds what is drawn to `records`; `strokes_of(draw)` returns the numbers in drawing order."""

    def __init__(self, width: float, height: float, dpi: float, records: DisplayList):
        super().__init__()
        self.width, self.height, self.dpi = width, height, dpi
        self._records, self._memo = records, records.memo
        self._unit = TENTHS_PER_INCH / dpi
        self._flip_matrix = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, height], [0.0, 0.0, 1.0]])
        self._page = (-MARGIN, -MARGIN, width + MARGIN, height + MARGIN)
        self._agg, self._diversions = RendererAgg(width, height, dpi), 0
        self._strokes: list[int] = []

    def strokes_of(self, draw: Callable[["RecordingRenderer"], None]) -> list[int]:
        """Return the strokes that `draw(self)` makes."""
        outer, self._strokes = self._strokes, []
        try:
            draw(self)
            return self._strokes
        finally:
            self._strokes = outer

    def mark_slot(self) -> None:
        """Reserve a slot for the strokes of a moving artist."""
        self._strokes.append(0)

    def draw(self, artist: Artist) -> None:
        """Draw an artist, animated or not; as a raster image if that is shorter than its strokes."""
        if is_scalable_image(artist):
            draw = partial(self._draw_image_cells, artist)
        else:
            draw = (
                partial(self._draw_cached_text, artist) if is_simple_text(artist) else type(artist).draw.__get__(artist)
            )
        strokes = self.strokes_of(draw)
        has_pixels = any(self._records[number][0] in ("image", "tint") for number in strokes)
        if self._length(strokes) > LONG and not has_pixels:
            strokes = min(strokes, self.strokes_of(partial(self._as_pixels, artist)), key=self._length)
        self._strokes += strokes

    def _length(self, strokes: list[int]) -> int:
        """Estimate the characters of these strokes."""
        return sum(count_characters(self._records[number]) for number in strokes)

    # The interface of a matplotlib renderer

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def points_to_pixels(self, points):
        return points * self.dpi / 72

    def get_text_width_height_descent(self, s, prop, ismath):
        return self._agg.get_text_width_height_descent(s, prop, ismath)

    def option_image_nocomposite(self) -> bool:
        return True

    def draw_path(self, gc, path, transform, rgbFace=None):
        if gc.get_sketch_params():
            with self._drawn_by_agg():
                self.draw_path(gc, path, transform, rgbFace)
            return
        face, hatch = face_of(gc, rgbFace), self._hatch(gc)
        style = self._style(gc, face)
        if not style and not hatch:
            return
        width = gc.get_linewidth() if gc.get_rgb()[3] else 0
        line = face is None and not hatch
        if d := self._outline(path, self._flip_matrix @ transform.get_matrix(), gc.get_snap(), width, line):
            self._add_stroke("path", style or self._style_number(None, None), self._clip(gc), d, *hatch)

    def draw_markers(self, gc, marker_path, marker_trans, path, trans, rgbFace=None):
        if gc.get_sketch_params() or gc.get_hatch():
            super().draw_markers(gc, marker_path, marker_trans, path, trans, rgbFace)
            return
        style = self._style(gc, face_of(gc, rgbFace))
        places = self._flip_y(trans.transform(corners_of(path)))
        places = places[(np.abs(places) < FAR).all(1)]
        if not style or not len(places):
            return
        if gc.get_snap():  # as in Agg, marks with straight edges are at whole pixels
            places = np.floor(places + 0.5)
        mark = self._mark(gc, marker_path, marker_trans.get_matrix())
        self._add_stroke("marks", style, self._clip(gc), mark, tuple(self._tenths(places).ravel().tolist()))

    def draw_path_collection(self, gc, master_transform, paths, all_transforms, offsets, offset_trans, *looks, **more):
        if not len(paths):
            return
        if gc.get_sketch_params() or gc.get_hatch():
            placing = master_transform, paths, all_transforms, offsets, offset_trans
            super().draw_path_collection(gc, *placing, *looks, **more)
            return
        master = master_transform.get_matrix()
        matrices = list(master @ np.asarray(all_transforms)) if len(all_transforms) else [master]
        places = self._flip_y(offset_trans.transform(offsets))
        styles = self._styles(gc, max(len(paths), len(matrices), len(places)), *looks[:5])
        if len(places) > 1:
            self._scatter(gc, paths, matrices, places, styles)
        else:
            self._stack(gc, paths, matrices, places[0], styles)

    def draw_quad_mesh(
        self, gc, master_transform, meshWidth, meshHeight, coordinates, offsets, offsetTrans, facecolors, antialiased,
        edgecolors,
    ):  # fmt: skip
        faces, edges = np.asarray(facecolors).reshape(-1, 4), np.asarray(edgecolors).reshape(-1, 4)
        if not edges.any() and len(faces) == meshWidth * meshHeight:
            corners = master_transform.transform(coordinates.reshape(-1, 2)) + offsetTrans.transform(offsets)[0]
            if even := images.even_grid(corners.reshape(coordinates.shape)):
                cells = (faces.reshape(meshHeight, meshWidth, 4) * 255).round().astype(np.uint8)
                self._image(gc, cells, even, smooth=False)
                return
        paths, widths = QuadMesh._convert_mesh_to_paths(coordinates), [gc.get_linewidth()]
        looks = facecolors, edgecolors, widths, [], [antialiased]
        self.draw_path_collection(gc, master_transform, paths, [], offsets, offsetTrans, *looks)

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        letters = self._letters(s, prop, ismath, mtext)
        if letters:
            size = self.points_to_pixels(prop.get_size_in_points()) * self._unit / glyphs.EM
            turn = f" rotate({-angle:g})" if angle else ""
            place = f"translate({round(x * self._unit)} {round(y * self._unit)}){turn} scale({size:.5g})"
            style = self._memoize(("letters", gc.get_rgb()), lambda: ("style", css.style(gc.get_rgb(), None, "")))
            self._add_stroke("text", style, self._clip(gc), place, letters, s)

    def draw_image(self, gc, x, y, im, transform=None):  # noqa: ARG002  matplotlib passes no transform
        height, width = im.shape[:2]
        self._image(gc, im, (x, y, x + width, y + height), smooth=True)

    def draw_tex(self, gc, x, y, s, prop, angle, *, mtext=None):
        with self._drawn_by_agg():
            self.draw_tex(gc, x, y, s, prop, angle, mtext=mtext)

    def draw_gouraud_triangles(self, gc, triangles_array, colors_array, transform):
        with self._drawn_by_agg():
            self.draw_gouraud_triangles(gc, triangles_array, colors_array, transform)

    def start_filter(self) -> None:
        self._divert()
        self._agg.start_filter()

    def stop_filter(self, filter_func) -> None:
        self._agg.stop_filter(filter_func)
        self._collect_image()

    @contextmanager
    def _drawn_by_agg(self) -> Iterator[None]:
        """Let Agg draw, and record the result as an image."""
        self._divert()
        try:
            yield
        finally:
            self._collect_image()

    def _divert(self) -> None:
        if not self._diversions:
            self._agg.clear()
            for name in DRAWS:
                setattr(self, name, partial(self._to_agg, name))
        self._diversions += 1

    def _to_agg(self, name: str, *args, **options) -> None:
        getattr(self._agg, name)(*args, **options)  # looked up each time, because a filter replaces them

    def _collect_image(self) -> None:
        self._diversions -= 1
        if self._diversions:
            return
        for name in DRAWS:
            delattr(self, name)
        drawn = np.asarray(self._agg.buffer_rgba())
        if seen := images.nonempty_region(drawn):
            rows, columns = seen
            box = columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start
            self._add_stroke("image", 0, *self._tenths(np.array(box)).tolist(), 1, images.data_url(drawn[seen]))

    # Conversion to records

    def _add_stroke(self, *record) -> None:
        self._strokes.append(self._records.number(record))

    def _memoize(self, key: tuple, make: Callable[[], tuple]) -> int:
        """Return the number of the record that `make` returns; call it once per key."""
        number = self._memo.get(key)
        if number is None:
            number = self._memo[key] = self._records.number(make())
        return number

    def _tenths(self, places: np.ndarray) -> np.ndarray:
        return np.rint(places * self._unit).astype(int)

    def _flip_y(self, places: np.ndarray) -> np.ndarray:
        """Measure from the upper left instead of the lower left."""
        return np.asarray(places) * (1, -1) + (0, self.height)

    def _outline(self, path: Path, matrix: np.ndarray, snap: bool | None, width: float, line: bool) -> str:
        """Encode a path in place; lines are clipped to the picture and simplified as in Agg."""
        page, simplify = (self._page, path.should_simplify) if line else (None, False)
        pen = self.points_to_pixels(width)
        return svg_path.absolute(*svg_path.clean(path, matrix, page, snap, pen, simplify), self._unit)

    def _mark(self, gc: GraphicsContextBase, path: Path, matrix: np.ndarray) -> str:
        """Encode a path in relative coordinates."""
        width = self.points_to_pixels(gc.get_linewidth()) if gc.get_snap() else 0
        shape = path.vertices.tobytes(), None if path.codes is None else path.codes.tobytes()
        key = "mark", shape, matrix.tobytes(), width
        if key not in self._memo:
            if shape not in self._memo:
                self._memo[shape] = svg_path.radius(path)
            self._memo[key] = self._make_mark(gc, path, self._memo[shape], matrix, width)
        return self._memo[key]

    def _make_mark(self, gc: GraphicsContextBase, path: Path, radius: float, matrix: np.ndarray, width: float) -> str:
        (a, b, x), (c, d, y), _ = matrix.tolist()
        if radius and a == d and not (b or c or x or y):
            return svg_path.circle(radius * a * self._unit)
        turned = matrix * [[1], [-1], [1]]
        corners, codes = svg_path.clean(path, turned, None, bool(gc.get_snap()), width, False)
        return svg_path.relative(corners * self._unit, codes)

    def _scatter(self, gc, paths, matrices: list[np.ndarray], places: np.ndarray, styles) -> None:
        """Add items with individual offsets. Consecutive items of one style and shape become one record."""
        many = max(len(paths), len(matrices))
        marks = [self._mark(gc, *shape) for shape in islice(zip(cycle(paths), cycle(matrices), strict=False), many)]
        near = (np.abs(places) < FAR).all(1)
        points = self._tenths(np.where(near[:, None], places, 0)).tolist()
        items = [
            ((style, mark), point)
            for (style, _), mark, point, seen in zip(
                styles, cycle(marks), cycle(points), cycle(near.tolist()), strict=False
            )
            if style and seen
        ]
        clip = self._clip(gc)
        for (style, mark), group in groupby(items, itemgetter(0)):
            self._add_stroke("marks", style, clip, mark, tuple(chain.from_iterable(point for _, point in group)))

    def _stack(self, gc, paths, matrices: list[np.ndarray], place: np.ndarray, styles) -> None:
        """Add items with a common offset. Consecutive lines of one style become one record."""
        placed = self._flip_matrix.copy()
        placed[:2, 2] = place
        matrices = [placed @ matrix for matrix in matrices]
        if len(matrices) == 1 and len(styles) == len(paths) > 1 and (corners := stack_lines(paths)) is not None:
            corners = corners @ matrices[0][:2, :2].T + matrices[0][:2, 2]
            widths = self.points_to_pixels(np.array([width for _, width in styles]))
            drawn = svg_path.polylines(corners, gc.get_snap(), widths, self._unit)
        else:
            items = zip(styles, cycle(paths), cycle(matrices), strict=False)
            drawn = [self._outline(path, matrix, gc.get_snap(), width, False) for (_, width), path, matrix in items]
        clip = self._clip(gc)
        for style, group in groupby(zip(styles, drawn, strict=True), lambda item: item[0][0]):
            found = [d for _, d in group if d and style]
            if style and css.can_merge(self._records[style][1]):
                found = ["".join(found)]
            for d in found:
                self._add_stroke("path", style, clip, d)

    def _letters(self, text: str, prop, ismath: bool, artist) -> tuple[int, ...]:
        """Return the glyphs of a text and their positions."""
        shaping = (
            (artist.get_fontfeatures(), artist.get_language()) if hasattr(artist, "get_language") else (None, None)
        )
        key = "text", text, hash(prop), ismath, shaping
        found = self._memo.get(key)
        if found is None:
            if ismath:
                letters, bars = glyphs.layout_formula(text, prop, self.dpi)
            else:
                letters, bars = glyphs.layout_text(text, prop, self.dpi, *shaping), []
            found = self._memo[key] = tuple(chain(self._place_glyphs(letters), self._place_bars(bars)))
        return found

    def _place_glyphs(self, letters: list[glyphs.Letter]) -> Iterator[int]:
        for font, glyph, share, x, y in letters:
            key = "glyph", font.fname, font.postscript_name, glyph, share
            number = self._memoize(key, lambda: ("glyph", glyphs.outline(font, glyph, share)))  # noqa: B023  called at once
            if self._records[number][1]:
                yield from (number, x, -y)

    def _place_bars(self, bars: list[glyphs.Bar]) -> Iterator[int]:
        for x, y, width, height in bars:
            yield from (self._records.number(("glyph", glyphs.bar_outline(width, height))), x, -y)

    def _draw_image_cells(self, image: AxesImage, _recorder: "RecordingRenderer") -> None:
        """Draw an image before resampling, so that the browser enlarges it."""
        values = image.get_array()
        if not image.get_visible() or not values.size:
            return
        left, right, bottom, top = image.get_extent()
        ends = image.get_transform().transform([(left, bottom), (right, top)])
        box = np.floor(ends + 0.5)  # at whole pixels, as in Agg
        if values.shape[0] * values.shape[1] > abs(np.prod(box[1] - box[0])):  # more cells than pixels
            type(image).draw(image, self)
            return
        cells = image.to_rgba(values, bytes=True, norm=values.ndim == 2)
        if image.get_alpha() is not None:
            cells = (cells * (1, 1, 1, image.get_alpha())).round().astype(np.uint8)
        gc = self.new_gc()
        image._set_gc_clip(gc)
        smooth = image.get_interpolation() not in UNSMOOTHED
        self._image(gc, cells[:: -1 if image.origin == "upper" else 1], tuple(box.ravel()), smooth)
        image.stale = False

    def _draw_cached_text(self, text: Text, _recorder: "RecordingRenderer") -> None:
        """Draw a text with a cached layout, so that moving it does not lay it out again."""
        prop, string = text.get_fontproperties(), text.get_text()
        looks = text.get_rotation(), text.get_ha(), text.get_va(), text.get_rotation_mode(), text._linespacing
        key = "layout", string, hash(prop), looks, text._get_multialignment(), text.get_parse_math()
        lines = self._memo.get(key)
        if lines is None:
            _, laid_out, *_ = text._get_layout(self)
            # matplotlib 3.10 returns x and y separately, not as a pair.
            lines = [(*text._preprocess_math(line), *np.ravel(place).tolist()) for line, _, *place in laid_out]
            self._memo[key] = lines
        x, y = text.get_transform().transform(text.get_unitless_position())
        if not text.get_visible() or not string or not np.isfinite(x + y):
            return
        gc = self.new_gc()
        text._set_gc_clip(gc)
        gc.set_foreground(to_rgba(text.get_color()), isRGBA=True)
        gc.set_alpha(text.get_alpha())
        own = text if len(lines) == 1 else None
        for line, formula, right, up in lines:
            self.draw_text(gc, x + right, self.height - (y + up), line, prop, looks[0], formula, own)
        text.stale = False

    def _image(self, gc: GraphicsContextBase, cells: np.ndarray, box, smooth: bool) -> None:
        """Add cells, first row at the bottom of the box (left, bottom, right, top); either axis may be reversed."""
        x0, y0, x1, y1 = box
        cells = cells[:: 1 if y0 > y1 else -1, :: -1 if x0 > x1 else 1]
        left, top = min(x0, x1), self.height - max(y0, y1)
        placed = self._tenths(np.array([left, top, abs(x1 - x0), abs(y1 - y0)])).tolist()
        place = self._clip(gc), *placed, int(smooth)
        tints = images.split_tints(cells)
        for colour, opacity in tints:
            self._add_stroke("tint", self._style_number(to_rgba(colour), None), *place, images.data_url(opacity))
        if not tints:
            self._add_stroke("image", *place, images.data_url(cells))

    def _as_pixels(self, artist: Artist, _recorder: "RecordingRenderer") -> None:
        with self._drawn_by_agg():
            type(artist).draw(artist, self)

    def _style(self, gc: GraphicsContextBase, face: css.Colour | None) -> int:
        """Return the number of a style; 0 if nothing is visible."""
        line = gc.get_rgb() if gc.get_linewidth() and gc.get_rgb()[3] else None
        if not face and not line:
            return 0
        start, lengths = gc.get_dashes()
        dashes = None if lengths is None else (start, *lengths)
        pen = gc.get_linewidth(), dashes, gc.get_capstyle(), gc.get_joinstyle()
        return self._style_number(face, line, *pen, bool(gc.get_antialiased()))

    def _style_number(self, face, line, width=0.0, dashes=None, cap="butt", join="miter", smooth=True) -> int:
        def look() -> tuple[str, str]:
            point = self.points_to_pixels(self._unit)
            pen = css.stroke_style(width * point, dashes and tuple(length * point for length in dashes), cap, join)
            return "style", css.style(face, line, pen, smooth)

        return self._memoize(("style", face, line, width, dashes, cap, join, smooth), look)

    def _styles(self, gc, many: int, faces, edges, widths, dashes, smooth) -> list[tuple[int, float]]:
        """Return (style, line width) of the items of a collection; each property list is cycled."""
        pens = [None if lengths is None else (start, *lengths) for start, lengths in dashes]
        looks = colours(faces), colours(edges), list(widths) or [gc.get_linewidth()], pens, list(smooth)
        cap, join, styles = gc.get_capstyle(), gc.get_joinstyle(), []
        for face, edge, width, pen, fine in islice(zip(*(cycle(look or [None]) for look in looks), strict=True), many):
            line = edge if width else None
            style = self._style_number(face, line, width, pen, cap, join, bool(fine)) if face or line else 0
            styles.append((style, width if line else 0))
        return styles

    def _clip(self, gc: GraphicsContextBase) -> int:
        box, (path, transform) = gc.get_clip_rectangle(), gc.get_clip_path()
        if path is None:
            return 0 if box is None else self._memoize(("clip", box.extents.tobytes()), partial(self._window, box))
        path = path.transformed(transform)
        if box is not None:
            path = path.clip_to_bbox(box)
        d = svg_path.absolute(*svg_path.clean(path, self._flip_matrix, None, False, 0, False), self._unit)
        return self._records.number(("clip", d))

    def _window(self, box: BboxBase) -> tuple:
        """Return a clip rectangle at whole pixels, as in Agg."""
        x0, y0, x1, y1 = np.clip(np.floor(box.extents + 0.5), 0, (self.width, self.height) * 2)
        return "clip", *self._tenths(np.array((x0, self.height - y1, x1 - x0, y1 - y0))).tolist()

    def _hatch(self, gc: GraphicsContextBase) -> tuple[int, ...]:
        """Return the hatch of a path as a tuple, empty if it has none."""
        if not gc.get_hatch():
            return ()
        colour, size = gc.get_hatch_color(), int(self.dpi)
        ink = gc.get_rgb() if colour is None else tuple(colour)

        def tile() -> tuple:
            matrix = np.array([[size, 0.0, 0.0], [0.0, -size, size], [0.0, 0.0, 1.0]])
            drawn = svg_path.clean(gc.get_hatch_path(), matrix, None, False, 0, False)
            width = self.points_to_pixels(gc.get_hatch_linewidth()) * self._unit
            style = css.style(ink, ink, css.stroke_style(width, None, "projecting", "miter"))
            return "hatch", svg_path.absolute(*drawn, self._unit), round(size * self._unit), style

        return (self._memoize(("hatch", gc.get_hatch(), ink, gc.get_hatch_linewidth()), tile),)


def is_scalable_image(artist: Artist) -> bool:
    """Return whether this is an image that a browser can enlarge as matplotlib does."""
    if type(artist) is not AxesImage or artist.get_agg_filter() or np.ndim(artist.get_alpha()):
        return False
    transform = artist.get_transform()
    return transform.is_affine and not transform.get_matrix()[[0, 1], [1, 0]].any()


def is_simple_text(artist: Artist) -> bool:
    """Return whether this is a text without box, path effects, filter, TeX or wrapping."""
    if type(artist) is not Text or artist.get_agg_filter() or artist.get_path_effects():
        return False
    return not (artist.get_bbox_patch() or artist.get_wrap() or artist.get_usetex())


def stack_lines(paths: list[Path]) -> np.ndarray | None:
    """Stack the vertices of straight lines; None if their numbers differ or a vertex is not finite."""
    if any(path.codes is not None or len(path.vertices) != len(paths[0].vertices) for path in paths):
        return None
    corners = np.stack([path.vertices for path in paths])
    return corners if np.isfinite(corners).all() and len(corners[0]) > 1 else None


def corners_of(path: Path) -> np.ndarray:
    """Return the vertices of a path without control points."""
    if path.codes is None:
        return path.vertices
    return np.array([ends[-2:] for ends, _ in path.iter_segments(simplify=False)]).reshape(-1, 2)


def face_of(gc: GraphicsContextBase, face) -> css.Colour | None:
    """Return the colour of a face; None if it is invisible."""
    if face is None:
        return None
    face = (*face[:3], gc.get_alpha()) if len(face) == 3 or gc.get_forced_alpha() else tuple(face)
    return face if face[3] else None


def colours(array) -> list[css.Colour | None]:
    """Return one colour per row; None if it is invisible."""
    return [tuple(row) if row[3] else None for row in np.reshape(array, (-1, 4)).tolist()]
