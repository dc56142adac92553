import pytest

from blocklab.norm_placement import PLACES
from blocklab_course.lessons.transformer_layers.random_stacks import DEEPEST, DEPTHS
from blocklab_course.lessons.transformer_layers.recorded_stacks import KINDS, recorded
from blocklab_course.lessons.transformer_layers.two_paths import NORMS
from blocklab_course.lessons.transformer_layers.where_norms_go import (
    EQUATIONS,
    GUESS,
    NAMES,
    OPENING,
    TITLES,
    conclusion,
    panel,
    where_norms_go,
)


def test_there_is_a_name_and_an_equation_for_each_place():
    assert set(NAMES) == set(EQUATIONS) == set(PLACES)


def plots(figure):
    """Its axes without the drawing of a layer."""
    return figure.axes[: len(TITLES)]


@pytest.mark.parametrize("qk_norm", [False, True])
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("place", PLACES)
def test_lines_bands_and_marks(figure, place, depth, qk_norm):
    where_norms_go(figure)(place=place, depth=depth, qk_norm=qk_norm)
    drawn = {0: recorded()["pre", False, depth], 1: recorded()[place, qk_norm, depth]}
    for axes, kind in zip(plots(figure), KINDS, strict=True):
        low, high = axes.get_ylim()
        for number, seen in drawn.items():
            mean, below, above = seen[kind]
            line, dot = axes.lines[2 * number], axes.lines[2 * number + 1]
            assert line.get_ydata().tolist() == mean.tolist()
            assert dot.get_data() == ([depth], [mean[-1]])
            outline = axes.collections[number].get_paths()[0].vertices[:, 1]
            assert (outline.min(), outline.max()) == (below.min(), above.max())
            assert low <= below.min() <= above.max() <= high


def test_the_heading_is_the_order_with_its_equation(figure):
    update = where_norms_go(figure)
    [heading] = figure.texts
    update(place="output", depth=6, qk_norm=False)
    assert heading.get_text() == "output norm:  x + N(f(x))"
    update(place="sandwich", depth=6, qk_norm=True)
    assert heading.get_text() == "sandwich:  x + N(f(N(x))), QK-norm inside"


def test_the_drawing_beside_it_is_of_the_same_order(figure):
    update = where_norms_go(figure)
    for place, norms in NORMS.items():
        update(place=place, depth=6, qk_norm=False)
        seen = {text.get_position() for text in figure.axes[-1].texts if text.get_visible() and text.get_text() == "N"}
        assert seen == set(norms)


SAID = {
    ("post", False): "RMS 1.0, mean cosine 1.00; gradient in the first layer 0.63, in the last 0.96. "
    "The tokens have become nearly the same.",
    ("pre", False): "RMS 5.8, mean cosine 0.85; gradient in the first layer 0.88, in the last 0.18. "
    "The stream has grown, and the last layer's gradient has shrunk.",
    ("output", False): "RMS 9.8, mean cosine 0.88; gradient in the first layer 7.03, in the last 0.19. "
    "The first layer's gradient is 8 times pre-norm's.",
    ("output", True): "RMS 9.7, mean cosine 0.90; gradient in the first layer 1.11, in the last 0.19. "
    "The stream has grown, and the last layer's gradient has shrunk.",
    ("sandwich", False): "RMS 9.6, mean cosine 0.92; gradient in the first layer 1.10, in the last 0.19. "
    "The stream has grown, and the last layer's gradient has shrunk.",
    ("parallel", False): "RMS 5.8, mean cosine 0.85; gradient in the first layer 0.87, in the last 0.18. "
    "The stream has grown, and the last layer's gradient has shrunk.",
}


@pytest.mark.parametrize(("place", "qk_norm"), SAID)
def test_the_line_reaches_the_conclusion(figure, place, qk_norm):
    line = where_norms_go(figure)(place=place, depth=DEEPEST, qk_norm=qk_norm)
    assert line.endswith(SAID[place, qk_norm])


def test_a_conclusion_is_what_stands_out_most():
    assert conclusion(1.0, 0.995, 9.0, 1.0) == "The tokens have become nearly the same."
    assert conclusion(9.0, 0.9, 3.0, 1.0) == "The first layer's gradient is 3 times pre-norm's."
    assert conclusion(3.1, 0.9, 2.0, 1.0).startswith("The stream has grown")
    assert conclusion(2.9, 0.9, 2.0, 1.0) == "Go deeper."


def test_what_it_says_of_the_last_gradient_is_so_wherever_it_says_it(figure):
    update = where_norms_go(figure)
    for (place, qk_norm, depth), seen in recorded().items():
        if "has shrunk" in update(place=place, depth=depth, qk_norm=qk_norm):
            assert seen["gradient"][0, -1] < 0.8 * recorded()[place, qk_norm, DEPTHS[0]]["gradient"][0, -1]


def test_the_right_guess_is_the_order_with_the_largest_first_gradient():
    shown = panel()
    firsts = {place: recorded()[place, False, DEEPEST]["gradient"][0, 0] for place in PLACES}
    assert shown.prediction.right == max(firsts, key=firsts.get)
    assert set(GUESS.options.values()) == set(PLACES)
    normed = recorded()["output", True, DEEPEST]["gradient"][0, 0]
    told = str(GUESS.explanation)
    assert f"It is {firsts['output']:.1f}, and pre-norm's {firsts['pre']:.2f}; with QK-norm it is {normed:.1f}" in told


def test_the_opening_does_not_answer_the_question():
    opening = panel()
    assert opening.values == {"place": "pre", "depth": OPENING, "qk_norm": False}
    assert opening.line.endswith("Go deeper.")
    assert "times" not in opening.line


def test_pre_norm_is_not_drawn_twice(figure):
    update = where_norms_go(figure)
    for place, qk_norm, seen in (("pre", False, False), ("pre", True, True), ("post", False, True)):
        update(place=place, depth=12, qk_norm=qk_norm)
        beside = [(axes.collections[0], *axes.lines[:2]) for axes in plots(figure)]
        assert {artist.get_visible() for artists in beside for artist in artists} == {seen}
        legend = figure.legends[0]
        assert [text.get_visible() for text in legend.get_texts()] == [seen, True]
        assert [mark.get_visible() for mark in legend.legend_handles] == [seen, True]
