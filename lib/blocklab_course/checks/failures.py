"""How often an exercise has failed in a row with the same mistake, in this session: what is shown depends on it."""

_failures: dict[str, tuple[str | None, int]] = {}


def count_failure(exercise: str, mistake: str | None) -> int:
    """Note one more failure, and say the how manieth in a row with this mistake it is."""
    before, times = _failures.get(exercise, (None, 0))
    _failures[exercise] = (mistake, times + 1 if times and before == mistake else 1)
    return _failures[exercise][1]


def reset_failures(exercise: str) -> None:
    """Start counting anew, because the exercise has been solved."""
    _failures.pop(exercise, None)
