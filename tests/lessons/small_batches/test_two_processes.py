"""Two real processes, and that what they report is true."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import blocklab
from blocklab.batch_statistics import batch_statistics, merge_statistics
from blocklab.normalization import batch_norm
from blocklab_course.i18n import use_language
from blocklab_course.lessons.small_batches import two_processes

NUMBERS = re.compile(r"\d+\.?\d*")


def numbers(line: str) -> list[float]:
    return [float(number) for number in NUMBERS.findall(line)]


@pytest.mark.parametrize(
    ("language", "merged"), [("en", "merged"), pytest.param("zh", "合并后", marks=pytest.mark.exhaustive)]
)
def test_two_processes_agree_with_one(language, merged):
    with use_language(language):
        *lines, last = two_processes.run().splitlines()
    whole = two_processes.whole_batch()
    for line, part in zip(lines, [*whole.split(two_processes.SIZES), whole], strict=True):
        assert numbers(line)[-3:] == pytest.approx([len(part), *part.mean(0).tolist()], abs=6e-4)
    assert lines[-1].startswith(merged)
    together, apart = numbers(last)
    assert together == 0
    assert apart > 1


@pytest.mark.exhaustive
def test_the_processes_find_the_package_where_the_lesson_has_found_it(tmp_path):
    """In a copy of the project that is not installed: there the first cell of a lesson puts lib/ on the path."""
    lib = Path(blocklab.__file__).parents[1]
    for package in ("blocklab", "blocklab_course"):
        shutil.copytree(lib / package, tmp_path / package, ignore=shutil.ignore_patterns("data", "__pycache__"))
    copied = tmp_path / Path(two_processes.__file__).relative_to(lib)
    copied.write_text(copied.read_text("utf-8").replace('en="merged', 'en="in the copy'), encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from {two_processes.MODULE} import run; print(run())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8")
    assert "in the copy: 8 samples" in done.stdout, done.stderr


def test_a_wrong_merge_is_reported():
    whole = two_processes.whole_batch()
    parts = whole.split(two_processes.SIZES)
    statistics = [batch_statistics(part, 0) for part in parts]
    count, mean, m2 = merge_statistics(*statistics[0], *statistics[1])
    apart = [batch_norm(part, None, None, training=True) for part in parts]
    right = [(part - mean) / (m2 / count + two_processes.EPS).sqrt() for part in parts]
    for outputs, off in ((right, 0), ([y - 0.125 for y in right], 0.125)):
        said = two_processes.report(statistics, (count, mean), list(zip(outputs, apart, strict=True)))
        assert f"merged {off:.3f}, each" in said


def test_a_failure_says_why(monkeypatch):
    monkeypatch.setattr(two_processes, "MODULE", "blocklab.no_such_module")
    with pytest.raises(RuntimeError, match="no_such_module"):
        two_processes.run()


def test_the_parts_make_up_the_batch():
    assert sum(two_processes.SIZES) == len(two_processes.whole_batch())
    assert torch.is_floating_point(two_processes.whole_batch())
