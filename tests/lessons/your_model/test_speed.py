from importlib.util import find_spec

import pytest
import torch

from blocklab_course.lessons.your_model import speed
from blocklab_course.pretrained import load_glassllm


@pytest.mark.skipif(find_spec("glassllm") is None, reason="wants the package glassllm")
def test_both_ways_and_the_roof_are_timed(monkeypatch):
    monkeypatch.setattr(speed, "FLOATS", 2**16)
    model = load_glassllm()
    cached, whole = speed.seconds_per_token(model, [*range(100)])
    assert 0 < cached < whole
    lines = speed.told(model, [5, 6, 7]).split("\n")
    assert [line.startswith(way) for line, way in zip(lines, ("with", "all", "the roof"), strict=False)] == [True] * 3
    assert lines[2].endswith("ms, to read 3 MB")
    assert lines[3] in map(str, speed.SHARES.values())


@pytest.mark.parametrize(("bandwidth", "said"), [(1e9, "three quarters"), (2e9, "half"), (9e9, "a quarter")])
def test_the_share_of_the_roof_is_told(monkeypatch, bandwidth, said):
    class Model:
        def parameters(self):
            return [torch.empty(250_000_000, device="meta")]

    monkeypatch.setattr(speed, "bytes_per_second", lambda: bandwidth)
    monkeypatch.setattr(speed, "seconds_per_token", lambda *_given: (1.1, 4.0))
    assert said in speed.told(Model(), [1]).split("\n")[3]


def test_the_memory_is_read_at_a_speed_that_memory_has():
    assert 1e8 < speed.bytes_per_second() < 1e12
