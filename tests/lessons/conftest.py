import linecache
from collections.abc import Callable
from itertools import count

import pytest


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The learner's folder; a lesson runs in its half for English."""
    folder = tmp_path / "my"
    for language in ("en", "zh"):
        (folder / language).mkdir(parents=True)
    monkeypatch.chdir(folder / "en")
    return folder


@pytest.fixture
def notebook(mine) -> Callable[[str], dict]:  # noqa: ARG001
    """Runs cells one after the other, as the learner's notebook does, and gives the names that stand in it."""
    names, numbers = {"__name__": "__main__"}, count()

    def run(source: str) -> dict:
        file = f"<cell {next(numbers)}>"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        exec(compile(source, file, "exec", dont_inherit=True), names)
        return names

    return run
