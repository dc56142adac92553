"""The store of records: no duplicates, permanent numbers, bounded size."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocklab_course.panel.canvas import Canvas
from blocklab_course.panel.display_list import DisplayList, Drawing, count_characters, references, renumber


def test_equal_records_share_a_number():
    records = DisplayList()
    assert records.number(("glyph", "m1 1")) == records.number(("glyph", "m1 1")) == 1
    assert records.number(("glyph", "m2 2")) == 2
    assert records[2] == ("glyph", "m2 2")


def test_drawing_uses_all_referenced_records():
    records = DisplayList()
    style, clip, window, glyph, hatch, other = (
        records.number(record)
        for record in (
            ("style", "fill:red"),
            ("clip", 5, 6, 7, 8),
            ("clip", 6, 7, 8, 9),
            ("glyph", "m1 1"),
            ("hatch", "M1 1", 1000, "fill:red"),
            ("glyph", "m2 2"),
        )
    )
    path = records.number(("path", style, 0, "M5 6l1 1", hatch))
    marks = records.number(("marks", style, clip, "m1 1", (5, 6)))
    text = records.number(("text", style, clip, "scale(5)", (glyph, 5, 6, glyph, 7, 8), "aa"))
    image = records.number(("image", window, 5, 6, 7, 8, 1, "data:"))
    rest = records.number(("rest", (image, 0, marks)))
    assert Drawing(rest, [[path]]).uses(records) == {rest, image, window, marks, path, style, clip, hatch}
    assert records.used_by([text]) == {text, style, clip, glyph}
    assert other not in Drawing(rest, [[path], [text]]).uses(records)


@pytest.mark.parametrize(
    "record",
    [
        ("path", 2, 0, "M5 6l1 1", 3),
        ("path", 2, 4, "M5 6l1 1"),
        ("marks", 2, 3, "m1 1", (5, 6)),
        ("text", 2, 0, "scale(5)", (4, 5, 6, 7, 8, 9), "aa"),
        ("image", 2, 5, 6, 7, 8, 1, "data:"),
        ("rest", (2, 0, 3)),
        ("style", "fill:red"),
        ("clip", 5, 6, 7, 8),
        ("hatch", "M1 1", 1000, "fill:red"),
        ("handles", ((0, 1, "pick", (2, None)),)),
    ],
    ids=lambda record: record[0],
)
def test_renumber_maps_all_references(record):
    asked = []
    assert renumber(record, lambda number: asked.append(number) or number) == record
    assert sorted(asked) == sorted(references(record))
    moved = renumber(record, lambda number: number + 1000)
    assert references(moved) == [number + 1000 for number in references(record)]
    assert renumber(moved, lambda number: number - 1000) == record


@given(st.lists(st.integers(0, 30), min_size=1, max_size=80), st.integers(0, 300))
def test_store_is_bounded_and_never_reuses_numbers(draws, limit):
    records, given_to = DisplayList(limit), {}
    for name in draws:
        record = ("glyph", "m" + "1" * name)
        number = records.number(record)
        assert given_to.setdefault(number, record) == record
        assert records[number] == record
        rest = records.number(("rest", (number,)))
        records.trim(Drawing(rest, []))
        assert number in records
        assert rest in records
        assert sum(count_characters(records[n]) for n in given_to if n in records) <= max(limit, 60)


def test_cache_is_dropped_with_the_records():
    canvas = Canvas((5, 3), 1)
    canvas.figure.text(0.5, 0.5, "a")
    canvas.strokes()
    canvas.records.forget_all_but(set())
    canvas.figure.stale = True
    drawing = canvas.strokes()
    assert all(number in canvas.records for number in drawing.uses(canvas.records))


def test_count_characters_approximates_json_length():
    canvas = Canvas((5, 3), 1)
    canvas.figure.subplots().plot([1, 5, 2], "o-")
    used = canvas.strokes().uses(canvas.records)
    counted = sum(count_characters(canvas.records[number]) for number in used)
    written = sum(len(json.dumps(canvas.records[number], separators=(",", ":"))) for number in used)
    assert 0.7 < counted / written < 1.3


def test_many_states_stay_within_the_limit():
    canvas = Canvas((5, 3), 1)
    canvas.records._limit = 40_000
    line = canvas.figure.subplots().plot(range(99), animated=True)[0]
    for n in range(300):
        line.set_ydata([(k * n) % 97 for k in range(99)])
        drawing = canvas.strokes()
        assert all(number in canvas.records for number in drawing.uses(canvas.records))
        assert len(canvas.records) < 150
    assert drawing.rest < drawing.moving[0][0]  # the static record was in use all the time
