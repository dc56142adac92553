"""The examples in the docstrings of the fused functions are right, and every public one has one."""

import doctest

import pytest
import torch

from blocklab import fused


@pytest.mark.filterwarnings("ignore:.*falling back to the plain")
@pytest.mark.parametrize("name", fused.__all__)
def test_example(name, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "cuda", lambda x: x)  # the interpreter runs on the CPU
    finder = doctest.DocTestFinder(recurse=False, exclude_empty=False)
    [test] = finder.find(getattr(fused, name), name, extraglobs={"torch": torch})
    assert test.examples
    said = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)
