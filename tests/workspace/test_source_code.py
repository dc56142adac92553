"""What a learner wrote comes out of the notebook as a file that runs alone, or it is said why it cannot."""

import builtins
import linecache
import textwrap

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from blocklab_course.workspace.source_code import CannotBeSaved, standalone_source

SET_UP = """
import math
from math import sqrt

import torch
import torch.nn.functional as F
from torch import Tensor, nn, rsqrt

from blocklab.normalization import standardize
"""
WRITTEN = {  # a cell or two that define `mine`, and the file for "block" that they give
    "as it stands": (
        "def mine(x):  # (N, d)\n    # 说明\n    return 2 * x",
        "def mine(x):  # (N, d)\n    # 说明\n    return 2 * x\n\n\nblock = mine\n",
    ),
    "under the block's own name": (
        "def block(x): return 2 * x\nmine = block",
        "def block(x): return 2 * x\n",
    ),
    "with the imports that it uses": (
        "def mine(x: Tensor):\n    return rsqrt(F.silu(nn.Identity()(torch.abs(x)))) + math.pi * sqrt(4)",
        "import math\nimport torch\nimport torch.nn.functional as F\nfrom math import sqrt\nfrom torch import Tensor\n"
        "from torch import nn\nfrom torch import rsqrt\n\n\n"
        "def mine(x: Tensor):\n    return rsqrt(F.silu(nn.Identity()(torch.abs(x)))) + math.pi * sqrt(4)\n\n\n"
        "block = mine\n",
    ),
    "a module by its full name": (
        "def mine(x): return torch.nn.functional.silu(x)",
        "import torch.nn.functional\n\n\ndef mine(x): return torch.nn.functional.silu(x)\n\n\nblock = mine\n",
    ),
    "another name for a function of ours": (
        "z_scores = standardize\ndef mine(x): return z_scores(x, -1)",
        "from blocklab.normalization import standardize as z_scores\n\n\n"
        "def mine(x): return z_scores(x, -1)\n\n\nblock = mine\n",
    ),
    "constants": (
        "EPS, WIDE, FAR, NAMES = 1e-6, torch.float64, float('-inf'), {'a': (1, None)}\n"
        "def mine(x, eps=EPS): return x.to(WIDE).clamp(FAR) + eps + len(NAMES)",
        "import torch\n\nEPS = 1e-06\nFAR = float(\"-inf\")\nNAMES = {'a': (1, None)}\nWIDE = torch.float64\n\n\n"
        "def mine(x, eps=EPS): return x.to(WIDE).clamp(FAR) + eps + len(NAMES)\n\n\nblock = mine\n",
    ),
    "helpers, the needed ones first": (
        "def outer(x): return inner(x) + 1\ndef inner(x): return 3 * x\ndef unused(x): return x\n"
        "def mine(x): return outer(x)",
        "def inner(x): return 3 * x\n\n\ndef outer(x): return inner(x) + 1\n\n\n"
        "def mine(x): return outer(x)\n\n\nblock = mine\n",
    ),
    "functions that call each other": (
        "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\n"
        "def mine(x): return x if even(4) else -x",
        "def odd(n): return n != 0 and even(n - 1)\n\n\ndef even(n): return n == 0 or odd(n - 1)\n\n\n"
        "def mine(x): return x if even(4) else -x\n\n\nblock = mine\n",
    ),
    "itself": (
        "def mine(x, n=2): return x if n == 0 else 2 * mine(x, n - 1)",
        "def mine(x, n=2): return x if n == 0 else 2 * mine(x, n - 1)\n\n\nblock = mine\n",
    ),
    "a lambda": ("mine = lambda x, beta=2.0: beta * x", "block = lambda x, beta=2.0: beta * x\n"),
    "a lambda on two lines": (
        "mine = (lambda x: x +\n        x)",
        "block = (\n    lambda x: x +\n        x\n)\n",
    ),
    "a lambda that helps": (
        "double = lambda x: 2 * x\nmine = lambda x: double(x)",
        "double = lambda x: 2 * x\n\n\nblock = lambda x: double(x)\n",
    ),
    "inside a function": (
        "def make(power):\n    def inner(x):\n        return x**power\n    return inner\nmine = make(3)",
        "power = 3\n\n\ndef inner(x):\n    return x**power\n\n\nblock = inner\n",
    ),
    "decorated": (
        "@torch.no_grad()\ndef mine(x):\n    return 2 * x",
        "import torch\n\n\n@torch.no_grad()\ndef mine(x):\n    return 2 * x\n\n\nblock = mine\n",
    ),
    "Python's own names, one of them the learner's": (
        "sum = lambda xs: 7\ndef mine(x): return x + sum([1]) + max(1, 2)",
        "sum = lambda xs: 7\n\n\ndef mine(x): return x + sum([1]) + max(1, 2)\n\n\nblock = mine\n",
    ),
    "a class that helps": (
        "class Twice:\n    factor: int = 2\n    half = factor / 2\n    def __call__(self, x): return self.factor * x\n"
        "def mine(x): return Twice()(x)",
        "class Twice:\n    factor: int = 2\n    half = factor / 2\n    def __call__(self, x): return self.factor * x\n"
        "\n\ndef mine(x): return Twice()(x)\n\n\nblock = mine\n",
    ),
}


