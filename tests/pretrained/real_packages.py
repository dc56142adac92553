"""What tests of trained models do where the package with the weights is missing."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from blocklab_course.dependencies import optional_package

Model = TypeVar("Model")


def loaded(load: Callable[..., Model], *arguments: str) -> Model:
    """What the loader gives; without its package the test is skipped with the loader's own words."""
    try:
        return load(*arguments)
    except ModuleNotFoundError as missing:
        if not optional_package(missing.name):
            raise
        reason = str(missing)
    pytest.skip(reason)
