"""Kept blocks come back as functions; a file that is damaged is named in one line, and the rest goes on."""

import os

import pytest
import torch

from blocklab_course import check
from blocklab_course.i18n import use_language
from blocklab_course.workspace import solutions as module
from blocklab_course.workspace.solutions import LARGEST, load, load_all

GOOD = "# Your own gelu, as check accepted it (Blocklab 0.1).\n\n\ndef gelu(x):\n    return 2 * x\n"


@pytest.fixture
def blocks(mine):
    """The folder of the kept blocks, with one in it."""
    folder = mine / "blocks"
    folder.mkdir()
    (folder / "gelu.py").write_text(GOOD, "utf-8")
    return folder


def test_what_check_kept_comes_back(notebook):
    names = notebook("import torch\ndef my_swish(x, beta=1.0):\n    return x * torch.sigmoid(beta * x)")
    assert load("swish") is None
    check("swish", names["my_swish"])
    x = torch.randn(4)
    torch.testing.assert_close(load("swish")(x, 2.0), names["my_swish"](x, 2.0))
    assert list(load_all()) == ["swish"]
    assert check("swish", load("swish"))


def test_a_module_comes_back_as_its_class(notebook):
    names = notebook(
        "from torch import nn\nclass Mine(nn.RMSNorm):\n    def forward(self, x): return super().forward(x)"
    )
    check("rms_norm", names["Mine"](4))
    assert load("rms_norm").__name__ == "Mine"
    assert check("rms_norm", load("rms_norm")(4))


@pytest.mark.usefixtures("blocks")
def test_without_a_learners_folder_nothing_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert load("gelu") is None
    assert load_all() == {}
    assert capsys.readouterr().out == ""


def test_all_blocks_come_in_the_order_of_the_lessons(blocks, capsys):
    (blocks / "attention.py").write_text("def attention(query, key, value, mask=None): return query\n", "utf-8")
    (blocks / "rms_norm.py").write_text("rms_norm = abs\n", "utf-8")
    (blocks / "my_own_notes.py").write_text("1 / 0", "utf-8")
    assert list(load_all()) == ["rms_norm", "gelu", "attention"]
    assert capsys.readouterr().out == ""


def test_an_unknown_name_names_all():
    with pytest.raises(ValueError, match=r"There is no block 'rms_nrom'\. All of them: relu, standardize, "):
        load("rms_nrom")


DAMAGED = {  # what lies in swish.py, and what is said
    "a syntax error": (b"import torch\n\ndef swish(x)\n    return x\n", "no Python in line 3 (expected ':')"),
    "a conflict": (b"<<<<<<< HEAD\n", "no Python in line 1"),
    "bytes 0": (b"a = 1\n\0\n", "no Python in line 1"),
    "nested": (b"swish = " + b"(" * 5_000, "no Python in line 1"),
    "nested deeply": (b"swish = " + b"-" * 90_000 + b"1", "no Python in line 1"),
    "another version's": (
        GOOD.replace("gelu", "swish").replace("0.1", "9.4").encode(),
        "it was kept by Blocklab 9.4, and this is 0.1: run its exercise again",
    ),
    "another encoding": ("def swish(x): return '归一化'".encode("gbk"), "its text is not UTF-8"),
    "nothing": (b"", "the file is empty"),
    "too much": (b"#" * (LARGEST + 1), "larger than 0.1 MB"),
    "an error": (b"import torch\ntorch.no_such_thing\n", "it stops with AttributeError: module 'torch' has no"),
    "an exit": (b"raise SystemExit(3)", "it stops with SystemExit: 3"),
    "an end that never comes": (b"while True: pass", "it does not come to its end"),
    "another name": (b"def swiss(x): return x", "it defines no `swish`"),
    "no function": (b"swish = 3", "it defines no `swish`"),
}


@pytest.mark.parametrize(("content", "said"), DAMAGED.values(), ids=DAMAGED)
def test_of_a_damaged_block_one_line_says_what_it_is(blocks, capsys, monkeypatch, content, said):
    monkeypatch.setattr(module, "PATIENCE", 0.5)
    (blocks / "swish.py").write_bytes(content)
    assert list(load_all()) == ["gelu"]
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("my/blocks/swish.py: ")
    assert said in line
    assert line.endswith("; going on without it")
    assert (blocks / "swish.py").read_bytes() == content


PLACES = {
    "a folder": (lambda path: path.mkdir(), "a folder, not a file"),
    "a pipe": (lambda path: os.mkfifo(path), "not a regular file"),
    "a link": (lambda path: path.symlink_to(path.parent / "gelu.py"), "a link, and links are not followed"),
}


@pytest.mark.parametrize(("put", "said"), PLACES.values(), ids=PLACES)
def test_what_is_no_file_is_not_run(blocks, capsys, put, said):
    if said == "not a regular file" and not hasattr(os, "mkfifo"):
        pytest.skip("no pipes that are files on this system")
    put(blocks / "swish.py")
    assert load("swish") is None
    assert capsys.readouterr().out == f"my/blocks/swish.py: {said}; going on without it\n"


def test_the_line_is_in_the_learners_language(blocks, capsys):
    (blocks / "swish.py").write_bytes(b"swish = 3")
    with use_language("zh"):
        load("swish")
    assert capsys.readouterr().out == "my/blocks/swish.py：里面没有定义 `swish`；先不用它\n"


def test_a_block_that_the_learner_has_rewritten_runs_as_it_stands(blocks):
    (blocks / "gelu.py").write_text("def gelu(x):\n    return 3 * x\n", "utf-8")
    assert load("gelu")(2) == 6


def test_running_a_block_leaves_no_trace(blocks, capsys):
    (blocks / "swish.py").write_text(
        "import torch\ntorch.set_default_dtype(torch.float64)\nprint('hello')\ndef swish(x): return x\n", "utf-8"
    )
    assert load("swish")
    assert torch.get_default_dtype() == torch.float32
    assert capsys.readouterr().out == ""