@pytest.mark.parametrize(("cells", "file"), WRITTEN.values(), ids=WRITTEN)
def test_the_file_is_readable_and_does_the_same(notebook, cells, file):
    notebook(SET_UP)
    mine = notebook(cells)["mine"]
    assert standalone_source("block", mine) == file
    alone = {}
    exec(file, alone)
    x = torch.tensor([1.0, 2.0, 4.0])
    torch.testing.assert_close(alone["block"](x), mine(x))


def test_names_that_stand_in_earlier_cells_are_found_as_they_are_now(notebook):
    notebook("def helper(x): return x")
    notebook("def mine(x): return helper(x)")
    names = notebook("def helper(x): return 5 * x")
    assert "5 * x" in standalone_source("block", names["mine"])


def test_of_a_module_the_class_is_taken_and_those_that_it_builds_on(notebook):
    notebook(SET_UP)
    notebook("class Base(nn.Module):\n    def scaled(self, x): return 2 * x")
    names = notebook("class Mine(Base):\n    def forward(self, x): return super().scaled(x)")
    file = standalone_source("block", names["Mine"]())
    assert file.startswith("from torch import nn\n\n\nclass Base(nn.Module):")
    assert file.endswith("block = Mine\n")
    alone = {}
    exec(file, {"__name__": "alone"}, alone)
    assert alone["block"]()(4) == 8


REFUSED = {  # cells, and a word of the reason
    "torch's": ("mine = F.layer_norm", "it is `torch.nn.functional.layer_norm`"),
    "torch's, in C++": ("mine = F.gelu", "it is `torch.nn.functional.gelu`"),
    "torch's Module": ("mine = nn.RMSNorm(4)", "it is `torch.nn.RMSNorm`"),
    "ours": ("mine = standardize", "it is `blocklab.normalization.standardize`"),
    "a partial": ("from functools import partial\nmine = partial(standardize, axes=0)", "this is a `partial`"),
    "a thing that can be called": (
        "class Thing:\n    def __call__(self, x): return x\nmine = Thing()",
        "this is a `Thing`",
    ),
    "a bound method": ("class Thing:\n    def f(self, x): return x\nmine = Thing().f", "this is a `method`"),
    "a tensor around it": ("scale = torch.ones(2)\ndef mine(x): return scale * x", "it needs `scale`, a `Tensor`"),
    "a layer around it": ("layer = nn.Linear(2, 2)\ndef mine(x): return layer(x)", "it needs `layer`, a `Linear`"),
    "a long list": (
        "many = list(range(10_000))\ndef mine(x): return many[0] * x",
        "it needs `many`, a `list`",
    ),
    "the notebook": (
        "import __main__\ndef mine(x): return __main__.scale * x",
        "it needs `__main__`, a `module`",
    ),
    "a name in a branch not taken": ("def mine(x): return x if abs(2) else lost(x)", "it needs `lost`"),
    "what only a notebook has": ("def mine(x):\n    display(x)\n    return x", "it needs `display`"),
    "a name deleted since": ("k = 2\ndef mine(x): return k * x\ndel k", "it needs `k`, which is nowhere defined"),
    "made without source": ("exec('def mine(x): return 2 * x')", "the source of `block` cannot be found"),
    "two lambdas on a line": (
        "mine, other = lambda x: x, lambda x: 2 * x",
        "the source of `block` cannot be found",
    ),
    "a class without methods": (
        "class Settings: eps = 1\ndef mine(x): return x + Settings.eps",
        "the source of `Settings` cannot be found",
    ),
    "the block's name for something else": (
        "def block(x): return 3 * x\ndef mine(x): return block(x)",
        "two different things called `block`",
    ),
    "two helpers of a name": (
        "def make(k):\n    def f(x): return k * x\n    return f\ng, h = make(2), make(3)\n"
        "def mine(x): return g(x) + h(x)",
        "two different things called `f`",
    ),
}


