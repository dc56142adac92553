"""The table of published rotary embeddings is complete and sourced, and its rules run."""

import csv
import math
from importlib.resources import files

import pytest
import torch
from optional_models import load_or_skip
from torch.testing import assert_close

from blocklab.rope_scaling import rotary_frequencies
from blocklab_course.pretrained import load_glassllm
from blocklab_course.pretrained.rotary_models import rotary_models
from tolerance import TOLERANCE

COLUMNS = "model,head_dim,rotated,base,length,rule,factor,low,high,source,note"
RULES = {  # the columns that each rule needs
    "rotary_frequencies": (),
    "position_interpolation": ("factor",),
    "llama3_scaling": ("factor", "low", "high", "length"),
}
MODELS = rotary_models()
CLOSE = TOLERANCE[torch.float64]
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def test_table_has_20_rows():
    with (files("blocklab_course") / "data" / "rotary_bases.csv").open(encoding="utf-8", newline="") as table:
        assert table.readline().strip() == COLUMNS
        assert len(list(csv.reader(table))) == len(MODELS) == 20


@each_model
def test_row_has_arguments_of_its_rule_and_source(model):
    stated = {name for name in ("factor", "low", "high") if getattr(model, name) is not None}
    assert stated == set(RULES[model.rule]) - {"length"}
    assert model.length is not None or "length" not in RULES[model.rule]
    assert "commit" in model.source or "package" in model.source
    assert 0 < model.rotated <= model.head_dim
    assert model.rotated % 2 == 0
    assert model.length is not None or model.note


@each_model
def test_rule_scales_lowest_frequency(model):
    plain, ruled = rotary_frequencies(model.rotated, model.base), model.frequencies()
    assert ruled.shape == plain.shape
    ratio = plain[-1].item() / ruled[-1].item()
    assert ratio == pytest.approx(model.factor or 1)


def count_incomplete_turns(model):
    """The number of pairs that do not complete a turn within the length."""
    wavelengths = [2 * math.pi * model.base ** (2 * i / model.rotated) for i in range(model.rotated // 2)]
    return sum(length > model.length for length in wavelengths)


@pytest.mark.parametrize(
    ("name", "pairs", "expected"),
    [("glassllm", 16, 10), ("SmolLM2 135M", 32, 12), ("Llama-2 7B", 64, 18), ("Llama-3 8B", 64, 29)],
)
def test_count_of_pairs_that_never_turn_fully(name, pairs, expected):
    assert (MODELS[name].rotated // 2, count_incomplete_turns(MODELS[name])) == (pairs, expected)


WELL_KNOWN = {  # head_dim, rotated and base, written down independently
    "Llama-2 7B": (128, 128, 10_000),
    "CodeLlama 7B": (128, 128, 1_000_000),
    "Llama-3.1 8B": (128, 128, 500_000),
    "Pythia 6.9B": (128, 32, 10_000),
    "phi-1.5": (64, 32, 10_000),
    "phi-2": (80, 32, 10_000),
    "phi-4": (128, 128, 250_000),
    "Gemma-3 27B (local layers)": (128, 128, 10_000),
    "Gemma-3 27B (global layers)": (128, 128, 1_000_000),
    "SmolLM2 135M": (64, 64, 100_000),
}


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_well_known_models(name):
    model = MODELS[name]
    assert (model.head_dim, model.rotated, model.base) == WELL_KNOWN[name]


def test_scaled_frequencies_of_two_models():
    gemma, plain = MODELS["Gemma-3 4B (global layers)"], rotary_frequencies(256, 1_000_000.0)
    assert_close(gemma.frequencies(), plain / 8, **CLOSE)
    small, plain = MODELS["Llama-3.2 1B"].frequencies(), rotary_frequencies(64, 500_000.0)
    turns = 8192 * plain / (2 * math.pi)
    assert_close(small[turns > 4], plain[turns > 4], **CLOSE)
    assert_close(small[turns < 1], plain[turns < 1] / 32, **CLOSE)


def test_glassllm_row_matches_weights():
    model, row = load_or_skip(load_glassllm), MODELS["glassllm"]
    block = model.blocks[0]
    assert (row.head_dim, row.base, row.length) == (block.width, block.rope_base, model.max_length)
