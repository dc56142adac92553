"""Styles of recorded artists: clips, lines, faces, hatches, and the orientation of images."""

import numpy as np
import pytest
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.patches import Rectangle
from matplotlib.path import Path
from matplotlib.patheffects import SimplePatchShadow
from matplotlib.transforms import Affine2D
from test_recording_renderer import axes_of, css, pixels, recorded

from blocklab_course.panel.canvas import Canvas
from blocklab_course.panel.palette import MOVED, PAPER, STILL, TRUE, fixed
from blocklab_course.panel.svg_path import relative

GRAY = {"extent": (100, 400, 0, 200), "cmap": "gray", "aspect": "auto"}


def recorded_together(*artists_of):
    """Return the single record of each of several moving artists in one picture, and the store."""
    canvas = Canvas((5, 3), 1)
    axes = axes_of(canvas)
    for artist_of in artists_of:
        artist_of(axes).set_animated(True)
    return [canvas.records[number] for (number,) in canvas.strokes().moving], canvas.records


# --- clips ---


@pytest.mark.parametrize(
    "artist_of",
    [
        lambda axes: axes.plot([0, 99], [0, 99])[0],
        lambda axes: axes.plot([0, 99], [0, 99], "o")[0],
        lambda axes: axes.scatter([0, 99], [0, 99]),
        lambda axes: axes.add_collection(LineCollection([[(0, 0), (9, 9)]])),
        lambda axes: axes.text(15, 15, "a", clip_on=True),
        lambda axes: axes.imshow([[0, 1]], **GRAY),
        lambda axes: axes.pcolormesh([[0, 1], [2, 3]]),
    ],
    ids=["line", "marks", "scatter", "lines", "text", "image", "mesh"],
)
def test_clip_snaps_to_pixels(artist_of):
    def clipped(axes):
        artist = artist_of(axes)
        artist.set_clip_path(Rectangle((10.3, 10.3), 20, 20, transform=axes.transData))
        return artist

    (record,), records = recorded(clipped)
    assert records[record[1 if record[0] == "image" else 2]] == ("clip", 100, 2700, 200, 200)


# --- places ---


def test_round_marks_keep_tenths_and_square_marks_snap():
    (round_one, square), _ = recorded_together(
        lambda axes: axes.plot([10.26], [289.52], "o")[0], lambda axes: axes.plot([10.26], [289.52], "s")[0]
    )
    assert round_one[4] == (103, 105)
    assert square[4] == (100, 100)


def test_far_away_marks_are_dropped():
    for artist_of in (
        lambda axes: axes.scatter([1, 1e9], [1, 1], s=[20, 40]),
        lambda axes: axes.plot([1, 1e9], [1, 1], "o")[0],
    ):
        (marks,), _ = recorded(artist_of, "marks")
        assert marks[4] == (10, 2990)


def test_invisible_text_is_not_recorded():
    assert recorded(lambda axes: axes.text(9, 9, "a", visible=False))[0] == []


def test_font_weight_changes_glyphs():
    thin, bold = (lambda axes, weight=weight: axes.text(9, 9, "a", weight=weight) for weight in ("normal", "bold"))
    (first, second), _ = recorded_together(thin, bold)
    assert first[4] != second[4]


# --- marks ---


def test_ellipse_is_not_recorded_as_circle():
    for artist_of in (
        lambda axes: axes.plot([9], [9], marker=Path.unit_circle().transformed(Affine2D().scale(1, 0.5)))[0],
        lambda axes: axes.add_collection(
            EllipseCollection([20], [10], [0], units="dots", offsets=[(99, 99)], offset_transform=axes.transData)
        ),
    ):
        (mark,), _ = recorded(artist_of)
        assert "a" not in mark[3]
        assert "c" in mark[3].lower()


def test_mark_snapping_depends_on_line_width():
    odd, even = (lambda axes, width=width: axes.plot([9], [9], "s", ms=7.2, mew=width)[0] for width in (0.72, 1.44))
    (first, second), _ = recorded_together(odd, even)
    assert first[3] != second[3]