@pytest.mark.parametrize(("cells", "word"), REFUSED.values(), ids=REFUSED)
def test_what_would_not_run_alone_is_refused_with_the_reason(notebook, cells, word):
    notebook(SET_UP)
    with pytest.raises(CannotBeSaved) as refused:
        standalone_source("block", notebook(cells)["mine"])
    assert word in str(refused.value)


def test_a_module_beside_the_notebook_is_the_learners_own(mine, notebook, monkeypatch):
    (mine / "en" / "beside.py").write_text("def triple(x):\n    return 3 * x\n", "utf-8")
    monkeypatch.syspath_prepend(mine / "en")
    names = notebook("import beside\nfrom beside import triple\ndef mine(x): return triple(x)\n")
    assert standalone_source("block", names["mine"]).startswith("def triple(x):\n    return 3 * x\n")
    with pytest.raises(CannotBeSaved, match="`beside`, a `module`"):
        standalone_source("block", notebook("def whole(x): return beside.triple(x)")["whole"])


def test_what_a_notebook_adds_to_pythons_own_names_is_not_everywhere(notebook, monkeypatch):
    monkeypatch.setattr(builtins, "display", print, raising=False)
    with pytest.raises(CannotBeSaved, match="it needs `display`"):
        standalone_source("block", notebook("def mine(x): return display(x)")["mine"])


def test_lines_end_where_python_ends_them(notebook):
    cell = "first = 'a\u2028b\x0cc'\ndef mine(x):\n    return x\n"
    assert standalone_source("block", notebook(cell)["mine"]).startswith("def mine(x):\n    return x\n")


def test_a_module_that_was_edited_is_read_anew(mine, notebook, monkeypatch):
    beside = mine / "en" / "edited.py"
    beside.write_text("def triple(x):\n    return 3 * x\n", "utf-8")
    monkeypatch.syspath_prepend(mine / "en")
    names = notebook("import edited, importlib\nfrom edited import triple\n")
    standalone_source("block", names["triple"])
    beside.write_text("# three times\n\ndef triple(x):\n    return x + x + x\n", "utf-8")
    names = notebook("from edited import triple\ntriple = importlib.reload(edited).triple")
    assert standalone_source("block", names["triple"]).startswith("def triple(x):\n    return x + x + x\n")


LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=3),
    max_leaves=5,
)
LINES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029"), max_size=30)


@given(constant=LITERALS, comment=LINES, said=st.text(max_size=30), indent=st.sampled_from([" ", "  ", "\t", " " * 8]))
def test_whatever_stands_in_a_function_comes_back(constant, comment, said, indent):
    body = f"# {comment}\nreturn x, CONSTANT, {said!r}  # {comment}"
    source = f"CONSTANT = {constant!r}\n\n\ndef mine(x):\n{textwrap.indent(body, indent)}\n"
    names = {"__name__": "__main__"}
    with_source(source, names)
    alone = {}
    exec(standalone_source("block", names["mine"]), alone)
    assert alone["block"](3) == names["mine"](3) == (3, constant, said)


def with_source(source: str, names: dict) -> None:
    linecache.cache["<drawn>"] = len(source), None, source.splitlines(keepends=True), "<drawn>"
    exec(compile(source, "<drawn>", "exec", dont_inherit=True), names)
