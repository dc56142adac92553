"""The mutations by hand still fit the Triton kernels; mutmut finds its own."""

import ast

import pytest

from authoring.mutation_testing import FUSED, PACKAGE


@pytest.mark.parametrize(("name", "old", "new"), FUSED)
def test_each_mutation_matches_one_place(name, old, new):
    source = (PACKAGE / "fused" / f"{name}.py").read_text("utf-8")
    assert source.count(old) == 1
    ast.parse(source.replace(old, new))
