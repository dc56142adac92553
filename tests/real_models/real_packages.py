"""How tests of trained models run, and what they do where the package with the weights is missing."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest
import torch

from blocklab.packages import optional

Model = TypeVar("Model")
# Where nothing may be skipped: the gate on Linux. CI on other systems and Pythons installs without the extra `real`.
WHOLE_GATE = os.environ.get("CI") == "true" and sys.platform == "linux" and sys.version_info[:2] == (3, 11)


@contextmanager
def inference() -> Iterator[None]:
    """No gradients, and one thread: on a busy machine two that wait for each other take five times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_num_threads(threads)


def loaded(load: Callable[..., Model], *arguments: str) -> Model:
    """What the loader gives; without its package the test is skipped with the loader's own words, or fails."""
    try:
        return load(*arguments)
    except ModuleNotFoundError as missing:
        if not optional(missing.name):
            raise
        reason = str(missing)
    if WHOLE_GATE:
        pytest.fail(reason)
    pytest.skip(reason)
