"""The two cells that link a lesson to its neighbours, to its other language and to Colab."""

from blocklab_course.i18n import Text
from blocklab_course.lessons.catalog import manifest_of

from .address import Address
from .project import Outline

TOP, BOTTOM = "navigation", "navigation-end"  # cell ids; the ids of a lesson's own cells end in a number
_NAME = {"en": "English", "zh": "简体中文"}
_NEXT = Text(en="## Next lesson", zh="## 下一课")  # a heading, or it would be hidden with the section before it
_SIDE_TRIP = Text(en="Or first a side trip: {link}", zh="选修：{link}")


def navigation_line(address: Address, outlines: list[Outline], here: Outline, language: str) -> str:
    """The line under the title: the other language, the previous and the next lesson, Colab."""
    other = {"en": "zh", "zh": "en"}[language]
    before, after = find_previous(outlines, here), find_next(outlines, here)
    parts = [
        f"[{_NAME[other]}](../{other}/{here.stem}.ipynb)",
        before and f"[← {before.titles[language]}]({before.stem}.ipynb)",
        after and f"[{after.titles[language]} →]({after.stem}.ipynb)",
        address.colab_link(language, here.stem),
    ]
    return " · ".join(part for part in parts if part)


def next_lesson_text(outlines: list[Outline], here: Outline, language: str) -> str | None:
    """The end of a lesson: a link to the next one, and to a side trip. None for the last lesson."""
    after, aside = find_next(outlines, here), find_side_trip(outlines, here)
    if not after:
        return None
    parts = [getattr(_NEXT, language), _link(after, language)]
    if aside:
        parts.append(getattr(_SIDE_TRIP, language).format(link=_link(aside, language)))
    return "\n\n".join(parts)


def _link(outline: Outline, language: str) -> str:
    return f"[{outline.titles[language]}]({outline.stem}.ipynb)"


def find_previous(outlines: list[Outline], here: Outline) -> Outline | None:
    place = outlines.index(here)
    return outlines[place - 1] if place else None


def find_next(outlines: list[Outline], here: Outline) -> Outline | None:
    """The next lesson of the main route."""
    later = outlines[outlines.index(here) + 1 :]
    return next((outline for outline in later if not manifest_of(outline.stem).side_trip), None)


def find_side_trip(outlines: list[Outline], here: Outline) -> Outline | None:
    """The lesson that follows, if the main route leaves it out."""
    later = outlines[outlines.index(here) + 1 :][:1]
    return next((outline for outline in later if manifest_of(outline.stem).side_trip), None)
