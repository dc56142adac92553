"""What the lesson shows of wrong caches: each is wrong in the one place that it names, and the losses are as told."""

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from blocklab.kv_cache import KeyValueCache, cached_attention
from blocklab.positional_encoding import rotary_embedding
from blocklab_course.lessons.kv_cache import broken_caches
from blocklab_course.pretrained import load_glassllm
from blocklab_course.pretrained.prompts import ALICE
from blocklab_course.pretrained.stateless_cache import stateless_cache

# In the order of MISTAKES, as the lesson says.
AT_ONCE = [3.65, 3.65, 3.65, 3.65, 3.65, 3.92, 3.65, 3.65]
IN_STEPS = [3.65, 4.22, 4.41, 4.54, 6.08, 3.92, 4.57, 3.65]
APART = [0, 9.0, 11.7, 12.8, 13.0, 0, 12.9, 3.0]
STEPS = list(broken_caches.MISTAKES.values())


def small_case():
    """Query, keys and values of 6 tokens in 2 texts, 4 and 2 heads of 4, float64, not rotated yet."""
    N, L, d, h, g = 2, 6, 16, 4, 2

    def matrix(rows, columns, start):
        return torch.sin(0.7 * torch.arange(rows * columns).double() + start).view(rows, columns) * 0.5

    x = torch.cos(0.3 * torch.arange(N * L * d).double()).view(N, L, d)
    widths = d, g * d // h, g * d // h
    matrices = [matrix(width, d, start).T for start, width in enumerate(widths)]
    return [(x @ W).unflatten(-1, (-1, d // h)).transpose(1, 2) for W in matrices]


def last_output(step):
    """Of text 0, behind 5 tokens that were read at once: the first three numbers of head 0, and all."""
    query, key, value = small_case()
    places = torch.arange(6)
    query, key = rotary_embedding(query, places), rotary_embedding(key, places)
    attend, cache = stateless_cache(step), KeyValueCache()
    attend(query[:, :, :5], key[:, :, :5], value[:, :, :5], cache)
    y = attend(query[:, :, 5:], key[:, :, 5:], value[:, :, 5:], cache)
    return y[0, 0, 0, :3].tolist(), y


FIRST = {  # worked out apart from this code
    "right": [0.091814, 0.141096, -0.034527],
    "positions_restarted": [0.078049, 0.120544, -0.029107],
    "unrotated_keys": [0.085738, 0.096845, -0.046418],
    "rotated_again": [0.081751, 0.129735, -0.029077],
    "triangle_upper_left": [0.031668, 0.530569, 0.183748],
    "heads_tiled": [0.091814, 0.141096, -0.034527],
}


@pytest.mark.parametrize("name", FIRST)
def test_the_small_case(name):
    assert last_output(getattr(broken_caches, name))[0] == pytest.approx(FIRST[name], abs=2e-6)


def test_the_right_one_is_the_kernel_and_the_others_are_not():
    query, key, value = small_case()
    cache, attend, handed = KeyValueCache(), stateless_cache(broken_caches.right), KeyValueCache()
    for piece in zip(*(x.split([3, 1, 2], 2) for x in (query, key, value)), strict=True):
        assert_close(attend(*piece, handed), cached_attention(*piece, cache))
    right = last_output(broken_caches.right)[1]
    same = [step for step in STEPS if (last_output(step)[1] - right).abs().max() < 0.01]
    assert same == [broken_caches.right, broken_caches.new_token_missing]  # which shows one step later


def all_rotated_when_read(query, key, value, past_keys, past_values):
    past = past_keys.shape[2]
    key = rotary_embedding(key, -torch.arange(past, past + key.shape[2]))
    keys, values = torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)
    rotated = rotary_embedding(keys, torch.arange(keys.shape[2]))
    return broken_caches.right(query, rotated[:, :, past:], value, rotated[:, :, :past], past_values)[0], keys, values


def test_keys_kept_unrotated_are_right_where_all_are_rotated_when_read():
    assert_close(last_output(all_rotated_when_read)[1], last_output(broken_caches.right)[1])


def test_a_token_that_is_not_kept_is_missing_at_the_next_step():
    query, key, value = small_case()
    outputs = {}
    for step in (broken_caches.right, broken_caches.new_token_missing):
        attend, cache = stateless_cache(step), KeyValueCache()
        pieces = zip(*(x.split([4, 1, 1], 2) for x in (query, key, value)), strict=True)
        outputs[step] = [attend(*piece, cache) for piece in pieces]
    right, wrong = outputs.values()
    assert_close(right[1], wrong[1])
    assert (right[2] - wrong[2]).abs().max() > 0.01


@pytest.fixture(scope="module")
def glassllm():
    try:
        model = load_glassllm()
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))
    from glassllm import load_pretrained

    return model, load_pretrained("en")[1].encode(ALICE)


def test_the_losses_are_as_the_lesson_says(glassllm, capsys):
    broken_caches.show_losses(*glassllm)
    rows = [line.split()[:4] for line in capsys.readouterr().out.splitlines()[1:]]
    once, steps, apart, numbers = zip(*(map(float, row) for row in rows), strict=True)
    assert list(once) == pytest.approx(AT_ONCE, abs=0.011)
    assert list(steps) == pytest.approx(IN_STEPS, abs=0.011)
    assert list(apart) == pytest.approx(APART, abs=0.11)
    assert list(numbers) == list(range(8))
    assert len(glassllm[1]) == 68


def test_empty_slots_do_more_harm_the_more_there_are(glassllm, monkeypatch):
    losses = []
    for slots in (128, 1024, 8192):
        monkeypatch.setattr(broken_caches, "BUFFER", slots)
        losses.append(broken_caches.two_readings(*glassllm, broken_caches.zero_slots_seen, 34)[1])
    assert losses == pytest.approx([3.65, 3.85, 4.10], abs=0.011)


def test_with_a_longer_prompt_tiled_heads_have_the_lower_loss(glassllm):
    tiled, right = (broken_caches.two_readings(*glassllm, step, 60)[1] for step in (STEPS[5], STEPS[0]))
    assert (tiled, right) == pytest.approx((3.54, 3.59), abs=0.011)


def test_the_right_loss_in_steps_is_that_of_the_whole_text(glassllm):
    model, ids = glassllm
    with torch.no_grad():
        logits = model(torch.tensor([ids]))[0, 33:-1]
    whole = F.cross_entropy(logits, torch.tensor(ids[34:])).item()
    once, steps, apart = broken_caches.two_readings(model, ids, broken_caches.right, 34)
    assert (once, steps) == pytest.approx((whole, whole), abs=1e-4)
    assert apart < 1e-3
