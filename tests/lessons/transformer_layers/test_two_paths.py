import pytest

from blocklab.norm_placement import PLACES
from blocklab_course.lessons.transformer_layers.two_paths import (
    ADDED,
    AFTER,
    BEFORE,
    BEHIND,
    LEAVES,
    SIDE,
    STRAIGHT,
    SUBLAYER,
    paths_and_parts,
)


def half_of(x):
    return x / 2


def squared(x):
    return x * x


def nothing(_x):
    return 0


def as_it_is(x):
    return x


def seen(axes, letters):
    return [text for text in axes.texts if text.get_visible() and text.get_text() == letters]


def walked(axes, x):
    """What comes out at y if N halves and f squares: the norms are met where they are drawn."""
    places = {text.get_position() for text in seen(axes, "N")}
    given = squared(half_of(x) if (BEFORE, SIDE) in places else x)
    y = x + (half_of(given) if (AFTER, SIDE) in places else given)
    return half_of(y) if (BEHIND, STRAIGHT) in places else y


@pytest.mark.parametrize("place", PLACES)
def test_who_walks_along_the_drawing_computes_what_the_place_computes(figure, place):
    axes = figure.add_subplot()
    paths_and_parts(axes)(place)
    combine, norms = PLACES[place]
    own = norms if place == "parallel" else norms // 2  # of the first sub-layer; the second one adds nothing here
    assert len(seen(axes, "N")) == own
    assert walked(axes, 6.0) == combine(6.0, squared, nothing, *[half_of] * own, *[as_it_is] * (norms - own))


def test_the_parts_stand_in_the_order_in_which_they_are_passed():
    assert LEAVES < BEFORE < SUBLAYER < AFTER < ADDED < BEHIND


def test_the_second_sublayer_is_seen_in_parallel_alone(figure):
    axes = figure.add_subplot()
    show = paths_and_parts(axes)
    for place in (*PLACES, *PLACES):
        show(place)
        parallel = place == "parallel"
        assert len(seen(axes, "f₁")) == len(seen(axes, "f₂")) == axes.lines[1].get_visible() == parallel
        assert (len(seen(axes, "f")), len(seen(axes, "+"))) == ((0, 2) if parallel else (1, 1))
