"""What is wrong, where, and the texts that show it."""

from dataclasses import dataclass

SHOWN = 100  # characters of a text that a message repeats


class PublishError(Exception):
    """The command cannot go on: its text is the whole message for the person who typed it."""


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


def shorten(text: str) -> str:
    """The text on one line, cut to what a message can carry."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
