"""The table of real models' caches, against the bytes that were worked out beside it."""

import csv
from importlib.resources import files

import pytest

from blocklab_course.lessons.kv_cache.published_caches import LATENT, SHARINGS, cached_models
from blocklab_course.pretrained import load_glassllm, load_smollm2

BYTES = {
    "SmolLM2-135M": 23040,
    "Llama 2 7B": 524288,
    "Falcon 7B": 8192,
    "Mistral 7B v0.1": 131072,
    "Llama 3.1 8B": 131072,
    "Qwen3 8B": 147456,
    "Gemma 3 27B": 507904,
    "Llama 3.1 70B": 327680,
    "DeepSeek-V3": 70272,
}
MODELS = {model.name: model for model in cached_models()}


def test_every_row_says_where_its_numbers_are_from_and_they_stand_in_order():
    with (files("blocklab_course") / "data" / "cache_bytes.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert all(row["source"] for row in rows)
    sizes = [float(row["billions"]) for row in rows]
    assert sizes == sorted(sizes)


def test_bytes_a_token():
    assert {name: model.bytes_a_token() for name, model in MODELS.items()} == BYTES


def test_what_the_lesson_says_of_texts():
    gib = 2**30
    assert MODELS["Llama 2 7B"].bytes_of(2048) == gib
    assert MODELS["Falcon 7B"].bytes_of(2048) == 16 * 2**20
    gemma = MODELS["Gemma 3 27B"]
    assert gemma.bytes_of(131072) == 62 * gib
    assert gemma.bytes_of(131072, window=True) / gib == pytest.approx(10.4, abs=0.01)
    assert gemma.bytes_of(1024, window=True) == gemma.bytes_of(1024)
    assert MODELS["Llama 3.1 8B"].bytes_of(8192) == gib


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_ways_to_share(model):
    kept = {sharing: model.kept_heads(sharing) for sharing in SHARINGS}
    assert (kept["MHA"], kept["MQA"]) == (model.heads, 1)
    assert model.heads % kept["GQA"] == 0
    assert kept["GQA"] <= 8
    assert model.heads % kept["built"] == 0
    assert model.numbers("MHA") == model.heads * (model.key_dim + model.head_dim)
    assert model.numbers("MLA") == LATENT == 512 + 64


def test_deepseeks_keys_are_wider_by_what_is_rotated():
    wider = {name: model.key_dim - model.head_dim for name, model in MODELS.items() if model.key_dim != model.head_dim}
    assert wider == {"DeepSeek-V3": 64}
    assert MODELS["DeepSeek-V3"].bytes_of(131072, "MHA") == 610 * 2**30


def test_whom_a_latent_would_not_help():
    assert [m.name for m in MODELS.values() if m.numbers("MLA") > m.numbers("built")] == ["SmolLM2-135M", "Falcon 7B"]


def loaded(load):
    try:
        return load()
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))


def test_the_row_of_smollm2_is_that_of_the_model():
    model, row = loaded(load_smollm2), MODELS["SmolLM2-135M"]
    block = model.blocks[0]
    assert (len(model.blocks), block.width, block.key.out_features) == (row.layers, row.head_dim, 3 * row.head_dim)
    assert block.query.out_features == row.heads * row.head_dim


def test_the_sizes_of_weights_that_the_lesson_reads():
    assert sum(x.numel() for x in loaded(load_glassllm).parameters()) * 4 / 1e6 == pytest.approx(3.4, abs=0.05)
