"""A hint sends to the section that teaches the mistake, and its one line is the one that was wrong."""

import pytest

from blocklab_course.lessons.catalog import EXERCISES

LEADS = {
    ("outputs_that_move", "per-position-in-one-channel"): ("Poke one number", "per_position = C"),
    ("batch_norm_by_axes", "evaluation-mode"): ("Two rows by hand", "(x - mean) / (variance + eps).sqrt()"),
    ("batch_norm_by_axes", "channels-last"): ("The layout trap", "(0, 2, 3)"),
    ("layer_norm_by_axes", "sizes-as-axes"): ("The last axes", "len(normalized_shape)"),
    ("layer_norm_by_axes", "axes-by-their-sizes"): ("The last axes", "len(normalized_shape)"),
    ("group_norm", "every-other-channel"): ("Going further: an axis cut in two", "unflatten"),
    ("group_norm", "channels-not-pooled"): ("Going further: an axis cut in two", "range(2, grouped.dim())"),
    ("group_norm", "bias-before-weight"): ("Going further: what γ and β can undo", "weight.view(per_channel) + bias"),
    ("group_norm", "eps-outside-root"): ("Two rows by hand", "(variance + eps).sqrt()"),
    ("ema_update", "keras-momentum"): ("A moving average by hand", "momentum * value"),
    ("ema_update", "bias-corrected"): ("A moving average by hand", "average"),
    ("batch_norm", "batch-statistics-in-eval"): ("Why remember at all?", "if self.training else self.running_mean"),
    ("batch_norm", "updated-in-eval"): ("Why remember at all?", "if self.training: self.running_mean.copy_"),
    ("batch_norm", "momentum-of-keras"): ("One number, two readings", "momentum * mean"),
    ("batch_norm", "first-batch-stored"): ("Why not the plain average?", "momentum * mean"),
    ("batch_norm", "biased-variance-stored"): ("Two variances", "correction=1"),
    ("batch_norm", "unbiased-variance"): ("Two variances", "correction=0"),
    ("batch_norm", "all-on-the-last-axis"): ("Along the channels", "view(1, -1"),
    ("batch_norm", "never-updated"): ("Writing into a buffer", "self.running_mean.copy_"),
    ("batch_norm", "pictures-only"): ("Along the channels", "if axis != 1"),
    ("batch_norm", "eps-default-of-keras"): ("One number, two readings", "1e-5"),
    ("batch_norm", "eps-outside-root"): ("Exercise: the whole layer", "(variance + eps).sqrt()"),
    ("batch_norm", "statistics-detached"): ("Writing into a buffer", "x.mean(axes)"),
    ("batch_norm", "weight-and-bias-ignored"): ("Exercise: the whole layer", "weight.view(shape)"),
    ("sinusoidal_encoding", "one-frequency"): ("Clocks", "frequencies ="),
    ("sinusoidal_encoding", "frequencies-down-to-one-over-base"): ("What you will meet elsewhere", "frequencies ="),
    ("shift_matrix", "one-frequency"): ("By hand", "frequencies ="),
    ("turned_product", "positions-added"): ("By hand", "angle = "),
    ("rotary_embedding", "pairs-of-halves"): ("Two pairings", "a, b = x[..., 0::2]"),
    ("rotary_embedding", "turned-back"): ("By hand", "a * cos - b * sin"),
    ("rotary_embedding", "places-for-positions"): ("Two clocks", "positions[:, None]"),
    ("rotary_embedding", "frequencies-rising"): ("By hand", "frequencies ="),
    ("permute_rows", "across-heads"): ("Going further: weights for the other pairing", "unflatten(0, (num_heads"),
    ("merge_block", "output-not-rescaled"): (
        "Going further: a softmax, block by block",
        "a.unsqueeze(-1) * o + p @ values",
    ),
    ("merge_block", "sum-not-rescaled"): ("Going further: a softmax, block by block", "l = a * l + p.sum(-1)"),
    ("merge_block", "infinity-minus-infinity"): ("Going further: a softmax, block by block", "n == -torch.inf"),
    ("merge_block", "zero-where-the-block-is-hidden"): (
        "Going further: a softmax, block by block",
        "n == -torch.inf",
    ),
    ("merge_block", "zero-returned-as-maximum"): ("Going further: a softmax, block by block", "return n, l, o"),
    ("merge_block", "loop-for-one-query"): ("Going further: merge a block", "unsqueeze(-1)"),
    ("time_function", "warm-up-every-round"): ("The lying watch", "range(warm_up)"),
    ("merge_block", "divided-too-early"): ("Going further: a softmax, block by block", "return n, l, o"),
    ("merge_block", "factor-along-the-features"): ("Going further: merge a block", "a.unsqueeze(-1) * o"),
    ("merge_block", "block-by-its-own-maximum"): (
        "Going further: a softmax, block by block",
        "scores - base.unsqueeze(-1)",
    ),
    ("merge_block", "output-first"): ("Going further: merge a block", "return n, l, o"),
    ("generate", "first-row"): ("It answers", "scores[-1]"),
    ("generate", "everything-again"): ("Exercise: the loop that writes", "model([token])"),
    ("tokens_per_second", "a-byte-each"): ("At most so many tokens a second", "4 / 8"),
    ("batch_norm", "axes-kept"): ("Along the channels", "without keepdim"),
    ("cache_bytes", "query-heads"): ("What a token leaves behind", "layers * kv_heads"),
    ("cached_attention", "past-forgotten"): ("Full against cached", "torch.cat([past_keys, key], 2)"),
    ("cached_attention", "triangle-upper-left"): ("What one step computes", "tril(S - L)"),
    ("cached_attention", "nothing-hidden"): ("What one step computes", "tril(S - L)"),
    ("cached_attention", "heads-tiled"): ("Whose cache is larger?", "repeat_interleave"),
    ("cached_attention", "appended-as-heads"): ("Exercise: attention with a cache", "torch.cat([past_keys, key], 2)"),
    ("cached_attention", "only-the-new-handed-on"): ("Full against cached", "return y, keys, values"),
    ("cached_attention", "scale-missing"): ("Exercise: attention with a cache", "softmax(-1)"),
}


@pytest.mark.parametrize(("told", "wanted"), LEADS.items(), ids=str)
def test_a_hint_leads_to_what_it_is_about(told, wanted):
    exercise, mistake = EXERCISES[told[0]], told[1]
    section, line = wanted
    assert exercise.section_about(mistake).en == section
    assert line in (exercise.row(mistake).line or exercise.line)
