import pytest

from blocklab.lessons.activations_and_gates.product_of_relus import missed_by_relu


@pytest.mark.parametrize("units", [4, 8, 64])
def test_without_biases_a_25th_is_missed_however_many_units_there_are(units):
    assert missed_by_relu(units) == pytest.approx(1 / 25, rel=0.01)


def test_with_biases_more_units_miss_less():
    missed = [missed_by_relu(units, biases=True) for units in (4, 8, 64)]
    assert missed == sorted(missed, reverse=True)
    assert missed[-1] == pytest.approx(1.5e-6, abs=5e-8)
