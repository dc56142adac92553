"""The records of everything that matplotlib draws; strokes after several steps equal a full drawing."""

import base64
import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Circle, Rectangle
from matplotlib.patheffects import withStroke
from PIL import Image
from test_panel_frames import MOVES, PICTURES, title_limits_and_legend_change

from authoring.site.svg import svg
from blocklab_course.panel import palette
from blocklab_course.panel.canvas import Canvas
from blocklab_course.panel.palette import PAPER_ON_COLOUR
from blocklab_course.panel.recording_renderer import LONG


def axes_of(canvas, **limits):
    axes = canvas.figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 500), ylim=(0, 300), **limits)  # a unit is a pixel
    axes.axis("off")
    return axes


def recorded(artist_of, kind=None):
    """Return the records of one moving artist, and the store."""
    canvas = Canvas((5, 3), 1)
    artist = artist_of(axes_of(canvas))
    artist.set_animated(True)
    (strokes,) = canvas.strokes().moving
    found = [canvas.records[number] for number in strokes]
    assert kind is None or [record[0] for record in found] == [kind]
    return found, canvas.records


def css(record, records) -> dict:
    return dict(part.split(":") for part in records[record[1]][1].split(";"))


def numbers(d: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d+", d)]


def pixels(url: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))).convert("RGBA"))


# --- every kind of record ---


def test_line_becomes_path_in_tenths_from_upper_left():
    (path,), records = recorded(lambda axes: axes.plot([10, 20, 25.5], [290, 280, 300], color=palette.MOVED)[0], "path")
    assert path[3] == "M100 100l100 100 55-200"
    look = css(path, records)
    assert look["fill"] == "none"
    assert look["stroke"] == f"var(--bl-moved,{palette.MOVED})"
    assert float(look["stroke-width"]) == pytest.approx(1.5 / 72 * 1000, rel=1e-3)
    assert look["stroke-linejoin"] == "round"
    assert look["stroke-linecap"] == "square"


def test_straight_edges_snap_to_pixels():
    (path,), _ = recorded(lambda axes: axes.add_patch(Rectangle((10.3, 20.4), 30, 40, lw=0, fc="red")), "path")
    assert path[3] == "M100 2800l300 0 0-400-300 0z"
    (path,), _ = recorded(lambda axes: axes.plot([10.3, 40], [20.4, 20.4], lw=0.72)[0], "path")
    assert path[3] == "M105 2805l300 0"


def test_dashes_caps_and_alpha():
    (path,), records = recorded(
        lambda axes: axes.plot([0, 9], [0, 9], "--", lw=7.2, alpha=0.25, dash_capstyle="round")[0]
    )
    look = css(path, records)
    assert look["stroke-dasharray"] == "370 160"  # 3.7 and 1.6 times the width, 10 pixels
    assert look["stroke-opacity"] == "0.25"
    assert look["stroke-linecap"] == "round"


@pytest.mark.parametrize(
    ("colour", "told"),
    [
        (palette.INK, f"var(--bl-ink,{palette.INK})"),
        (palette.GROUPS[11], f"var(--bl-group-11,{palette.GROUPS[11]})"),
        ("black", "var(--bl-ink,#000000)"),
        ("white", "var(--bl-paper,#ffffff)"),
        ("#123456", "#123456"),
    ],
)
def test_palette_colours_use_css_variables(colour, told):
    (path,), records = recorded(lambda axes: axes.add_patch(Rectangle((0, 0), 9, 9, fc=colour, ec="none")), "path")
    assert css(path, records) == {"fill": told}


@pytest.mark.parametrize(("color", "fill"), [("white", "var(--bl-paper,#ffffff)"), (PAPER_ON_COLOUR, PAPER_ON_COLOUR)])
def test_white_text_follows_the_theme_unless_fixed(color, fill):
    (text,), records = recorded(lambda axes: axes.text(9, 9, "a", color=color), "text")
    assert css(text, records) == {"fill": fill}


def test_marks_are_one_record():
    corners = [10, 20, np.nan], [290.04, 280, 3]
    (marks,), _ = recorded(lambda axes: axes.plot(*corners, "o", ms=7.2, mec="none")[0], "marks")
    assert marks[3:] == ("m-50 0a50 50 0 1 0 100 0a50 50 0 1 0 -100 0z", (100, 100, 200, 200))


def test_scatter_is_one_record_per_run_of_equal_style():
    found, _ = recorded(lambda axes: axes.scatter([1, 2, 3, 4], [1, 2, 3, 4], c=["r", "r", "b", "r"], marker="^"))
    assert [record[0] for record in found] == ["marks"] * 3
    assert [len(record[4]) for record in found] == [4, 2, 2]
    assert found[0][3] == found[1][3]
    assert found[0][3].startswith("m")
    assert not re.search("[MLQCZ]", found[0][3])


def test_scatter_keeps_its_sizes():
    found, _ = recorded(lambda axes: axes.scatter([1, 2], [1, 2], s=[72**2 / 100, 4 * 72**2 / 100]))
    assert [numbers(record[3])[0] for record in found] == [-50, -100]


