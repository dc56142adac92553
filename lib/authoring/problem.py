"""What is wrong, where, and the texts that show it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MAX_SHOWN = 100  # characters of a text that a message repeats


class BuildError(Exception):
    """The command cannot go on: its text is the whole message for the person who typed it."""


class BuildErrors(BuildError):
    """A file is not what it should be: each of its problems says where and what was wanted."""

    def __init__(self, *problems: "Problem"):
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True)
class Problem:
    """One finding of a check. `texts` are (language, wording) pairs, shortened when shown."""

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
    """What goes wrong is added to the list, so that the next lesson has its turn."""
    try:
        yield
    except BuildErrors as faults:
        found += faults.problems
    except BuildError as error:
        found.append(error)


def shorten(text: str) -> str:
    """The text on one line, cut to what a message can carry."""
    words = " ".join(text[: 20 * MAX_SHOWN].split())  # the rest of a text of megabytes is not even looked at
    line = "".join(character if character.isprintable() else "�" for character in words)
    return line if len(line) <= MAX_SHOWN else line[: MAX_SHOWN - 1] + "…"
