import math
import re

import numpy as np
import pytest

from blocklab_course.lessons.rotary_positions.two_clocks import BESIDE, FARTHEST, LATEST, panel, products, two_clocks

QUERY, KEY = ([wave(i) for i in range(8)] for wave in (math.sin, math.cos))


def by_hand(m, n):
    """What each of the four pairs adds, with complex numbers."""
    pairs = [
        (complex(*QUERY[2 * i : 2 * i + 2]), complex(*KEY[2 * i : 2 * i + 2]), 10000 ** (-i / 4)) for i in range(4)
    ]
    return [(q * k.conjugate() * complex(math.cos((m - n) * w), math.sin((m - n) * w))).real for q, k, w in pairs]


def hands(figure):
    """The directions and lengths of the hands: four of the query, four of the key."""
    lines = [line for line in figure.axes[0].lines if line.get_animated() and len(line.get_xdata()) == 2]
    tips = [complex(*(np.array(line.get_data())[:, 1] - np.array(line.get_data())[:, 0])) for line in lines]
    return tips[:4], tips[4:]


@pytest.mark.parametrize(("m", "n"), [(3, 0), (0, 3), (8, 5), (47, 12), (0, 60)])
@pytest.mark.parametrize("later", [0, 7, LATEST])
def test_the_line_tells_what_the_pairs_add(figure, m, n, later):
    line = two_clocks(figure)(m=m, n=n, later=later, every=False)
    assert line.startswith(f"Query at {m + later}, key at {n + later}. ")
    *added, product = (float(x.replace("−", "-")) for x in re.findall(r"−?\d+\.\d+", line))
    assert added == pytest.approx(by_hand(m, n), abs=0.0051)
    assert product == pytest.approx(sum(by_hand(m, n)), abs=1e-4)


def test_numbers_of_the_lesson(figure):
    update = two_clocks(figure)
    assert update(m=3, n=0, later=0, every=False).endswith("dot product −0.8907.")
    assert update(m=0, n=3, later=0, every=False).endswith("dot product −0.1003.")
    assert update(m=3, n=0, later=1000, every=False).endswith("dot product −0.8907.")


def test_the_curve_is_the_dot_product_by_signed_distance():
    distances = np.arange(-FARTHEST, FARTHEST + 1)
    assert products(distances) == pytest.approx([sum(by_hand(distance, 0)) for distance in distances], abs=1e-12)


def test_the_curve_is_highest_where_the_lesson_says():
    distances = np.arange(-FARTHEST, FARTHEST + 1)
    assert distances[products(distances).argmax()] == -20


def test_hands_turn_counterclockwise_each_by_its_own_position(figure):
    update = two_clocks(figure)
    update(m=0, n=0, later=0, every=False)
    before = hands(figure)
    update(m=13, n=5, later=100, every=False)
    after = hands(figure)
    for position, old, new in zip((113, 105), before, after, strict=True):
        for i in range(4):
            angle = position * 10000 ** (-i / 4)
            assert new[i] / old[i] == pytest.approx(complex(math.cos(angle), math.sin(angle)), abs=1e-9)


def test_moved_on_alike_nothing_changes_but_the_hands(figure):
    update = two_clocks(figure)
    lines = {update(m=20, n=4, later=later, every=True).split("pairs")[1] for later in (0, 1, 500, LATEST)}
    assert len(lines) == 1


@pytest.mark.parametrize(("m", "n"), [(9, 2), (3, 0), (2, 30)])
def test_the_grey_sector_is_the_smaller_angle_between_the_hands(figure, m, n):
    two_clocks(figure)(m=m, n=n, later=40, every=False)
    for sector, query, key in zip(figure.axes[0].patches, *hands(figure), strict=True):
        wide = (sector.theta2 - sector.theta1) % 360
        between = abs(math.degrees(np.angle(query / key)))
        assert wide == pytest.approx(between, abs=1e-6)


def test_hands_stay_within_their_dials(figure):
    two_clocks(figure)(m=0, n=0, later=0, every=False)
    assert max(abs(tip) for tips in hands(figure) for tip in tips) <= 0.68
    assert len(BESIDE.centres) == 4


def test_exactly_one_guess_is_right():
    shown = panel()
    shown.move(m=3, n=0)
    wanted = shown.line.rsplit(" ", 1)[1]
    found = {}
    for name, places in {"swapped": {"m": 0, "n": 3}, "later": {"m": 3, "n": 0, "later": 1000}}.items():
        shown.reset()
        shown.move(**places)
        found[name] = shown.line.rsplit(" ", 1)[1] == wanted
    assert found == {"swapped": False, "later": True}
    assert shown.prediction.right == "later"


def test_the_panel_opens_where_nothing_is_given_away():
    assert {name: control.default for name, control in panel().controls.items()} == {
        "m": 3,
        "n": 0,
        "later": 0,
        "every": False,
    }
