import re

import pytest

from blocklab_course.lessons.swiglu_width.published_widths import (
    MULTIPLES,
    MULTIPLIERS,
    in_reach,
    published_models,
    published_widths,
    widths_by_rule,
)


def by_meta(d_model, multiple_of=256, multiplier=None):
    hidden = 8 * d_model // 3
    hidden = hidden if multiplier is None else int(multiplier * hidden)
    return -(-hidden // multiple_of) * multiple_of


@pytest.mark.parametrize(("arguments", "found"), [("256", 16), ("published", 21), ("fitted", 38)])
def test_hits_and_misses_are_counted_and_drawn(figure, arguments, found):
    line = published_widths(figure)(arguments=arguments)
    assert f"finds {found} of the 44 widths" in line
    dashes, hits, misses, near = figure.axes[0].lines[-4:]
    marks = [len(each.get_xdata()) for each in (dashes, hits, misses, near)]
    assert [*marks[:2], sum(marks[2:])] == [44, found, 44 - found]


def test_a_near_miss_is_hollow(figure):
    published_widths(figure)(arguments="published")
    *_, misses, near = figure.axes[0].lines
    names = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    places = list(figure.axes[0].get_xticks())
    assert [names[places.index(x)] for x in near.get_xdata()] == ["OpenLLaMA 3B", "DeepSeek-V3"]
    assert near.get_markerfacecolor() != misses.get_markerfacecolor()


def test_the_rule_is_computed_another_way():
    for model in published_models():
        rules = widths_by_rule(model)
        assert rules["256"] == by_meta(model.d_model)
        assert rules["published"] == by_meta(model.d_model, model.multiple_of, model.multiplier)
        could = {by_meta(model.d_model, m, factor) for m in MULTIPLES for factor in MULTIPLIERS}
        assert (rules["fitted"] == model.hidden) == (model.hidden in could)


def test_what_the_lesson_says_of_the_models():
    models = published_models()
    assert (MULTIPLES[0], MULTIPLES[-1], MULTIPLIERS[:3], MULTIPLIERS[-1]) == (64, 4096, [0.5, 0.6, 0.7], 3.0)
    hits = [model for model in models if widths_by_rule(model)["published"] == model.hidden]
    assert sum(model.stated for model in models) == sum(model.stated for model in hits) == 13
    assert len(hits) == 13 + 8
    assert sum(by_meta(model.d_model, model.multiple_of) == model.hidden for model in models if model.stated) == 8
    fitted = [model for model in models if widths_by_rule(model)["fitted"] == model.hidden]
    assert len(MULTIPLES) * len(MULTIPLIERS) == 182
    assert sum(not model.stated for model in fitted) == 25
    assert sum("GeGLU" in model.name for model in models) == 6
    times = {model.name: model.hidden / model.d_model for model in models if model not in hits}
    assert (times["Mistral 7B"], times["OLMo 1B"], times["Gemma 7B (GeGLU)"]) == (3.5, 4, 8)


def test_seven_of_the_published_have_a_multiplier_two_of_them_that_changes_nothing():
    factors = [model.multiplier for model in published_models() if model.stated and model.multiplier is not None]
    assert (len(factors), factors.count(1.0)) == (7, 2)
    fits = [hundredths for hundredths in range(100, 160) if by_meta(4096, 1024, hundredths / 100) == 14336]
    assert fits == list(range(122, 132))


def test_the_learners_rule_is_the_one_that_is_drawn(figure):
    line = published_widths(figure, lambda d_model, *_: 4 * d_model)(arguments="256")
    four = [model for model in published_models() if model.hidden == 4 * model.d_model]
    assert f"finds {len(four)} of the 44 widths" in line


def test_which_eight_follow_the_default():
    models = published_models()
    eight = [model for model in models if not model.stated and widths_by_rule(model)["published"] == model.hidden]
    llama = {(model.d_model, model.hidden) for model in models if model.name.startswith("LLaMA-1")}
    whole = [model.name for model in eight if 8 * model.d_model % (3 * 256) == 0]
    copied = [model.name for model in eight if (model.d_model, model.hidden) in llama]
    assert (len(whole), len(copied)) == (3, 4)
    assert {model.name for model in eight} - {*whole, *copied} == {"TinyLlama 1.1B"}
    gemma = next(model for model in models if model.name.startswith("Gemma 7B"))
    pairs = [by_meta(gemma.d_model, m, factor) for m in MULTIPLES for factor in MULTIPLIERS]
    assert pairs.count(gemma.hidden) == 14


def test_every_mark_stands_where_its_model_is(figure):
    published_widths(figure)(arguments="published")
    axes, models = figure.axes[0], published_models()
    heights = {model.hidden / model.d_model for model in models}
    _, hits, misses, near = axes.lines[-4:]
    assert {*hits.get_ydata(), *misses.get_ydata(), *near.get_ydata()} == heights
    low, high = axes.get_ylim()
    assert low < min(heights) <= max(heights) < high
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert len(set(names)) == 44
    assert not any(re.search(r"[()]", name) for name in names)


def test_a_width_four_times_the_model_is_always_in_reach():
    """The multiplier 1.5 undoes the two thirds, so such a width says nothing about the rule."""
    assert all(4 * model.d_model in in_reach(model) for model in published_models())
