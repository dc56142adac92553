"""With --whole-gate a test that is skipped fails, but for want of a GPU."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
WHEEL = "tests/wheel"  # skipped as a file, for here the package comes from the source tree
INTERPRETED = "tests/fused_interpreted/test_fused_known_bugs.py"  # test by test, for want of an interpreter
GPU = "tests/timing/test_timing_gpu.py"


def outcomes(*arguments: str) -> Counter:
    """What pytest counts in its last line."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["CUDA_VISIBLE_DEVICES"] = ""
    command = [sys.executable, "-m", "pytest", "-q", "--continue-on-collection-errors", WHEEL, INTERPRETED, GPU]
    done = subprocess.run([*command, *arguments], cwd=ROOT, env=environment, capture_output=True, encoding="utf-8")
    counts = re.findall(r"(\d+) (skipped|passed|failed|error)", done.stdout.splitlines()[-1])
    return Counter({outcome: int(count) for count, outcome in counts})


def test_what_is_skipped_fails_but_for_want_of_a_gpu():
    usual, whole = outcomes(), outcomes("--whole-gate")
    assert set(usual) == {"skipped"}
    assert set(whole) == {"skipped", "error"}
    assert whole["skipped"] == 8
    assert whole.total() == usual.total()
