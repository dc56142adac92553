"""Count how often in a row an exercise has failed with the same mistake in this session. More help is shown then."""

_failures: dict[str, tuple[str | None, int]] = {}


def count_failure(exercise: str, mistake: str | None) -> int:
    """Record a failure, and return how many times in a row this mistake has occurred."""
    before, times = _failures.get(exercise, (None, 0))
    _failures[exercise] = (mistake, times + 1 if times and before == mistake else 1)
    return _failures[exercise][1]


def reset_failures(exercise: str) -> None:
    """Reset the count of an exercise that has been solved."""
    _failures.pop(exercise, None)
