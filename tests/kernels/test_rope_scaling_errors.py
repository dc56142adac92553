"""Error messages for wrong values; `test_wrong_inputs` tests wrong types."""

import pytest

from blocklab.rope_scaling import (
    llama3_scaling,
    ntk_aware,
    position_interpolation,
    rotary_frequencies,
    yarn,
    yarn_temperature,
)

NAN, INF = float("nan"), float("inf")

WRONG_VALUES = {
    "rotary_frequencies: expected d to be even, got 5": lambda: rotary_frequencies(5),
    "rotary_frequencies: expected d to be at least 1, got 0": lambda: rotary_frequencies(0),
    "rotary_frequencies: expected d to be between 1 and 134217728, got 134217730": lambda: rotary_frequencies(
        2**27 + 2
    ),
    "rotary_frequencies: expected base to be finite and above 0, got 0.0": lambda: rotary_frequencies(4, 0),
    "rotary_frequencies: expected base to be finite and above 0, got inf": lambda: rotary_frequencies(4, INF),
    "position_interpolation: expected factor to be at least 1, got 0.5": lambda: position_interpolation(4, 100.0, 0.5),
    "position_interpolation: expected factor to be at least 1, got nan": lambda: position_interpolation(4, 100.0, NAN),
    "position_interpolation: expected factor to be finite, got inf": lambda: position_interpolation(4, 100.0, INF),
    "position_interpolation: expected base to be finite and above 0, got -2.0": lambda: position_interpolation(
        4, -2, 2.0
    ),
    "ntk_aware: expected d to be at least 4, because it divides by d - 2, got 2": lambda: ntk_aware(2, 100.0, 2.0),
    "ntk_aware: expected d to be even, got 3": lambda: ntk_aware(3, 100.0, 2.0),
    "ntk_aware: expected factor to be at least 1, got 0.99": lambda: ntk_aware(4, 100.0, 0.99),
    "yarn: expected factor to be at least 1, got 0.0": lambda: yarn(4, 100.0, 0, 16),
    "yarn: expected base to be above 1, because it divides by ln base, got 1.0": lambda: yarn(4, 1, 2.0, 16),
    "yarn: expected base to be finite and above 0, got inf": lambda: yarn(4, INF, 2.0, 16),
    "yarn: expected length to be at least 1, got 0": lambda: yarn(4, 100.0, 2.0, 0),
    "yarn: expected length to be between 1 and 2147483648, got 2147483649": lambda: yarn(4, 100.0, 2.0, 2**31 + 1),
    "yarn: expected beta_fast to be finite and above beta_slow, got beta_slow 1.0 and beta_fast 1.0": lambda: yarn(
        4, 100.0, 2.0, 16, beta_fast=1
    ),
    "yarn: expected beta_fast to be finite and above beta_slow, got beta_slow 1.0 and beta_fast inf": lambda: yarn(
        4, 100.0, 2.0, 16, beta_fast=INF
    ),
    "yarn: expected beta_slow to be above 0, got 0.0": lambda: yarn(4, 100.0, 2.0, 16, beta_slow=0),
    "yarn: expected beta_slow to be at least 0, got -1.0": lambda: yarn(4, 100.0, 2.0, 16, beta_slow=-1),
    "yarn_temperature: expected factor to be at least 1, got 0.5": lambda: yarn_temperature(0.5),
    "yarn_temperature: expected factor to be finite, got inf": lambda: yarn_temperature(INF),
    "llama3_scaling: expected length to be at least 1, got -8": lambda: llama3_scaling(4, 100.0, length=-8),
    "llama3_scaling: expected length to be between 1 and 2147483648, got 2147483649": lambda: llama3_scaling(
        4, 100.0, length=2**31 + 1
    ),
    "llama3_scaling: expected low to be at least 0, got -1.0": lambda: llama3_scaling(4, 100.0, low=-1),
    "llama3_scaling: expected high to be finite and above low, got low 4.0 and high 4.0": lambda: llama3_scaling(
        4, 100.0, low=4
    ),
    "llama3_scaling: expected high to be finite and above low, got low 1.0 and high inf": lambda: llama3_scaling(
        4, 100.0, high=INF
    ),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert str(caught.value) == message
