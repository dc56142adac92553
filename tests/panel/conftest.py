"""Which kind of view the panels of a test get: plain ones, unless a test chooses."""

import pytest

from blocklab.panel import front


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setattr(front, "_chosen", "plain")
