"""Tests use plain views unless they choose live ones."""

import pytest

from blocklab_course.panel import backend


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setattr(backend, "_kind", "plain")
