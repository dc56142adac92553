import re
from dataclasses import replace

import pytest

from blocklab_course.benchmarking import tiles_and_waves
from blocklab_course.benchmarking.measured_bytes import shipped_recording
from blocklab_course.benchmarking.recording import Recording
from blocklab_course.benchmarking.suite import HIDDEN
from blocklab_course.lessons.cuda_timing.aligned_widths import H100, ROLES, aligned_widths, cited, panel, speeds

USUAL = {"hidden": 10922, "dtype": "bfloat16", "role": "K", "shown": "nothing"}


def picture(figure):
    update = aligned_widths(shipped_recording())(figure)
    return lambda **values: update(**USUAL | values)


def stems(figure):
    return {int(start[0]): end[1] for start, end in figure.axes[0].collections[0].get_segments()}


def dots(figure):
    [line] = [line for line in figure.axes[1].lines if line.get_marker() == "D"]
    return dict(zip(*line.get_data(), strict=True))


def test_stems_are_the_bits_of_one_load(figure):
    update = picture(figure)
    update()
    found = stems(figure)
    assert [found[width] for width in (10920, 10922, 10923, 10924, 10944)] == [128, 32, 16, 64, 128]
    update(dtype="float32")
    found = stems(figure)
    assert [found[width] for width in (10920, 10922, 10923, 10924, 10944)] == [128, 64, 32, 128, 128]


def test_measured_speeds_come_on_demand_and_for_their_product(figure):
    update = picture(figure)
    assert "speed" not in update()
    assert dots(figure) == {}
    assert update(shown="H100").endswith("H100, float16, w2 stored the other way round: 0.69 times the speed of 11008.")
    assert dots(figure) == pytest.approx({width: speed / H100[11008] for width, speed in H100.items()})
    assert "the other way round: not measured." in update(shown="H100", role="N")
    assert dots(figure) == {}
    for role in ROLES.values():
        line = update(shown="recording", role=role)
        assert "AMD EPYC, float32, 512 tokens, d = 512: " in line
        assert set(dots(figure)) == set(HIDDEN)
        assert dots(figure)[11008] == 1


def test_speeds_are_operations_by_time():
    whole = next(row for row in shipped_recording().rows if (row.role, row.width) == ("M", 11008))
    half = replace(whole, width=5504, flops=whole.flops // 2, ratio_p20=0.5, ratio_p80=2.0)
    norm = replace(whole, op="rms_norm", role=None, width=4096)
    found = speeds(Recording({}, [], [norm, whole, half]))
    assert set(found) == {("M", 11008), ("M", 5504)}
    assert found["M", 5504] == (0.5, 0.25, 1.0)


def test_every_speed_has_a_place(figure):
    assert picture(figure)
    low, high = figure.axes[1].get_ylim()
    for spread in (*cited().values(), *speeds(shipped_recording()).values()):
        assert low < spread.median < high


def test_the_right_guess_is_the_prediction_that_the_speed_of_an_h100_follows():
    shown = panel(shipped_recording())
    guess = shown.prediction
    found = []
    for hidden in (10922, 11008):
        shown.move(shown="H100", hidden=hidden)
        bits, speed = re.search(r"so (\d+) bits .* round: ([\d.]+) times", shown.line).groups()
        found.append([float(bits), tiles_and_waves(8192, hidden).share, float(speed)])
    bits, places, speed = (narrow / wide for narrow, wide in zip(*found, strict=True))
    losing = {"bits": bits < 0.9, "tiles": places < 0.9}
    assert speed < 0.9
    assert losing == {name: name == guess.right for name in losing}
    assert f"{speed:g} times the speed" in str(guess.explanation)


def test_what_the_lesson_says_of_widths():
    for (role, width), spread in speeds(shipped_recording()).items():
        loses = role == "N" and width in (10922, 10923)
        assert (spread.median < 0.9) == loses
        assert spread.median > (0.84 if loses else 0.93)
    assert [round(speeds(shipped_recording())["N", width].median, 2) for width in (10922, 10923)] == [0.85, 0.87]


def test_by_tiles_and_waves_no_product_loses_a_percentage_point():
    results = {"N": lambda hidden: (8192, hidden), "K": lambda hidden: (8192, 4096), "M": lambda hidden: (hidden, 4096)}
    for role, shape in results.items():
        narrow, wide = (tiles_and_waves(*shape(hidden)).share for hidden in (10922, 11008))
        assert 0 <= wide - narrow < 0.01
        assert role != "K" or round(narrow, 3) == round(wide, 3) == 0.970
