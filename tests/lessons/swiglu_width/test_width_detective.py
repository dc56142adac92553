import csv
import math
from importlib.resources import files

import pytest

from blocklab_course.lessons.swiglu_width.width_detective import (
    FIRST,
    LAST,
    PUBLISHED,
    STEP,
    fitting,
    panel,
    ruler_marks,
    still,
    width_detective,
)


def test_the_widths_are_those_of_the_table():
    with (files("blocklab_course") / "data" / "model_widths.csv").open(encoding="utf-8", newline="") as table:
        first = [row for row in csv.DictReader(table) if row["model"].startswith("LLaMA-1")]
    assert {int(row["d_model"]): int(row["hidden"]) for row in first} == PUBLISHED


@pytest.mark.parametrize("d_model", PUBLISHED)
def test_what_fits_divides_the_width_and_exceeds_the_gap(d_model):
    width = PUBLISHED[d_model]
    gap = width - 8 * d_model // 3
    assert fitting(d_model) == [m for m in range(FIRST, LAST + 1, STEP) if width % m == 0 and m > gap]


def test_no_value_that_fits_is_left_out_by_the_step():
    for d_model, width in PUBLISHED.items():
        wanted = [m for m in range(1, LAST + 1) if width % m == 0 and m > width - 8 * d_model // 3]
        assert fitting(d_model) == wanted


def test_only_256_fits_all():
    assert math.gcd(*PUBLISHED.values()) == 256
    assert set.intersection(*(set(fitting(d)) for d in PUBLISHED)) == {256}


@pytest.mark.parametrize(("multiple_of", "found"), [(64, 0), (128, 1), (172, 2), (256, 4), (512, 3), (704, 0)])
def test_the_line_counts_and_the_right_half_marks_what_agrees(figure, multiple_of, found):
    seen = width_detective(figure)(multiple_of=multiple_of, tried=0)
    assert seen.endswith(f"{found} of the 4 published widths.")
    assert len(figure.axes[1].lines[-1].get_xdata()) == found


def test_dots_stand_on_the_first_mark_from_zero_on(figure):
    raw = [8 * d // 3 for d in PUBLISHED]
    update = width_detective(figure)
    for multiple_of in (FIRST, 172, 256, LAST):
        update(multiple_of=multiple_of, tried=4)
        dots = figure.axes[0].lines[-1]
        for x, row, start in zip(*dots.get_data(), raw, strict=True):
            marks = [mark[0][0] for mark in ruler_marks(multiple_of, raw) if mark[0][1] == row]
            assert x == min(mark for mark in marks if mark >= 0)
            assert (start + x) % multiple_of == 0


@pytest.mark.parametrize(
    ("tried", "told"),
    [
        (0, "0 of the 4 published widths."),
        (1, "5 give 11008."),
        (4, "5 give 11008. All four widths come out with 256."),
    ],
)
def test_trying_all_answers_one_question_at_a_time(figure, tried, told):
    seen = width_detective(figure)(multiple_of=64, tried=tried)
    assert seen.endswith(told)
    (ticks,) = [each for each in figure.axes[1].collections if each.get_animated()]
    shown = {(x, (low + high) / 2) for (x, low), (_, high) in ticks.get_segments()}
    assert shown == {(m, 3 - row) for row, d in enumerate(list(PUBLISHED)[:tried]) for m in fitting(d)}


def test_the_still_shows_what_fits_all_four():
    shown = still()
    assert not shown.controls
    assert shown.line.startswith("multiple_of = 256 gives 11008, 13824, 17920, 22016: 4 of the 4")
    assert shown.line.endswith("All four widths come out with 256.")


def test_the_right_guess_is_the_set_of_those_that_give_11008():
    shown = panel()
    guess, multiple_of = shown.prediction, shown.controls["multiple_of"]
    fits = set()
    for number in range(multiple_of.last + 1):
        multiple_of.value = multiple_of.at(number)
        fits |= {multiple_of.value} if "gives 11008," in shown.line else set()
    divisors = {m for m in range(FIRST, LAST + 1, STEP) if 11008 % m == 0}
    sets = {"multiples": {256, 512}, "powers": {4, 8, 16, 32, 64, 128, 256}, "all": divisors}
    assert fits < divisors
    assert guess.right == next((name for name, each in sets.items() if fits == each), "some")
    assert f"{len(fits)} marks, from {min(fits)} to {max(fits)}" in str(guess.explanation)