def test_lines_of_equal_style_become_one_path():
    lines = [[(0, 0), (10, 10)], [(20, 20), (30, 25)]]
    (path,), _ = recorded(lambda axes: axes.add_collection(LineCollection(lines)), "path")
    assert path[3] == "M0 3000l100-100M200 2800l100-50"
    found, _ = recorded(lambda axes: axes.add_collection(LineCollection(lines, alpha=0.5)))
    assert len(found) == 2  # crossings would be visible


@settings(max_examples=20)  # each example draws several figures
@given(st.lists(st.tuples(*[st.floats(-400, 400)] * 4), min_size=2, max_size=5), st.floats(0.1, 5), st.booleans())
def test_line_collection_equals_its_single_lines(ends, width, level):
    lines = [[(x, y), (x2, y if level else y2)] for x, y, x2, y2 in ends]

    def collection(lines):
        return lambda axes: axes.add_collection(LineCollection(lines, linewidths=width, alpha=0.5))

    together, _ = recorded(collection(lines))
    apart = [recorded(collection([line]))[0][0][3] for line in lines]
    assert [record[3] for record in together] == apart


def test_patch_collection_keeps_face_colours():
    shapes = [Circle((50, 50), 10), Rectangle((10, 10), 5, 5)]
    found, records = recorded(lambda axes: axes.add_collection(PatchCollection(shapes, facecolors=["r", "g"], lw=0)))
    assert [css(record, records)["fill"] for record in found] == ["#ff0000", "#008000"]
    assert "C" in found[0][3]


def test_image_is_recorded_as_cells():
    values = np.arange(6).reshape(2, 3)
    extent = (100, 400, 0, 200)
    (image,), _ = recorded(lambda axes: axes.imshow(values, extent=extent, cmap="gray", aspect="auto"), "image")
    assert image[2:7] == (1000, 1000, 3000, 2000, 0)
    assert pixels(image[7])[..., 0].tolist() == [[0, 51, 102], [153, 204, 255]]
    for options, smooth, turned in (({"interpolation": "bilinear"}, 1, 1), ({"origin": "lower"}, 0, -1)):
        (image,), _ = recorded(
            lambda axes, options=options: axes.imshow(values, extent=extent, cmap="gray", aspect="auto", **options)
        )
        assert image[6] == smooth
        assert pixels(image[7])[::turned, :, 0].tolist() == [[0, 51, 102], [153, 204, 255]]


def test_image_keeps_alpha():
    (image,), _ = recorded(lambda axes: axes.imshow([[0, 1]], extent=(0, 50, 0, 50), alpha=0.2, aspect="auto"), "image")
    assert pixels(image[7])[..., 3].tolist() == [[51, 51]]


def test_image_with_more_cells_than_pixels_is_resampled():
    (image,), _ = recorded(lambda axes: axes.imshow(np.zeros((90, 90)), extent=(0, 50, 0, 50), aspect="auto"), "image")
    assert pixels(image[7]).shape == (50, 50, 4)


def test_only_even_mesh_becomes_image():
    (image,), _ = recorded(lambda axes: axes.pcolormesh([0, 100, 200], [0, 50, 100], [[0, 1], [2, 3]]), "image")
    assert image[2:7] == (0, 2000, 2000, 1000, 0)
    assert pixels(image[7]).shape == (2, 2, 4)
    found, _ = recorded(lambda axes: axes.pcolormesh([0, 100, 150], [0, 50, 100], [[0, 1], [2, 3]]))
    assert [record[0] for record in found] == ["path"] * 4


def test_hatch_becomes_tile():
    (path,), records = recorded(
        lambda axes: axes.add_patch(Rectangle((0, 0), 50, 50, fc="w", ec="r", hatch="//")), "path"
    )
    kind, d, size, look = records[path[4]]
    assert (kind, size) == ("hatch", 1000)
    assert "stroke:#ff0000" in look
    assert d.startswith("M")


def test_clip_rectangle_and_path():
    def clipped(clip):
        def artist_of(axes):
            line = axes.plot([0, 500], [0, 300])[0]
            line.set_clip_on(clip is not None)
            if clip is not None:
                line.set_clip_path(clip(axes))
            return line

        (path,), records = recorded(artist_of)
        return records[path[2]] if path[2] else None

    assert clipped(None) is None
    assert clipped(lambda axes: Rectangle((10, 10), 20, 20, transform=axes.transData)) == ("clip", 100, 2700, 200, 200)
    kind, d = clipped(lambda axes: Circle((100, 100), 50, transform=axes.transData))
    assert kind == "clip"
    assert np.cumsum(numbers(d)[::2]).min() == pytest.approx(500, abs=1)  # left end of the circle


