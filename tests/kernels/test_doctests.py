"""The examples in the kernels' docstrings pass, and every public kernel has one."""

import doctest
from importlib import import_module

import pytest
import torch

import blocklab


def example(name: str) -> doctest.DocTest:
    module = import_module(f"blocklab.{blocklab._MODULE_OF.get(name, name)}")
    finder = doctest.DocTestFinder(recurse=False, exclude_empty=False)
    [test] = finder.find(getattr(module, name), name, module, extraglobs={"torch": torch})
    return test


@pytest.fixture
def default_print_options():
    """Those that a learner has: a lesson that another test has begun sets others."""
    options = torch._tensor_str.PRINT_OPTS
    before = {name: getattr(options, name) for name in ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")}
    torch.set_printoptions(profile="default")
    yield
    torch.set_printoptions(**before)


@pytest.mark.usefixtures("default_print_options")
@pytest.mark.parametrize("name", [*blocklab._MODULE_OF, "batch_statistics"])
def test_docstring_example(name):
    test = example(name)
    assert test.examples
    said = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)
