"""Which kind of view the panels of a test get: plain ones, unless a test chooses."""

import pytest

from blocklab_course.panel import backend


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setattr(backend, "_kind", "plain")
