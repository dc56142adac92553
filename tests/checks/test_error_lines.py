"""An error is reported at the learner's own line, wherever inside the libraries it was raised, with its message."""

import collections
import importlib
import sys
from functools import partial

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn
from traitlets.config import Config

import blocklab
from blocklab import standardize
from blocklab_course import check, i18n
from blocklab_course.checks.outcome import is_library_code

SOURCE = """\
from blocklab import scaled_dot_product_attention, standardize, swiglu
from torch import nn

def helper(x, axes):
    return standardize(x, axes)

def mine(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    y = {call}
    return y

shorter = lambda x, normalized_shape, weight=None, bias=None, eps=1e-5: {call}
"""
CALLS = {  # in line 8 of the source; the message of the error
    "sizes as axes": (
        "standardize(x, normalized_shape)",
        "ValueError: standardize: expected axes between -2 and 1, at",
    ),
    "a range": ("standardize(x, range(-1, 0))", "TypeError: standardize: expected axes to be an integer or a tuple of"),
    "a nested call": (
        "(lambda axes: standardize(x, axes))(range(1))",
        "TypeError: standardize: expected axes to be an",
    ),
    "another function": ("swiglu(x, x[..., :1])", "swiglu: expected "),
    "a function that calls others": (
        "scaled_dot_product_attention(x, x, x[..., :0, :])",
        "scaled_dot_product_attention: expected ",
    ),
    "a call by Python": ("list(map(lambda a: standardize(x, a), [(7,)]))", "ValueError: standardize: expected axes"),
    "a sort": ("sorted([3, 1], key=lambda a: standardize(x, (a + 8,)))", "ValueError: standardize: expected axes"),
    "a Module": ("nn.Sequential(nn.Linear(99, 3))(x)", "RuntimeError: "),
}


@pytest.fixture
def ipython(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # IPython replaces it
    shell = InteractiveShell.instance(config=Config(HistoryManager={"hist_file": ":memory:"}))

    def run(cell):
        shell.run_cell(cell, store_history=True).raise_error()
        return shell.user_ns

    yield run
    InteractiveShell.clear_instance()


def from_file(source, tmp_path, monkeypatch):
    (tmp_path / "my_norms.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_norms", raising=False)
    return vars(importlib.import_module("my_norms"))


@pytest.fixture(params=["a cell", "a file"])
def define(request, tmp_path, monkeypatch):
    """A function that runs source code in IPython, or as a module of the learner, and returns its names."""
    if request.param == "a cell":
        return request.getfixturevalue("ipython")
    return partial(from_file, tmp_path=tmp_path, monkeypatch=monkeypatch)


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=list(CALLS))
def test_error_of_library_is_reported_where_learner_calls_it(call, message, define):
    found = define(SOURCE.format(call=call))
    verdict = check("layer_norm", found["mine"])
    assert not verdict.passed
    assert message in str(verdict)
    assert f"\nline 8 of your code: `y = {call}`\n" in str(verdict)
    with i18n.use_language("zh"):
        assert f"\n你的代码第 8 行：`y = {call}`\n" in str(check("layer_norm", found["mine"]))
    assert "\nline 11 of your code: `shorter = lambda x, " in str(check("layer_norm", found["shorter"]))


def test_error_in_learners_own_helper_is_reported_there(define):
    verdict = check("layer_norm", define(SOURCE.format(call="helper(x, normalized_shape)"))["mine"])
    assert "\nline 5 of your code: `return standardize(x, axes)`\n" in str(verdict)


def test_error_in_function_from_learners_file_is_reported_there(ipython, tmp_path, monkeypatch):
    from_file(SOURCE.format(call="x"), tmp_path, monkeypatch)
    ipython("from my_norms import helper")
    found = ipython("def mine(x, shape, weight=None, bias=None, eps=1e-5):\n    return helper(x, shape)")
    assert "\nline 5 of your code: `return standardize(x, axes)`\n" in str(check("layer_norm", found["mine"]))


def test_edited_file_is_quoted_as_it_is_now(tmp_path, monkeypatch):
    for call in ("standardize(x, normalized_shape)", "standardize(x, tuple(normalized_shape)  +  (7,))"):
        found = from_file(SOURCE.format(call=call), tmp_path, monkeypatch)
        assert f"\nline 8 of your code: `y = {call}`\n" in str(check("layer_norm", found["mine"]))


def test_known_mistake_that_raises_shows_its_error():
    def passes_range(x, normalized_shape):
        return standardize(x, range(-len(normalized_shape), 0))

    verdict = check("layer_norm_by_axes", passes_range)
    assert verdict.mistake == "range-for-tuple"
    _hint, error, line = verdict.messages
    assert error.startswith(
        "Your function stops with TypeError: standardize: expected axes to be an integer or a tuple"
    )
    assert line.endswith(" of your code: `return standardize(x, range(-len(normalized_shape), 0))`")


def test_none_that_a_library_refuses_names_the_argument():
    def hands_on(x, shape, weight=None, bias=None, eps=1e-5):
        return blocklab.swiglu(x, weight)

    verdict = check("layer_norm", hands_on)
    assert verdict.mistake == "none-used"
    assert verdict.messages[0].startswith("`weight` may be None, and then your function stops with TypeError: swiglu: ")
    assert verdict.messages[1].endswith(" of your code: `return blocklab.swiglu(x, weight)`")


def test_generated_code_without_text_is_not_quoted():
    pair = collections.namedtuple("pair", "a b")

    def packs(x, shape, weight=None, bias=None, eps=1e-5):
        return pair(*shape)

    assert check("layer_norm", packs).messages[-1].endswith(" of your code: `return pair(*shape)`")


@pytest.mark.parametrize(
    ("file", "library"),
    [
        (blocklab.__file__, True),
        (torch.__file__, True),
        (nn.__file__, True),
        (collections.__file__, True),
        (check.__code__.co_filename, True),
        ("/opt/me/.local/lib/python3.12/site-packages/einops/einops.py", True),
        ("/usr/lib/python3/dist-packages/numpy/core.py", True),
        ("<frozen importlib._bootstrap>", True),
        (blocklab.__file__.replace("blocklab/__init__", "blocklab_of_mine"), False),
        ("/var/ipykernel_71/1234.py", False),
        ("<ipython-input-3-0a1b>", False),
        ("/opt/me/my_norms.py", False),
    ],
)
def test_library_code_is_told_from_learners(file, library):
    assert is_library_code(file) == library
