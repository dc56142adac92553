"""A Module is saved if later lessons can run its class as a function; otherwise `check` says why not."""

import pytest
import torch

from blocklab_course import check
from blocklab_course.building_blocks import load_or_reference
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.workspace.solutions import load

SET_UP = """
import math
import torch
import torch.nn.functional as F
from torch import nn
"""
NORM = """
class Norm(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        self.weight = nn.Parameter(torch.ones({size}))
        {more}
    def forward(self, x):
        return {result}
mine = Norm({made})
"""
RMS = "F.rms_norm(x, self.weight.shape, self.weight, self.eps)"


def norm(parameters="size, eps=None", size="size", more="self.eps = eps", result=RMS, made="4"):
    return NORM.format(parameters=parameters, size=size, more=more, result=result, made=made)


SWIGLU = """
class SwiGLU(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
        self.w1, self.w2, self.w3 = (nn.Linear(*sizes, bias=False) for sizes in ({d}, {h}), ({h}, {d}), ({d}, {h})))
    def forward(self, x): return self.w2(F.silu(self.w1(x)) * self.w3(x))
mine = SwiGLU({made})
""".replace("in ({d}", "in (({d}")
SAVED = {  # an exercise, and a cell that defines `mine`
    "a norm of a tuple": ("rms_norm", norm("shape, eps=None", "*shape", made="(4,)")),
    "a norm that keeps a tuple": (
        "rms_norm",
        norm(
            "shape, eps=None", "shape", "self.shape, self.eps = shape, eps", RMS + " if len(self.shape) else x", "(4,)"
        ),
    ),
    "a norm of an int": ("rms_norm", norm(more="self.scale, self.eps = size**0.5, eps")),
    "Hugging Face's norm": (
        "rms_norm_llama",
        norm(
            "hidden_size, eps=1e-6",
            "hidden_size",
            "self.variance_epsilon = eps",
            "self.weight * F.rms_norm(x, self.weight.shape, None, self.variance_epsilon)",
        ),
    ),
    "a layer norm": (
        "layer_norm",
        norm(
            "shape, eps=1e-5",
            "shape",
            "self.bias, self.eps = nn.Parameter(torch.zeros(shape)), eps",
            "F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)",
            "(3, 4)",
        ),
    ),
    "a group norm": (
        "group_norm",
        norm(
            "num_groups, num_channels, eps=1e-5",
            "num_channels",
            "self.num_groups, self.eps, self.bias = num_groups, eps, nn.Parameter(torch.zeros(num_channels))",
            "F.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)",
            "2, 4",
        ),
    ),
    "a batch norm for images": (
        "batch_norm",
        "class Mine(nn.BatchNorm2d):\n    def forward(self, x): return super().forward(x)\nmine = Mine(3)",
    ),
    "relu": ("relu", "class Relu(nn.Module):\n    def forward(self, x): return x.clamp(min=0)\nmine = Relu()"),
    "swish": (
        "swish",
        "class Mine(nn.Module):\n    def forward(self, x, beta=1.0): return x * torch.sigmoid(beta * x)\nmine = Mine()",
    ),
    "attention": (
        "attention",
        """
class Attention(nn.Module):
    def __init__(self, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
    def forward(self, query, key, value, mask=None):
        scores = query @ key.mT / math.sqrt(query.size(-1))
        if mask is not None: scores = scores.masked_fill(~mask, -torch.inf)
        return self.dropout(scores.softmax(-1).nan_to_num()) @ value
mine = Attention(0)
""",
    ),
    "pre_norm": (
        "pre_norm",
        "class PreNorm(nn.Module):\n    def forward(self, x, sublayer, norm): return x + sublayer(norm(x))\n"
        "mine = PreNorm()",
    ),
    "swiglu of two sizes": ("swiglu", SWIGLU.format(parameters=", d, h", d="d", h="h", made="2, 3")),
    "swiglu of one size": ("swiglu", SWIGLU.format(parameters="", d="2", h="3", made="")),
    "encoder_layer": (
        "encoder_layer",
        """
class Layer(nn.TransformerEncoderLayer):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__(d_model, nhead, dim_feedforward, batch_first=True)
    def forward(self, src, src_mask=None):
        return super().forward(src, src_mask)
mine = Layer(8, 2, 12)
""",
    ),
}


