"""Every public fused function has an example in its docstring, and the examples pass."""

import doctest

import pytest
import torch

from blocklab import fused


@pytest.mark.filterwarnings("ignore:.*falling back to the plain")
@pytest.mark.parametrize("name", fused.__all__)
def test_docstring_examples(name, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "cuda", lambda x: x)  # the interpreter runs on the CPU
    finder = doctest.DocTestFinder(recurse=False, exclude_empty=False)
    [test] = finder.find(getattr(fused, name), name, extraglobs={"torch": torch})
    assert test.examples
    failures = []
    doctest.DocTestRunner().run(test, out=failures.append)
    assert not failures, "".join(failures)
