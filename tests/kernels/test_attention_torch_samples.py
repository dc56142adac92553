"""PyTorch's own sample inputs for scaled_dot_product_attention."""

import torch
import torch.nn.functional as F
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db

from blocklab.attention import scaled_dot_product_attention
from tolerance import TOLERANCE

OPS = [op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention"]


def samples():
    return [s for op in OPS for s in op.sample_inputs("cpu", torch.float64, requires_grad=False)]


def same_seed(function, sample, **changes):
    torch.manual_seed(0)
    return function(sample.input, *sample.args, **sample.kwargs | changes)


def test_matches_torch_on_its_own_samples():
    # Dropout included: both draw the same numbers in the same order from the same seed.
    assert samples()
    for sample in samples():
        expected = same_seed(F.scaled_dot_product_attention, sample)
        assert_close(same_seed(scaled_dot_product_attention, sample), expected, **TOLERANCE[torch.float64])


def test_matches_torch_on_its_own_samples_without_dropout():
    # what would still hold if torch drew its random numbers otherwise; torch's entry sets a seed of its own
    for sample in samples():
        got, expected = (same_seed(f, sample, dropout_p=0.0) for f in (scaled_dot_product_attention, OPS[0]))
        assert_close(got, expected, **TOLERANCE[torch.float64])


def test_torch_samples_cover_masks_dropout_and_broadcasting():
    seen = set()
    for sample in samples():
        shapes = sample.input.shape[:-2], sample.args[0].shape[:-2]
        seen |= {name for name in ("dropout_p", "is_causal") if sample.kwargs[name]}
        seen |= {"attn_mask"} if "attn_mask" in sample.kwargs else set()
        seen |= {"broadcast"} if shapes[0] != shapes[1] else set()
    assert seen == {"dropout_p", "is_causal", "attn_mask", "broadcast"}


def test_torch_samples_show_dropout():
    # a function that forgot it would not get past the first test
    dropped = [s for s in samples() if s.kwargs["dropout_p"] > 0]
    assert dropped
    for sample in dropped:
        y = same_seed(scaled_dot_product_attention, sample)
        assert (y - same_seed(scaled_dot_product_attention, sample, dropout_p=0.0)).abs().max() > 1e-3
