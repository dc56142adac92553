"""Every frame equals a full drawing, pixel by pixel, for pictures that are hard to draw incrementally."""

import io

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from PIL import Image

from blocklab_course.panel.canvas import Canvas, jpeg, png

WAVE = np.sin(np.arange(12 * 16) * 0.7).reshape(12, 16)


def image_under_ticks(figure):
    axes = figure.subplots()
    axes.tick_params(direction="in", length=12, top=True, right=True)
    image = axes.imshow(WAVE, aspect="auto", animated=True)
    return lambda k: image.set_data(np.roll(WAVE, k, 1))


def line_under_text(figure):
    axes = figure.subplots()
    line = axes.plot(WAVE[0], linewidth=6, animated=True)[0]
    axes.text(5, 0, "above $x^2$", size=40, color="red", zorder=9)
    axes.text(-1.6, 0.8, "sticks in from the left", size=12)
    figure.add_artist(Rectangle((0.05, 0.6), 0.05, 0.2, color="green", alpha=0.5, zorder=5))  # above that text
    axes.text(3, -2.1, "rises from below", size=12, rotation=90, va="bottom")
    axes.text(9, 0.3, "turned", size=30, rotation=35, path_effects=[withStroke(linewidth=4, foreground="white")])
    axes.set_ylim(-1.5, 1.5)
    return lambda k: line.set_ydata(np.roll(WAVE[0], k))


def overlapping_inset(figure):
    axes = figure.subplots()
    line = axes.plot(WAVE[0], linewidth=5, animated=True)[0]
    inset = axes.inset_axes((0.3, 0.3, 0.4, 0.4))
    inset.patch.set_alpha(0.6)
    inner = inset.plot(WAVE[1], animated=True)[0]
    over = figure.add_axes((0.5, 0.5, 0.3, 0.3))
    over.patch.set_alpha(0.5)
    over.plot(WAVE[2])

    def update(k):
        line.set_ydata(np.roll(WAVE[0], k))
        inner.set_ydata(np.roll(WAVE[1], -k))

    return update