def test_halo_is_a_stroke_below_the_text():
    halo = [withStroke(linewidth=7.2, foreground="white")]
    found, records = recorded(lambda axes: axes.text(50, 50, "a", path_effects=halo, color=palette.INK))
    under, over = (css(record, records) for record in found)
    assert under["stroke"] == "var(--bl-paper,#ffffff)"
    assert over["fill"] == f"var(--bl-ink,{palette.INK})"


# --- unsupported artists ---


def gouraud(axes):
    return axes.tripcolor([10, 110, 60], [10, 10, 90], [0, 1, 2], shading="gouraud")


def filtered(axes):
    line = axes.plot([10, 110], [10, 90], lw=9)[0]
    line.set_agg_filter(lambda image, _dpi: (np.ascontiguousarray(image[::-1]), 0, 0))
    return line


def sketched(axes):
    line = axes.plot([10, 110], [10, 90], lw=9)[0]
    line.set_sketch_params(3)
    return line


@pytest.mark.parametrize("artist_of", [gouraud, filtered, sketched])
def test_unsupported_artist_becomes_image(artist_of):
    (image,), _ = recorded(artist_of, "image")
    x, y, width, height = (side / 10 for side in image[2:6])
    drawn = pixels(image[7])
    assert drawn.shape[:2] == (height, width)
    canvas = Canvas((5, 3), 1)
    artist_of(axes_of(canvas))
    rest = canvas.frame()[..., :3].astype(float)
    box = np.s_[int(y) : int(y + height), int(x) : int(x + width)]
    alpha = drawn[..., 3:] / 255
    assert np.abs(alpha * drawn[..., :3] + (1 - alpha) * 255 - rest[box]).max() < 3
    rest[box] = 255
    assert rest.min() == 255  # nothing is drawn outside the image


def test_unsupported_static_artist_becomes_image():
    canvas = Canvas((5, 3), 1)
    gouraud(axes_of(canvas))
    kinds = [canvas.records[number][0] for number in canvas.records[canvas.strokes().rest][1]]
    assert kinds.count("image") == 1


def test_long_strokes_become_image_if_shorter():
    rng = np.random.default_rng(0)
    places, sizes, colours = rng.uniform(100, 110, (600, 2)), rng.uniform(1, 90, 600), rng.uniform(0, 1, (600, 3))
    recorded(lambda axes: axes.scatter(*places.T, s=sizes, c=colours), "image")
    wide = rng.uniform((0, 0), (500, 300), (3000, 2))  # many strokes, but an image would be longer
    (path,), _ = recorded(lambda axes: axes.plot(*wide.T, lw=0.4)[0], "path")
    assert len(path[3]) > LONG


# --- one state after another ---


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.__name__)
@pytest.mark.parametrize(
    "frames",
    [pytest.param(False, id="strokes", marks=pytest.mark.exhaustive), pytest.param(True, id="frames in between")],
)
def test_strokes_after_steps_equal_full_drawing(picture, frames):
    canvas = Canvas((5, 3), 1)
    update = picture(canvas.figure)
    for step, k in enumerate(MOVES):
        update(k)
        if frames and step % 2:
            assert np.array_equal(canvas.frame(), canvas.still(1)), f"k = {k}"
        elif frames:
            canvas.frame()
        if step % 4:
            canvas.strokes()
            continue
        fresh = Canvas((5, 3), 1)
        update_fresh = picture(fresh.figure)
        for number, earlier in enumerate(MOVES[: step + 1]):
            update_fresh(earlier)
            if number == 0:
                fresh.still(1)  # computes the layout once
                fresh.figure.set_layout_engine("none")
        assert told(canvas) == told(fresh), f"k = {k}"


def test_static_strokes_have_a_slot_per_moving_artist():
    canvas = Canvas((5, 3), 1)
    axes = axes_of(canvas)
    colours = [f"#00010{n}" for n in range(5)]
    lines = [axes.plot([0, 9], [n, n], color=colours[n], animated=n % 2)[0] for n in range(5)]
    drawing = canvas.strokes()
    strokes = canvas.records[drawing.rest][1][-5:]  # the others are the background and axes
    assert [bool(number) for number in strokes] == [True, False, True, False, True]
    assert [css(canvas.records[number], canvas.records)["stroke"] for number in strokes[::2]] == colours[::2]
    assert canvas.moving_artists == lines[1::2]
    moving = [canvas.records[number] for (number,) in drawing.moving]
    assert [css(record, canvas.records)["stroke"] for record in moving] == colours[1::2]


def test_still_does_not_change_the_next_strokes():
    canvas = Canvas((5, 3), 1)
    update = title_limits_and_legend_change(canvas.figure)
    update(0)
    before = canvas.strokes()
    update(3)
    canvas.still(2)
    assert canvas.strokes().rest != before.rest


def told(canvas) -> str:
    """Return the strokes as SVG, independent of record numbers."""
    numbers = {}  # clips and hatches, in order of appearance
    drawn = svg(canvas.strokes(), canvas.records, 500, 300)
    return re.sub(
        r'(id="|url\(#)(\d+)', lambda found: found[1] + str(numbers.setdefault(found[2], len(numbers))), drawn
    )