@pytest.mark.parametrize(("exercise", "cell"), SAVED.values(), ids=SAVED)
def test_saved_module_runs_as_function(notebook, exercise, cell):
    verdict = check(exercise, notebook(SET_UP + cell)["mine"])
    assert verdict.passed, str(verdict)
    assert verdict.messages[-1] == f"Kept as `my/blocks/{exercise}.py`, for later lessons to run."
    assert load(exercise)


def test_saved_norm_is_created_in_every_size_with_the_given_weight(notebook, capsys):
    check("rms_norm", notebook(SET_UP + SAVED["a norm of a tuple"][1])["mine"])
    x, weight = torch.randn(2, 3, 5), torch.randn(5)
    found = load_or_reference("rms_norm").rms_norm(x, normalized_shape=(5,), weight=weight, eps=0.1)
    torch.testing.assert_close(found, torch.nn.functional.rms_norm(x, (5,), weight, 0.1))
    assert capsys.readouterr().out == "yours: rms_norm\n"


def test_saved_swiglu_takes_matrices_of_any_size(notebook):
    check("swiglu", notebook(SET_UP + SAVED["swiglu of one size"][1])["mine"])
    matrices = torch.randn(7, 5), torch.randn(5, 7), torch.randn(7, 5)
    x, state = torch.randn(3, 5), torch.get_rng_state()
    torch.testing.assert_close(load("swiglu")(x, *matrices), EXERCISES["swiglu"].reference(x, *matrices))
    assert torch.equal(torch.get_rng_state(), state)


def test_says_why_older_file_is_not_used(mine, capsys):
    (mine / "blocks").mkdir()
    cell = norm(more="", result="F.rms_norm(x, self.weight.shape, self.weight)")
    (mine / "blocks" / "rms_norm.py").write_text(f"{SET_UP}{cell}rms_norm = Norm\n", "utf-8")
    assert load_or_reference("rms_norm").rms_norm is EXERCISES["rms_norm"].reference
    why, *others = capsys.readouterr().out.splitlines()
    assert why.startswith(
        "my/blocks/rms_norm.py: Trained weights do not fit into this Module. It replaces `rms_norm(x, "
    )
    assert why.endswith(", and there must be no others; continuing without it")
    assert others == ["yours: none yet", "ours: rms_norm"]


NOT_SAVED = {  # an exercise, a cell, and part of the reason
    "no eps to set": (
        "rms_norm",
        norm(more="", result="F.rms_norm(x, self.weight.shape, self.weight)"),
        "Trained weights do not fit into this Module. It replaces `rms_norm(x, normalized_shape, we",
    ),
    "a constructor with other arguments": (
        "rms_norm",
        norm("size, axis, eps=None", made="4, -1"),
        "The layer is created anew, in the size that is needed, but `Norm(",
    ),
    "a required argument": (
        "relu",
        "class Relu(nn.Module):\n    def __init__(self, low):\n        super().__init__()\n        self.low = low\n"
        "    def forward(self, x): return x.clamp(min=self.low)\nmine = Relu(0)",
        "`Relu()` raises TypeError: ",
    ),
}


@pytest.mark.parametrize(("exercise", "cell", "reason"), NOT_SAVED.values(), ids=NOT_SAVED)
def test_says_why_module_is_not_saved(mine, notebook, exercise, cell, reason):
    verdict = check(exercise, notebook(SET_UP + cell)["mine"])
    assert verdict.passed, str(verdict)
    why, advice = verdict.messages[-2:]
    assert why.startswith("It passed, but was not saved, because later lessons could not use it. ")
    assert reason in why
    assert advice == f"As a function `{EXERCISES[exercise].signature}` it could be saved."
    assert not (mine / "blocks").exists()
