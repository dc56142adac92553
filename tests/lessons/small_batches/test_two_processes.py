"""Two real processes, and that what they report is true."""

import pytest
import torch

from blocklab.batch_statistics import batch_statistics, merge_statistics
from blocklab.lessons.small_batches import two_processes
from blocklab.normalization import batch_norm


def test_two_processes_agree_with_one():
    lines = two_processes.run().splitlines()
    whole = two_processes.whole_batch()
    parts = whole.split(two_processes.SIZES)
    for line, part in zip(lines, [*parts, whole], strict=False):
        name, said = line[:9].strip(), line[9:].split()
        assert name in ("process 0", "process 1", "merged")
        assert said[0] == str(len(part))
        assert [float(number) for number in said[-2:]] == pytest.approx(part.mean(0).tolist(), abs=6e-4)
    assert lines[3:] == ["outputs as in one process: merged True, each for itself False"]


def test_a_wrong_merge_is_reported():
    whole = two_processes.whole_batch()
    parts = whole.split(two_processes.SIZES)
    statistics = [batch_statistics(part, 0) for part in parts]
    count, mean, m2 = merge_statistics(*statistics[0], *statistics[1])
    apart = [batch_norm(part, None, None, training=True) for part in parts]
    right = [(part - mean) / (m2 / count + two_processes.EPS).sqrt() for part in parts]
    for outputs, verdict in ((right, True), ([y + 0.001 for y in right], False)):
        said = two_processes.report(statistics, (count, mean), list(zip(outputs, apart, strict=True)))
        assert said.endswith(f"merged {verdict}, each for itself False")


def test_a_failure_says_why(monkeypatch):
    monkeypatch.setattr(two_processes, "MODULE", "blocklab.no_such_module")
    with pytest.raises(RuntimeError, match="no_such_module"):
        two_processes.run()


def test_the_parts_make_up_the_batch():
    assert sum(two_processes.SIZES) == len(two_processes.whole_batch())
    assert torch.is_floating_point(two_processes.whole_batch())
