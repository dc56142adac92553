"""Tell students apart by the folders and files that they hand in."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

from blocklab_course.i18n import LANGUAGES, Text, join_words

MERGED = Text(
    en="Counted as one student, {student}: {places}. If they are several, say at which level the names are: --level",
    zh="算作一名学生（{student}）：{places}。如果其实是几名学生，请用 --level 说明名字在第几层。",
)
MAX_PLACES = 5  # to name
OWN_FOLDERS = {*LANGUAGES, "my", "notebooks"}  # folders of the lessons and of the copies by `make lab`
_LESSON = re.compile(r"\d\d(?!\d)")  # the start of a lesson's name


def student_names(path: Path) -> tuple[str, ...]:
    """The names in a path that may be a student's: not those of the project's own folders, nor of a lesson."""
    top, *more = unicodedata.normalize("NFC", path.with_suffix("").as_posix()).split("/")  # macOS decomposes é
    folders = [name for name in more[:-1] if name not in OWN_FOLDERS]
    return (top, *folders, *(name for name in more[-1:] if not _LESSON.match(name)))


def find_part(notebooks: Iterable[Path]) -> slice:
    """Which part of their names tells the students of these notebooks apart.

    It is the first name in which they differ, and the next one, too, if the first names sections of the class: folders
    of which each holds several names, and none a name that is in another.
    """
    found = [*map(student_names, notebooks)] or [("",)]
    start = 0
    while start < min(map(len, found)) - 1 and len({names[start] for names in found}) == 1:
        start += 1
    inside = defaultdict(set)
    for names in found:
        inside[names[start]].add(names[start + 1 : start + 2])
    holders = Counter(chain(*inside.values()))
    sections = () not in holders and max(holders.values()) == 1 and all(len(names) > 1 for names in inside.values())
    return slice(start, start + 1 + sections)


def remarks_on_merged(places: Mapping[tuple[str, str], set[tuple[str, ...]]]) -> list[str]:
    """Remarks on students who may be several: they hold an exercise in two places, neither inside the other.

    places: the `student_names` of the notebooks by student and exercise.
    """
    remarks = {}
    for (student, _), found in places.items():
        ordered = sorted(found)  # each place directly before those inside it
        following = zip(ordered, [*ordered[1:], ()], strict=True)
        apart = ["/".join(place) for place, after in following if after[: len(place)] != place]
        if len(apart) > 1:
            remarks[student] = MERGED.format(student=student, places=join_words(apart[:MAX_PLACES]))
    return [*remarks.values()]
