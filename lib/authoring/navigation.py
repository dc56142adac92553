"""The two cells that link a lesson to its neighbours, to its other language and to Colab."""

from .address import Address
from .project import Outline

TOP, BOTTOM = "navigation", "navigation-end"  # cell ids; the ids of a lesson's own cells end in a number
_NAME = {"en": "English", "zh": "简体中文"}
_NEXT = {"en": "Next: ", "zh": "下一课："}


def navigation_line(address: Address, outlines: list[Outline], here: Outline, language: str) -> str:
    """The line under the title: the other language, the previous and the next lesson, Colab."""
    other = {"en": "zh", "zh": "en"}[language]
    before, after = _find_neighbours(outlines, here)
    parts = [
        f"[{_NAME[other]}](../{other}/{here.stem}.ipynb)",
        before and f"[← {before.titles[language]}]({before.stem}.ipynb)",
        after and f"[{after.titles[language]} →]({after.stem}.ipynb)",
        address.colab_link(language, here.stem),
    ]
    return " · ".join(part for part in parts if part)


def next_lesson_line(outlines: list[Outline], here: Outline, language: str) -> str | None:
    """The last line of a lesson, a link to the next; None for the last lesson."""
    _, after = _find_neighbours(outlines, here)
    return after and f"{_NEXT[language]}[{after.titles[language]}]({after.stem}.ipynb)"


def _find_neighbours(outlines: list[Outline], here: Outline) -> tuple[Outline | None, Outline | None]:
    place = outlines.index(here)
    before = outlines[place - 1] if place else None
    return before, (outlines[place + 1] if place + 1 < len(outlines) else None)