def title_limits_and_legend_change(figure):
    axes = figure.subplots()
    line = axes.plot(WAVE[0], "o-", linewidth=5, markersize=14, animated=True, label="line")[0]
    axes.fill_between(range(16), WAVE[2], alpha=0.5, zorder=3)
    legend = axes.legend(loc="center")

    def update(k):
        line.set_ydata(np.roll(WAVE[0], k))
        axes.set_title(f"{k // 3} thirds")
        axes.set_ylim(-1.5 - k // 2, 1.5)
        legend.get_texts()[0].set_text(f"{k // 4} quarters")

    return update


def autoscale(figure):
    axes = figure.subplots()
    line = axes.plot(WAVE[0], animated=True)[0]

    def update(k):
        line.set_ydata(WAVE[0] * (1 + k // 2))
        axes.relim()
        axes.autoscale()

    return update


def visibility(figure):
    left, right = figure.subplots(1, 2)
    line = left.plot(WAVE[0], animated=True)[0]
    still = left.plot(WAVE[1], linewidth=7)[0]
    far = right.plot(WAVE[2], animated=True)[0]

    def update(k):
        line.set_visible(k % 2 == 0)
        still.set_visible(k % 3 == 0)
        right.set_visible(k < 4)
        far.set_ydata(np.roll(WAVE[2], k))

    return update


def colour_bar(figure):
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    mesh = axes.pcolormesh(WAVE, vmin=-1, vmax=1, animated=True)
    figure.colorbar(mesh, ax=axes)
    text = [axes.text(x + 0.5, 3, "", animated=True, clip_on=True) for x in range(3)]

    def update(k):
        mesh.set_array(np.roll(WAVE, k, 0))
        if k == 4:
            mesh.set_clim(-2, 2)
        for number, one in enumerate(text):
            one.set_text(f"{k + number:.1f}")

    return update


def artists_come_and_go(figure):
    axes = figure.subplots()
    axes.set(xlim=(0, 16), ylim=(-2, 2))
    drawn = []

    def update(k):
        if k % 2:
            drawn.append(axes.plot(WAVE[k % 12], animated=k % 3 == 0)[0])
        elif drawn:
            drawn.pop().remove()

    return update


def order_and_role_change(figure):
    axes = figure.subplots()
    moving = axes.plot(WAVE[0], linewidth=9, animated=True)[0]
    other = axes.plot(WAVE[1], linewidth=9)[0]
    axes.set_ylim(-1.5, 1.5)

    def update(k):
        moving.set_ydata(np.roll(WAVE[0], k))
        moving.set_zorder(5 if k % 2 else 1)
        other.set_animated(k in (2, 3))
        moving.set_clip_on(k < 4)

    return update


def arrow_into_the_next_axes(figure):
    left, right = figure.subplots(1, 2)
    right.patch.set_alpha(0.5)
    right.plot(WAVE[0], linewidth=20, color="red", alpha=0.5)
    arrow = left.annotate("", (1.6, 0.5), (0.5, 0.5), arrowprops={"linewidth": 9}, annotation_clip=False, animated=True)
    arrow.set(clip_on=True, clip_path=left.patch)
    arrow.arrow_patch.set_clip_on(False)

    def update(k):
        arrow.xy = (1.5 + k / 10, 0.5)

    return update


def moving_title_and_arrow(figure):
    left, right = figure.subplots(1, 2)
    title = left.set_title("", animated=True)
    arrow = left.annotate("here", (0, 0), (0.5, 0.5), arrowprops={"arrowstyle": "->"}, animated=True)
    right.plot(WAVE[0])

    def update(k):
        title.set_text(f"step {k}")
        arrow.xy = (k / 7, 0.1)
        arrow.set_position((0.2 + k / 9, 0.9))

    return update


PICTURES = (
    image_under_ticks,
    line_under_text,
    overlapping_inset,
    title_limits_and_legend_change,
    autoscale,
    visibility,
    colour_bar,
    artists_come_and_go,
    order_and_role_change,
    arrow_into_the_next_axes,
    moving_title_and_arrow,
)
MOVES = (0, 1, 2, 3, 4, 5, 3, 3, 0)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.__name__)
@pytest.mark.parametrize("scale", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_frame_equals_full_drawing(picture, scale):
    canvas, reference = Canvas((5, 3), scale), Canvas((5, 3), scale)
    update, update_reference = picture(canvas.figure), picture(reference.figure)
    for k in MOVES:
        update(k)
        update_reference(k)
        # The reference never draws a frame, so it cannot share a bug of incremental drawing. Like a panel, it computes
        # its layout once.
        wanted = reference.still(scale)
        reference.figure.set_layout_engine("none")
        assert np.array_equal(canvas.frame(), wanted), f"k = {k}"


def counting(canvas):
    """Return a list that grows with every full drawing."""
    drawn = []
    canvas.figure.canvas.mpl_connect("draw_event", drawn.append)
    return drawn


def test_animated_changes_do_not_redraw_the_figure():
    canvas = Canvas((5, 3), 1)
    update = colour_bar(canvas.figure)
    drawn = counting(canvas)
    for k in (0, 1, 2, 3):
        update(k)
        canvas.frame()
    assert len(drawn) == 1


def test_frame_redraws_only_strokes_near_moving_artists():
    canvas = Canvas((5, 3), 1)
    left, right = canvas.figure.subplots(1, 2)
    line = left.plot(WAVE[0], animated=True)[0]
    right.plot(WAVE[0])
    canvas.frame()
    # The line, and the spines and tick marks that touch its box: no labels, nothing in the other axes.
    labels = len(left.get_xticklabels() + left.get_yticklabels() + right.get_xticklabels() + right.get_yticklabels())
    assert canvas._tape.strokes[0].__self__ is line
    assert len(canvas._tape.strokes) < labels


def test_failed_drawing_is_repeated():
    canvas = Canvas((5, 3), 1)
    axes = canvas.figure.subplots()
    line = axes.plot(WAVE[0], animated=True)[0]
    canvas.frame()
    title = axes.set_title("$\\nonsense$")
    with pytest.raises(ValueError, match="nonsense"):
        canvas.frame()
    title.set_text("sense")
    line.set_ydata(WAVE[1])
    assert np.array_equal(canvas.frame(), canvas.still(1))


def test_png_is_reproducible_and_close_to_the_pixels():
    def saved():
        figure_update = colour_bar((canvas := Canvas((5, 3), 1)).figure)
        figure_update(2)
        canvas.frame()
        return canvas.still(2), png(canvas.still(2))

    (pixels, first), (_, second) = saved(), saved()
    assert first == second
    assert b"matplotlib" not in first
    read = np.asarray(Image.open(io.BytesIO(first)).convert("RGB")).astype(int)
    assert read.shape == (600, 1000, 3)
    # The octree of 256 colours keeps at least four bits per channel, so the error is below 16.
    assert np.abs(read - pixels[..., :3]).max() < 16


@pytest.mark.parametrize("scale", [1, 2])
def test_still_does_not_change_the_next_frame(scale):
    canvas = Canvas((5, 3), 1)
    update = title_limits_and_legend_change(canvas.figure)
    update(0)
    canvas.frame()
    update(3)
    canvas.still(scale)
    assert np.array_equal(canvas.frame(), canvas.still(1))


def test_jpeg_keeps_the_colour_of_thin_lines():
    pixels = np.full((40, 40, 4), 255, np.uint8)
    pixels[:, 20, :3] = (255, 0, 0)
    read = np.asarray(Image.open(io.BytesIO(jpeg(pixels, 85))), int)
    assert abs(read[20, 20] - [255, 0, 0]).max() < 40
