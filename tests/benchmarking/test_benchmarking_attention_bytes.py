"""The traffic of attention: numbers by hand for 4096 tokens, and laws for all sizes."""

import pytest
import torch

from blocklab_course.benchmarking.attention_bytes import ATTENTION_STEPS, attention_cost

HALF, SINGLE = torch.bfloat16, torch.float32
USUAL = {"length": 4096, "head_dim": 128, "heads": 32, "dtype": HALF}
FEWEST, SCORES = 134_217_728, 2**30  # q, k, v and o together, 4 · 4096 · 32 · 128 · 2; one pass over the scores


@pytest.mark.parametrize(
    ("variant", "scores", "moved", "times"),
    [
        ("fused", None, FEWEST, 1),
        ("plain", None, FEWEST + 4 * SCORES, 33),
        ("eager", None, FEWEST + 8 * SCORES, 65),
        ("plain", SINGLE, FEWEST + 8 * SCORES, 65),
        ("fused", SINGLE, FEWEST, 1),
    ],
)
def test_bytes_by_hand(variant, scores, moved, times):
    cost = attention_cost(**USUAL, variant=variant, scores=scores)
    assert cost.moved == moved == times * FEWEST
    assert cost.flops == 4 * 4096**2 * 128 * 32 == 274_877_906_944


def test_plain_passes_move_4_43_gigabytes():
    assert round(attention_cost(**USUAL, variant="plain").moved / 1e9, 2) == 4.43
    assert round(attention_cost(**USUAL, variant="eager").moved / 1e9, 2) == 8.72


def test_fused_attention_is_compute_bound():
    plain, fused = (attention_cost(**USUAL, variant=variant) for variant in ("plain", "fused"))
    assert (round(plain.intensity), fused.intensity) == (62, 2048)
    roof = 4.3e12, 780e12  # bytes and operations a second
    by_bytes, by_arithmetic = (1e3 * seconds for seconds in plain.bounds(*roof))
    assert (round(by_bytes, 2), round(by_arithmetic, 3)) == (1.03, 0.352)
    by_bytes, by_arithmetic = (1e3 * seconds for seconds in fused.bounds(*roof))
    assert (round(by_bytes, 3), round(by_arithmetic, 3)) == (0.031, 0.352)


@pytest.mark.parametrize("dtype", [HALF, SINGLE])
@pytest.mark.parametrize("heads", [1, 5])
@pytest.mark.parametrize(("length", "head_dim"), [(256, 64), (4096, 128), (100, 7), (3, 50)])
def test_plain_moves_1_plus_length_over_head_dim_times_as_much(length, head_dim, heads, dtype):
    plain, fused = (attention_cost(length, head_dim, heads, dtype, variant) for variant in ("plain", "fused"))
    assert plain.moved / fused.moved == pytest.approx(1 + length / head_dim)
    assert plain.flops == fused.flops
    assert fused.intensity == pytest.approx(length / dtype.itemsize)


def test_steps_read_only_what_was_written():
    for steps in ATTENTION_STEPS.values():
        there = set("qkv")
        for step in steps:
            assert set(step.reads) <= there
            there |= set(step.writes)
        assert "o" in there


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"variant": "flash"}, ValueError, "expected variant to be one of fused, plain, eager, got 'flash'"),
        ({"length": 0}, ValueError, "length"),
        ({"heads": 0}, ValueError, "heads"),
        ({"head_dim": 64.0}, TypeError, "head_dim"),
    ],
)
def test_wrong_arguments_are_named(wrong, error, words):
    with pytest.raises(error, match=words):
        attention_cost(**USUAL | wrong)
