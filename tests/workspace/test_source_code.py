"""A learner's function becomes a file that runs alone, or an error says why it cannot."""

import sys

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from blocklab_course.workspace.source_code import CannotBeSaved, standalone_source

SET_UP = """
import math
from math import sqrt

import torch
import torch.nn.functional as F
from torch import Tensor, nn, rsqrt

from blocklab.normalization import standardize
"""
WRITTEN = {  # a cell that defines `mine`, and the file that defines it as `block`
    "unchanged": (
        "def mine(x):  # (N, d)\n    # 说明\n    return 2 * x",
        "def mine(x):  # (N, d)\n    # 说明\n    return 2 * x\n\n\nblock = mine\n",
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
        "import torch\n\n\ndef mine(x): return torch.nn.functional.silu(x)\n\n\nblock = mine\n",
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
    "a lambda": ("mine = lambda x, beta=2.0: beta * x", "block = lambda x, beta=2.0: beta * x\n"),
    "a lambda on two lines": (
        "mine = (lambda x: x +\n        x)",
        "block = (\n    lambda x: x +\n        x\n)\n",
    ),
    "inside a function, with lines that are not indented": (
        'def make():\n    def inner(x):\n        """Twice.\n\nNot indented.\n        """\n'
        '        text = f"""a\n    {x}"""\n        return x * len(text[0] * 2)\n    return inner\nmine = make()',
        'def inner(x):\n    """Twice.\n\nNot indented.\n        """\n'
        '    text = f"""a\n    {x}"""\n    return x * len(text[0] * 2)\n\n\nblock = inner\n',
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


@pytest.mark.parametrize(("cell", "file"), WRITTEN.values(), ids=WRITTEN)
def test_file_runs_alone_and_gives_the_same_result(notebook, cell, file):
    notebook(SET_UP)
    mine = notebook(cell)["mine"]
    assert standalone_source("block", mine) == file
    alone = {}
    exec(file, alone)
    x = torch.tensor([1.0, 2.0, 4.0])
    torch.testing.assert_close(alone["block"](x), mine(x))


def test_uses_current_definition_of_helper(notebook):
    notebook("def helper(x): return x")
    notebook("def mine(x): return helper(x)")
    names = notebook("def helper(x): return 5 * x")
    assert "5 * x" in standalone_source("block", names["mine"])


def test_module_is_saved_as_its_class_with_base_classes(notebook):
    notebook(SET_UP)
    notebook("class Base(nn.Module):\n    def scaled(self, x): return 2 * x")
    names = notebook("class Mine(Base):\n    def forward(self, x): return super().scaled(x)")
    file = standalone_source("block", names["Mine"]())
    assert file.startswith("from torch import nn\n\n\nclass Base(nn.Module):")
    assert file.endswith("block = Mine\n")
    alone = {}
    exec(file, {"__name__": "alone"}, alone)
    assert alone["block"]()(4) == 8


REFUSED = {  # the code of a cell, and part of the reason
    "torch's function": ("mine = F.gelu", "it is `torch.nn.functional.gelu`"),
    "torch's Module": ("mine = nn.RMSNorm(4)", "it is `torch.nn.RMSNorm`"),
    "ours": ("mine = standardize", "it is `blocklab.normalization.standardize`"),
    "a partial": ("from functools import partial\nmine = partial(standardize, axes=0)", "this is a `partial`"),
    "a bound method": ("class Thing:\n    def f(self, x): return x\nmine = Thing().f", "this is a `method`"),
    "a global tensor": ("scale = torch.ones(2)\ndef mine(x): return scale * x", "it uses `scale`, a `Tensor`"),
    "a global layer": ("layer = nn.Linear(2, 2)\ndef mine(x): return layer(x)", "it uses `layer`, a `Linear`"),
    "a long list": ("many = list(range(10_000))\ndef mine(x): return many[0] * x", "it uses `many`, a `list`"),
    "an undefined name": ("def mine(x): return x if abs(2) else lost(x)", "it uses `lost`, which is not defined"),
    "no source": ("exec('def mine(x): return 2 * x')", "the source of `block` cannot be found"),
    "two lambdas in a line": ("mine, other = lambda x: x, lambda x: 2 * x", "the source of `block` cannot be found"),
    "a helper with the name of the exercise": (
        "def block(x): return 3 * x\ndef mine(x): return block(x)",
        "two different things named `block`",
    ),
}


@pytest.mark.parametrize(("cell", "reason"), REFUSED.values(), ids=REFUSED)
def test_says_why_function_would_not_run_alone(notebook, cell, reason):
    notebook(SET_UP)
    with pytest.raises(CannotBeSaved) as refused:
        standalone_source("block", notebook(cell)["mine"])
    assert reason in str(refused.value)


def test_copies_functions_of_a_file_beside_the_notebook(mine, notebook, monkeypatch):
    (mine / "en" / "beside.py").write_text("def triple(x):\n    return 3 * x\n", "utf-8")
    monkeypatch.syspath_prepend(mine / "en")
    names = notebook("import beside\nfrom beside import triple\ndef mine(x): return triple(x)\n")
    assert standalone_source("block", names["mine"]).startswith("def triple(x):\n    return 3 * x\n")
    with pytest.raises(CannotBeSaved, match="`beside`, a `module`"):
        standalone_source("block", notebook("def whole(x): return beside.triple(x)")["whole"])


@pytest.fixture
def ipython(mine, monkeypatch):  # noqa: ARG001
    """A function that runs a cell in IPython, as a notebook does, and returns the names there."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # IPython replaces it
    shell = InteractiveShell.instance(config=Config(HistoryManager={"hist_file": ":memory:"}))

    def run(cell):
        shell.run_cell(cell, store_history=True)
        return shell.user_ns

    run("import torch\nfrom torch import nn\nfrom enum import Enum\nfrom typing import NamedTuple")
    run("from collections import namedtuple\nfrom dataclasses import dataclass")
    yield run
    InteractiveShell.clear_instance()


CELLS = {  # cells, the last of which defines `mine`, a function that triples
    "a cell magic": ["%%time\n\ndef mine(x):\n    return 3 * x"],
    "two cell magics": ["\n%%capture\n%%time\ndef mine(x):\n    return 3 * x"],
    "a line magic too": ["%%time\n%precision 3\nmine = lambda x: 3 * x"],
    "a cell that was edited": ["%%time\ndef mine(x):\n    return 2 * x", "%%time\ndef mine(x):\n    return 3 * x"],
    "a lambda under a cell magic": ["%%time\nmine = lambda x: 3 * x"],
    "annotations that are strings": [
        "from __future__ import annotations\n1",
        "%%time\ndef mine(x: int): return 3 * x",
    ],
    "an older definition": ["%%time\ndef mine(x): return 3 * x", "older = mine\ndef mine(x): return x", "mine = older"],
    "a class under a cell magic": [
        "%%time\nclass Times:\n    def __call__(self, x): return 3 * x",
        "def mine(x): return Times()(x)",
    ],
    "a dataclass": ["@dataclass\nclass Settings:\n    factor: int = 3", "def mine(x): return Settings().factor * x"],
    "a dataclass before a cell that did not run": [
        "@dataclass\nclass Settings:\n    factor: int = 3",
        "  if 1:\n x\n  y\n\t z",
        "def mine(x): return Settings().factor * x",
    ],
    "a dataclass with a method": [
        "@dataclass(frozen=True)\nclass Settings:\n    factor: int = 1\n    def three(self): return 3 * self.factor",
        "def mine(x): return Settings().three() * x",
    ],
    "an instance of a dataclass": [
        "@dataclass\nclass Settings:\n    factor: int\n    dtype: torch.dtype",
        "settings = Settings(3, torch.float32)",
        "def mine(x): return settings.factor * x.to(settings.dtype)",
    ],
    "an enumeration": [
        "class Mode(Enum):\n    TWICE = 2\n    THRICE = 3",
        "mode = Mode.THRICE",
        "def mine(x): return mode.value * x if mode is Mode.THRICE else x",
    ],
    "a named tuple": ["class Pair(NamedTuple):\n    a: int\n    b: int = 2", "def mine(x): return sum(Pair(1)) * x"],
    "a named tuple made by a call": [
        "Pair = namedtuple('Pair', 'a b')\npair = Pair(1, 2)",
        "def mine(x): return sum(pair) * x if isinstance(pair, Pair) else x",
    ],
    "a class without methods": ["class Settings: factor = 3", "def mine(x): return Settings.factor * x"],
}


@pytest.mark.parametrize("cells", CELLS.values(), ids=CELLS)
def test_source_is_found_in_the_cells_of_ipython(ipython, cells):
    for cell in cells:
        names = ipython(cell)
    alone = {"__name__": "alone"}
    exec(standalone_source("block", names["mine"]), alone)
    assert alone["block"](torch.tensor([1.0, 2.0])).tolist() == [3, 6]


def test_another_cell_with_the_same_name_is_not_the_source(ipython):
    ipython("%%time\ndef mine(x): return 2 * x")
    names = ipython("exec('def mine(x): return 3 * x')")
    with pytest.raises(CannotBeSaved, match="the source of `block` cannot be found"):
        standalone_source("block", names["mine"])
