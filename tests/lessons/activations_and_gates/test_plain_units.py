import pytest
import torch
import torch.nn.functional as F

from blocklab_course.lessons.activations_and_gates.plain_units import all_around, along_two, print_missed


def missed(see, units):
    """Of the product of two numbers on the square, with the best output weights behind ReLU units."""
    side = torch.linspace(-2, 2, 101, dtype=torch.float64)
    x1, x2 = torch.cartesian_prod(side, side).T
    hidden, product = F.relu(see(x1, x2, units)), (x1 * x2)[:, None]
    best = torch.linalg.lstsq(hidden, product, driver="gelsd").solution
    return float((hidden @ best - product).square().mean() / product.square().mean())


@pytest.mark.parametrize("units", [4, 8, 64])
def test_without_biases_a_25th_is_missed_however_many_units_there_are(units):
    assert missed(all_around, units) == pytest.approx(1 / 25, rel=0.01)


def test_with_biases_more_units_miss_less():
    shares = [missed(along_two, units) for units in (4, 8, 64)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == pytest.approx(1.5e-6, abs=1e-7)


def test_squared_relu_has_the_product_with_four_units():
    x1, x2 = torch.randn(2, 50, dtype=torch.float64)
    squares = F.relu(2**0.5 * all_around(x1, x2, 4)).square()  # of x₁ + x₂, x₂ − x₁ and of their opposites
    torch.testing.assert_close(squares @ torch.tensor([1.0, -1, 1, -1]).double() / 4, x1 * x2, rtol=1e-5, atol=1e-5)


def test_the_line_tells_both_shares(capsys):
    print_missed(8, torch.tensor(0.04), torch.tensor(0.005575))
    assert capsys.readouterr().out == " 8 units miss: without biases 4.0%, with them 0.55750%\n"
