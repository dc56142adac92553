from importlib.util import find_spec

import pytest

from blocklab.lessons.your_model import speed
from blocklab.real_models import load_glassllm


@pytest.mark.skipif(find_spec("glassllm") is None, reason="wants the package glassllm")
def test_both_ways_and_the_roof_are_timed(monkeypatch):
    monkeypatch.setattr(speed, "FLOATS", 2**16)
    model = load_glassllm()
    cached, whole = speed.seconds_per_token(model, [*range(100)])
    assert 0 < cached < whole
    lines = speed.told(model, [5, 6, 7]).split("\n")
    assert lines[0] == "a prompt of 3 tokens, one thread"
    assert "with the cache" in lines[1]
    assert "0.00 GB a token" in lines[2]  # 3.4 MB


def test_the_memory_is_read_at_a_speed_that_memory_has():
    assert 1e8 < speed.bytes_per_second() < 1e12
