"""A hint names the section of the lesson that teaches the mistake, and the line of the solution that is wrong."""

import pytest

from blocklab_course.lessons.catalog import EXERCISES

HINTS = {  # one mistake with a section or line of its own in each of these exercises
    ("batch_norm_by_axes", "evaluation-mode"): ("The formula", "(x - mean) / (variance + eps).sqrt()"),
    ("layer_norm_by_axes", "sizes-as-axes"): ("The last axes", "len(normalized_shape)"),
    ("group_norm", "bias-before-weight"): ("Going further: what γ and β can undo", "weight.view(per_channel) + bias"),
    ("ema_update", "keras-momentum"): ("A moving average by hand", "momentum * value"),
    ("batch_norm", "biased-variance-stored"): ("Exercise: the whole layer", "correction=1"),
    ("batch_norm", "eps-outside-root"): ("Exercise, step 1: normalize with the batch", "(variance + eps).sqrt()"),
    ("values_per_mean", "one-gpu"): ("Exercise: how large must the batch be?", "batch_size / 2"),
    ("sinusoidal_encoding", "frequencies-down-to-one-over-base"): ("What you will meet elsewhere", "frequencies ="),
    ("rotary_embedding", "pairs-of-halves"): ("Two pairings", "a, b = x[..., 0::2]"),
    ("merge_block", "sum-not-rescaled"): ("Going further: a softmax, block by block", "l = a * l + p.sum(-1)"),
    ("time_function", "warm-up-every-round"): ("The lying watch", "range(warm_up)"),
    ("generate", "first-row"): ("It answers", "scores[-1]"),
    ("cached_attention", "heads-tiled"): ("Whose cache is larger?", "repeat_interleave"),
}


@pytest.mark.parametrize("verdict", ["class-not-instance", "graph-kept", "raises"])
def test_verdict_on_a_batch_norm_names_the_section_of_the_whole_layer(verdict):
    assert EXERCISES["batch_norm"].section_for(verdict).en == "Exercise: the whole layer"


@pytest.mark.parametrize(("mistake", "expected"), HINTS.items(), ids=str)
def test_hint_names_section_and_line(mistake, expected):
    exercise, (section, line) = EXERCISES[mistake[0]], expected
    assert exercise.section_for(mistake[1]).en == section
    assert line in (exercise.find_mistake(mistake[1]).hint_line or exercise.hint_line)