def test_relative_path_continues_after_closed_part():
    corners = [(0, 0), (10, 0), (10, 10), (0, 0), (20, 0), (30, 0), (30, 10), (20, 0)]
    codes = 2 * [Path.MOVETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    assert relative(np.array(corners), codes) == "m0 0l10 0l0 10zm20 0l10 0l0 10z"


# --- pens and faces ---


def test_dash_offset():
    (path,), records = recorded(lambda axes: axes.plot([0, 9], [0, 9], ls=(5, (10, 4)), lw=0.72)[0], "path")
    look = css(path, records)
    assert (look["stroke-dasharray"], look["stroke-dashoffset"]) == ("100 40", "50")


def test_line_collection_has_own_dashes_and_shared_caps():
    lines = [[(0, 0), (9, 9)], [(20, 20), (30, 25)]]
    found, records = recorded(
        lambda axes: axes.add_collection(
            LineCollection(lines, linestyles=["-", "--"], capstyle="round", joinstyle="bevel")
        )
    )
    whole, dashed = (css(record, records) for record in found)
    assert "stroke-dasharray" not in whole
    assert dashed["stroke-dasharray"]
    assert {look[part] for look in (whole, dashed) for part in ("stroke-linecap", "stroke-linejoin")} == {
        "round",
        "bevel",
    }


def test_zero_width_edge_is_omitted():
    found, records = recorded(lambda axes: axes.scatter([1, 2], [1, 2], s=[20, 40], edgecolors="r", linewidths=0))
    assert ["stroke" in css(marks, records) for marks in found] == [False, False]


def test_face_and_text_opacity():
    (patch, text), records = recorded_together(
        lambda axes: axes.add_patch(Rectangle((0, 0), 9, 9, fc="#123456", lw=0, alpha=0.25)),
        lambda axes: axes.text(9, 9, "a", color="#123456", alpha=0.5),
    )
    assert css(patch, records) == {"fill": "#123456", "fill-opacity": "0.25"}
    assert css(text, records) == {"fill": "#123456", "fill-opacity": "0.5"}


def test_shadow_opacity():
    shadow = [SimplePatchShadow(shadow_rgbFace="#123456", alpha=0.25)]
    (path,), records = recorded(
        lambda axes: axes.add_patch(Rectangle((0, 0), 9, 9, fc="r", lw=0, path_effects=shadow)), "path"
    )
    assert css(path, records)["fill-opacity"] == "0.25"


def test_disabled_antialiasing_gives_crisp_edges():
    (path,), records = recorded(lambda axes: axes.plot([0, 9], [0, 9], antialiased=False)[0], "path")
    assert css(path, records)["shape-rendering"] == "crispEdges"


# --- hatches ---


def hatched(colour, width=1.0):
    def artist_of(axes):
        patch = axes.add_patch(Rectangle((0, 0), 50, 50, fc="w", ec=colour, hatch="//"))
        patch.set_hatch_linewidth(width)
        return patch

    return artist_of


def test_hatch_depends_on_colour_and_width():
    found, records = recorded_together(hatched("r"), hatched("b"), hatched("r", 2), hatched("r"))
    looks = [records[path[4]][3] for path in found]
    assert looks[0] == looks[3]
    assert len(set(looks)) == 3


def test_hatch_without_face_is_drawn():
    hollow = {"fill": False, "lw": 0, "ec": "r", "hatch": "//"}
    (path,), records = recorded(lambda axes: axes.add_patch(Rectangle((0, 0), 50, 50, **hollow)), "path")
    assert css(path, records) == {"fill": "none"}
    assert records[path[4]][0] == "hatch"


# --- images ---


@pytest.mark.parametrize("x", [1, -1])
@pytest.mark.parametrize("y", [1, -1])
def test_image_follows_inverted_axes(x, y):
    def artist_of(axes):
        image = axes.imshow(np.arange(6).reshape(2, 3), **GRAY)
        axes.set(xlim=(0, 500)[::x], ylim=(0, 300)[::y])
        return image

    (image,), _ = recorded(artist_of, "image")
    assert pixels(image[7])[::y, ::x, 0].tolist() == [[0, 51, 102], [153, 204, 255]]


@pytest.mark.parametrize("y", [1, -1])
def test_mesh_follows_inverted_axis(y):
    (image,), _ = recorded(
        lambda axes: axes.pcolormesh([0, 100, 200], [0, 50, 100][::y], [[0, 1], [2, 3]], cmap="gray"), "image"
    )
    assert pixels(image[7])[::-y, :, 0].tolist() == [[0, 85], [170, 255]]


def test_mesh_with_edges_becomes_paths():
    found, _ = recorded(lambda axes: axes.pcolormesh([0, 100, 200], [0, 50, 100], [[0, 1], [2, 3]], edgecolors="k"))
    assert [record[0] for record in found] == ["path"] * 4


def test_transparent_cell_stays_transparent():
    cells = np.full((1, 2, 4), 255, np.uint8)
    cells[0, 1, 3] = 0
    (image,), _ = recorded(lambda axes: axes.imshow(cells, **GRAY), "image")
    assert pixels(image[7])[..., 3].tolist() == [[255, 0]]


# --- tints: images of palette colours, which a dark page replaces ---


def test_image_of_palette_colours_becomes_a_tint_for_each():
    cells = np.array([[to_rgba(MOVED, 0.2), to_rgba(STILL)], [to_rgba(PAPER, 0), to_rgba(MOVED)]])
    found, records = recorded(lambda axes: axes.imshow(cells, **GRAY))
    opacity = {records[style][1]: pixels(url)[..., 0].tolist() for _, style, *_, url in found}
    assert opacity == {
        "fill:var(--bl-moved,#dd7610)": [[51, 0], [0, 255]],
        "fill:var(--bl-still,#dfe6ec)": [[0, 255], [0, 0]],
    }
    assert {record[0] for record in found} == {"tint"}
    assert len({record[2:-1] for record in found}) == 1  # in one place


@pytest.mark.parametrize("colours", [["white", "black"], [MOVED, "white"], [fixed(MOVED), STILL], [MOVED, "#123456"]])
def test_image_with_any_other_colour_stays_an_image(colours):
    cells = np.array([[to_rgba(colour) for colour in colours]])
    assert len(recorded(lambda axes: axes.imshow(cells, **GRAY), "image")[0]) == 1


def test_smooth_map_from_nothing_to_a_palette_colour_becomes_a_tint():
    tint = LinearSegmentedColormap.from_list("tint", [to_rgba(TRUE, 0), to_rgba(TRUE)])
    values = np.linspace(0, 1, 12).reshape(3, 4)
    looks = {**GRAY, "cmap": tint, "interpolation": "bilinear", "interpolation_stage": "data"}
    assert len(recorded(lambda axes: axes.imshow(values, **looks), "tint")[0]) == 1
