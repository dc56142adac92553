"""Saved solutions are loaded as functions; one line says why a damaged file is left out."""

import pytest
import torch

from blocklab_course import check
from blocklab_course.i18n import use_language
from blocklab_course.workspace import run_alone as module
from blocklab_course.workspace.solutions import MAX_BYTES, load

GOOD = "# Your own gelu, as check accepted it (Blocklab 0.1).\n\n\ndef gelu(x):\n    return 2 * x\n"


@pytest.fixture
def folder(mine):
    """The folder of saved solutions, with one in it."""
    folder = mine / "blocks"
    folder.mkdir()
    (folder / "gelu.py").write_text(GOOD, "utf-8")
    return folder


def test_loads_what_check_saved(notebook):
    names = notebook("import torch\ndef my_swish(x, beta=1.0):\n    return x * torch.sigmoid(beta * x)")
    assert load("swish") is None
    check("swish", names["my_swish"])
    x = torch.randn(4)
    torch.testing.assert_close(load("swish")(x, 2.0), names["my_swish"](x, 2.0))
    assert check("swish", load("swish"))


def test_unknown_name_raises():
    with pytest.raises(ValueError, match=r"There is no saved exercise 'rms_nrom'\. Expected one of: relu"):
        load("rms_nrom")


DAMAGED = {  # the content of swish.py, and part of the message
    "a syntax error": (b"import torch\n\ndef swish(x)\n    return x\n", "line 3 is not valid Python (expected ':')"),
    "null bytes": (b"\0" * 20, "line 1 is not valid Python"),
    "sums nested too deeply": (b"x = a" + b"+a" * 20_000, "line 1 is not valid Python"),
    "brackets nested too deeply": (b"x = " + b"-(" * 5_000 + b"1" + b")" * 5_000, "line 1 is not valid Python"),
    "another version's": (
        GOOD.replace("gelu", "swish").replace("0.1", "9.4").encode(),
        "it was saved by Blocklab 9.4, and this is 0.1: run its exercise again",
    ),
    "another encoding": ("def swish(x): return '归一化'".encode("gbk"), "the file is not UTF-8 text"),
    "empty file": (b"", "the file is empty"),
    "too large": (b"#" * (MAX_BYTES + 1), "larger than 0.1 MB"),
    "an error": (b"import torch\ntorch.no_such_thing\n", "run alone, it raises AttributeError: module 'torch' has no"),
    "an exit": (b"raise SystemExit(3)", "run alone, it raises SystemExit: 3"),
    "endless loop": (b"while True: pass", "it takes too long to run"),
    "another name": (b"def swiss(x): return x", "it does not define `swish`"),
    "no function": (b"swish = 3", "it does not define `swish`"),
    "another signature": (b"def swish(x): return x", "It is called as `swish(x, beta=1.0)`, but the function is `swis"),
    "another class": (b"swish = dict", "got `type`"),
    "a Module to create with arguments": (
        b"from torch import nn\nclass swish(nn.Module):\n    def __init__(self, b): super().__init__()",
        "`swish()` raises TypeError: ",
    ),
    "an error when it is called": (
        b"def swish(x, beta): return x / [beta]",
        "run alone, it raises TypeError: unsupported",
    ),
    "a hostile object": (
        b"class Odd:\n    def __getattr__(self, name): 1 / 0\n    def __call__(self): pass\nswish = Odd()",
        "Your function stops with ZeroDivisionError: division by zero",
    ),
}


@pytest.mark.parametrize(("content", "message"), DAMAGED.values(), ids=DAMAGED)
def test_says_why_damaged_file_is_left_out(folder, capsys, monkeypatch, content, message):
    monkeypatch.setattr(module, "PATIENCE", 0.5)
    (folder / "swish.py").write_bytes(content)
    assert load("swish") is None
    assert load("gelu") is not None
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("my/blocks/swish.py: ")
    assert message in line
    assert line.endswith("; continuing without it")
    assert (folder / "swish.py").read_bytes() == content


def test_message_is_in_the_chosen_language(folder, capsys):
    (folder / "swish.py").write_bytes(b"swish = 3")
    with use_language("zh"):
        load("swish")
    assert capsys.readouterr().out == "my/blocks/swish.py：里面没有定义 `swish`；先不用它\n"


def test_loads_file_edited_by_hand(folder):
    (folder / "gelu.py").write_text("def gelu(x):\n    return 3 * x\n", "utf-8")
    assert load("gelu")(2) == 6


def test_loading_has_no_side_effects(folder, capsys):
    (folder / "swish.py").write_text(
        "import torch\ntorch.set_default_dtype(torch.float64)\nprint('hello')\ndef swish(x, b): return x\n", "utf-8"
    )
    assert load("swish")
    assert torch.get_default_dtype() == torch.float32
    assert capsys.readouterr().out == ""
