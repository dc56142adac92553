import torch

from blocklab_course.lessons.swiglu_width.published_widths import MULTIPLES, published_models
from blocklab_course.lessons.swiglu_width.random_widths import hits, invented_width, others, random_widths


def test_an_invented_width_is_as_round_as_the_real_one_and_in_the_range():
    generator = torch.Generator().manual_seed(1)
    for model in published_models():
        power = next(power for power in reversed(MULTIPLES) if model.hidden % power == 0)
        widths = {invented_width(model, generator) for _ in range(50)}
        assert len(widths) > 1
        assert all(2 * model.d_model <= width <= 8 * model.d_model and width % power == 0 for width in widths)


def test_what_the_lesson_says_of_invented_widths():
    (published, *by_chance), (fitted, *fitted_by_chance) = hits().values()
    assert (len(others()), published, fitted) == (31, 8, 25)
    assert (len(by_chance), round(sum(by_chance) / 100)) == (100, 1)
    assert (len(fitted_by_chance), round(sum(fitted_by_chance) / 100)) == (100, 25)
    assert max(by_chance) < 8
    assert min(fitted_by_chance) <= 25 <= max(fitted_by_chance)
    assert list(hits().values()) == [[published, *by_chance], [fitted, *fitted_by_chance]]


def test_how_many_come_by_chance_hangs_on_the_range_where_nothing_is_fitted():
    by_chance = {arguments: round(sum(drawn) / len(drawn)) for arguments, (_, *drawn) in hits(most=3).items()}
    assert by_chance == {"published": 6, "fitted": 26}


def test_the_learners_rule_is_the_one_that_is_tried():
    plain = hits(lambda d_model, *_: 8 * d_model // 3)
    assert [found[0] for found in plain.values()] == [3, 3]


def test_every_draw_is_a_part_of_a_bar_and_a_line_stands_at_the_real_widths(figure):
    line = random_widths(figure)()
    [axes] = figure.axes
    for bars, mark, (real, *drawn) in zip(axes.containers, axes.lines, hits().values(), strict=True):
        assert [bar.get_height() for bar in bars] == [drawn.count(n) for n in range(32)]
        assert set(mark.get_xdata()) == {real}
        low, high = axes.get_xlim()
        assert low < min(drawn) <= max(drawn) < high
    assert line == (
        "Of 31 random widths, “as published” finds 1 on average (0 to 4), “whatever fits” 25 on average (21 to 30)."
    )
