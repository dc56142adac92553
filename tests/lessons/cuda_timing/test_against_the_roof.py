import re

import pytest
import torch

from blocklab_course.benchmarking import bytes_per_number
from blocklab_course.benchmarking.measured_bytes import Key, Measured, from_recording, shipped_recording
from blocklab_course.benchmarking.measurement import Spread
from blocklab_course.lessons.cuda_timing.against_the_roof import (
    ARMS,
    OPS,
    against_the_roof,
    dtypes,
    panel,
    times_by_bytes,
    widths,
)

SAID = {"device": "made up", "threads": "1", "torch": "2.0", "date": "2026-01-02T03:04:05"}


def made_up(**times):
    """Arms of rms_norm, forward, float32, 4096 wide, in times of the 8 bytes that it has to move."""
    return Measured(
        SAID,
        {
            Key("rms_norm", arm, "forward", "float32"): Spread(8 * time, 8 * time / 2, 8 * time * 2)
            for arm, time in times.items()
        },
    )


def seen(figure):
    """By arm: the ends of the bars, measured and foretold, and the mark of the second device if it is shown."""
    [axes] = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    foretold, took = ([bar.get_x() + bar.get_width() for bar in bars] for bars in axes.containers)
    dots = [line for line in axes.lines if line.get_marker() == "o" and line.get_animated()]
    mine = [dot.get_xdata()[0] if dot.get_visible() else None for dot in dots]
    return {name: each for name, *each in zip(names, took, foretold, mine, strict=True)}


def test_bars_end_at_multiples_of_the_roof(figure):
    update = against_the_roof(made_up(eager=7.0, torch=1.5))(figure)
    line = update("rms_norm", "forward", "float32", 4096)
    assert seen(figure) == {"step by step": [7.0, 3.5, None], "torch": [1.5, 1.0, None]}
    assert "by bytes 3.5 times the time at the roof, measured 7 times. Nearest to the roof: torch, 1.5 times." in line
    assert "Recorded on made up (1 CPU thread), torch 2.0, 2026-01-02." in line


def test_what_was_not_measured_has_no_bar(figure):
    update = against_the_roof(made_up(eager=7.0, torch=1.5))(figure)
    line = update("rms_norm", "backward", "float32", 4096)
    assert [took for took, *_ in seen(figure).values()] == [1, 1]
    assert seen(figure)["step by step"][1] == pytest.approx(58 / 6)
    assert "at the roof, not in the recording. Nearest to the roof: not in the recording." in line
    assert [text.get_text() for text in figure.axes[0].texts].count("not in the recording") == 2


def test_a_second_device_is_marked(figure):
    update = against_the_roof(made_up(eager=7.0), made_up(eager=3.0, fused=1.25))(figure)
    update("rms_norm", "forward", "float32", 4096)
    assert seen(figure) == {"step by step": [7.0, 3.5, 3.0], "blocklab, fused": [1, 1.0, 1.25]}
    update("rms_norm", "forward", "float32", 1024)
    assert [mine for *_, mine in seen(figure).values()] == [None, None]


def test_step_by_step_the_bytes_are_those_of_the_lesson():
    by_bytes = {op: times_by_bytes(op, "eager", "forward") for op in OPS.values()}
    assert by_bytes == {"layer_norm": 20 / 4, "rms_norm": 14 / 4, "swiglu": 5 / 3}
    assert {times_by_bytes(op, arm, "backward") for op in OPS.values() for arm in ARMS if arm != "eager"} == {1}


def test_every_size_of_the_recording_can_be_chosen(figure):
    measured = from_recording(shipped_recording())
    update = against_the_roof(measured)(figure)
    for dtype in dtypes(measured).values():
        for width in widths(measured).values():
            for op in OPS.values():
                for direction in ("forward", "backward"):
                    line = update(op, direction, dtype, width)
                    assert "not in the recording" not in line
                    [took] = re.findall(r"measured ([\d.]+) times", line)
                    assert 1 < float(took) < figure.axes[0].get_xlim()[1]


def test_what_the_lesson_says_of_the_recording():
    measured = from_recording(shipped_recording())
    times = {
        (op, direction): {
            arm: measured.bytes[key].median / bytes_per_number(op, torch.float32, direction)
            for arm in ARMS
            if (key := Key(op, arm, direction, "float32")) in measured.bytes
        }
        for op in OPS.values()
        for direction in ("forward", "backward")
    }
    assert times["layer_norm", "forward"]["eager"] == pytest.approx(28, abs=0.5)
    assert times["rms_norm", "backward"]["eager"] == pytest.approx(8.9, abs=0.05)
    for (op, direction), found in times.items():
        near = found["eager"] == pytest.approx(times_by_bytes(op, "eager", direction), rel=0.2)
        assert near == ((op, direction) != ("layer_norm", "forward"))
        best = min(found, key=found.get)
        assert best == ("torch" if (op, direction) == ("layer_norm", "backward") else "compiled")
        assert 1.5 < found["plain"] / found[best] < 8.5


def test_the_right_guess_is_the_function_that_takes_several_times_as_long_as_foretold():
    shown = panel(from_recording(shipped_recording()))
    guess, missed = shown.prediction, {}
    assert [shown.values[name] for name in ("direction", "width")] == ["forward", 4096]
    for op in OPS.values():
        shown.move(op=op)
        by_bytes, took = re.search(r"by bytes ([\d.]+) times .* measured ([\d.]+) times", shown.line).groups()
        if float(took) > 2 * float(by_bytes):
            missed[op] = f"ends at {float(took):.0f}, while the dashed frame ends at {by_bytes}."
    assert list(missed) == [guess.right]
    assert missed[guess.right] in str(guess.explanation)


def test_how_many_cases_the_lesson_says_come_near_their_bytes():
    measured = from_recording(shipped_recording())
    shares = [
        spread.median / bytes_per_number(key.op, getattr(torch, key.dtype), key.direction, variant="eager")
        for key, spread in measured.bytes.items()
        if key.implementation == "eager"
    ]
    assert len(shares) == 48
    assert sum(abs(share - 1) < 0.2 for share in shares) == 16
    assert sum(share > 1.2 for share in shares) == 31
    assert sum(share < 0.8 for share in shares) == 1
    assert any(0.8 < share < 0.95 for share in shares)


def test_the_mean_is_not_always_free_on_the_recorded_cpu():
    measured = from_recording(shipped_recording()).bytes
    found = {
        width: measured[Key("layer_norm", *hand, width)].median / measured[Key("rms_norm", *hand, width)].median
        for width in (1024, 4096, 4097, 16384)
        for hand in [("compiled", "forward", "float32")]
    }
    assert found == pytest.approx({1024: 1.1, 4096: 1.3, 4097: 1.8, 16384: 1.0}, abs=0.05)


def test_the_recorded_thread_could_do_so_many_operations_a_byte():
    about = shipped_recording().provenance
    operations = 1e3 * float(about["matmul_roof_TFLOPs"]) / float(about["copy_roof_GBs"])
    assert operations == pytest.approx(2.7, abs=0.05)


@pytest.mark.parametrize("time", [0.9, 60.0])
def test_bars_stay_inside(figure, time):
    against_the_roof(made_up(torch=time))(figure)("rms_norm", "forward", "float32", 4096)
    low, high = figure.axes[0].get_xlim()
    assert low < seen(figure)["torch"][0] < high
