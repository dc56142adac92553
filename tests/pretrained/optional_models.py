"""Skip tests of trained models if the package with the weights is missing."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from blocklab_course.dependencies import optional_package

Model = TypeVar("Model")


def load_or_skip(load: Callable[..., Model], *arguments: str) -> Model:
    """Load a model, or skip the test if its package is missing, with the loader's message as the reason."""
    try:
        return load(*arguments)
    except ModuleNotFoundError as missing:
        if not optional_package(missing.name):
            raise
        reason = str(missing)
    pytest.skip(reason)
