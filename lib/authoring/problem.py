"""Errors in sources and notebooks, with their places."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MAX_SHOWN = 100  # characters of a text that a message quotes


class BuildError(Exception):
    """A command cannot go on. The text is the whole message for the user."""


class BuildErrors(BuildError):
    """A file cannot be used. Each problem says where, and what was expected."""

    def __init__(self, *problems: "Problem"):
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True)
class Problem:
    """A problem that a check found. `texts` are (label, text) pairs that the message quotes, shortened."""

    file: str
    line: int | None
    cell: str | None
    what: str
    texts: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        cell = "" if self.cell is None else f" cell {self.cell}"
        lines = [f"{place}{cell}: {self.what}"]
        lines += [f"    {language}: {shorten(text)}" for language, text in self.texts]
        return "\n".join(lines)


@contextmanager
def collecting_errors(found: list[Problem | BuildError]) -> Iterator[None]:
    """Append errors to the list instead of raising them, so that the next lesson is still processed."""
    try:
        yield
    except BuildErrors as errors:
        found += errors.problems
    except BuildError as error:
        found.append(error)


def shorten(text: str) -> str:
    """The text on one line, cut to a length that fits in a message."""
    words = " ".join(text[: 20 * MAX_SHOWN].split())
    line = "".join(character if character.isprintable() else "�" for character in words)
    return line if len(line) <= MAX_SHOWN else line[: MAX_SHOWN - 1] + "…"
