"""Whose notebook is it? Students are told apart by where their notebooks lie."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from blocklab.language import LANGUAGES, Text

SEVERAL = Text(
    en="{student}: the same exercise lies in {places}. If these are several students, add --level {level}.",
    zh="{student}：同一个练习出现在 {places} 里。如果这是几名学生，请加上 --level {level}。",
)
ONE = Text(
    en="{student}: notebooks from {places} count as one student's.", zh="{student}：{places} 里的笔记本算作同一名学生。"
)
COMMA = Text(en=", ", zh="、")
MOST_NAMED = 3

Place = tuple[str, ...]  # the folders on the way to a notebook, languages aside, then its file name


def place(inside: Path) -> Place:
    """Where a notebook lies in the class's folder. The lessons' folders `en` and `zh` tell no students apart."""
    *folders, name = inside.parts
    return (*(folder for folder in folders if folder not in LANGUAGES), name)


def tell_apart(tried: dict[Place, set[str]], level: int | None = None) -> tuple[dict[Place, str], list[str]]:
    """The student of every notebook, and remarks on where that may be wrong.

    tried: the exercises of each notebook. With a level, the student is the name at that level, 1 being directly in
    the class's folder, wherever it lies. Without one, it is found: the first level at which the notebooks' folders
    differ, and one deeper where these are sections, each with folders of its own that hold the same exercises.
    """
    if level is None:
        start, level = levels(tried)
        paths = {where: where[start - 1 : level] for where in tried}
        students = _names(paths, level)
        return students, _doubts(_groups(tried, students.get), level)
    students = _names({where: where[:level][-1:] for where in tried}, level)
    return students, _merged(_groups(tried, students.get), level)


def levels(tried: dict[Place, set[str]]) -> tuple[int, int]:
    """The first level at which folders differ, and the level of the students."""
    folders = {where[:-1] for where in tried}
    common = sum(1 for _ in itertools.takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False)))
    directly = any(len(folder) == common for folder in folders)
    start = max(1, common if directly else common + 1)
    level = start
    while _are_sections(tried, level):
        level += 1
    return start, level


def _are_sections(tried: dict[Place, set[str]], level: int) -> bool:
    """Whether all folders at a level hold several people: what is in them has names that occur in one of them alone."""
    groups = _groups(tried, lambda where: where[:level])
    inside = Counter(name for group in groups.values() for name in {where[level : level + 1] for where in group})
    return max(inside.values(), default=0) == 1 and all(_apart(group) for group in groups.values())


def _groups(tried: dict[Place, set[str]], key: Callable[[Place], object]) -> dict[object, dict[Place, set[str]]]:
    groups = defaultdict(dict)
    for where, exercises in tried.items():
        groups[key(where)][where] = exercises
    return groups


def _apart(group: dict[Place, set[str]]) -> set[Place]:
    """The notebooks of a group that hold the same exercise and are no copies of each other, for all one can see."""
    holders = defaultdict(list)
    for where, exercises in group.items():
        for exercise in exercises:
            holders[exercise].append(where)
    for places in holders.values():
        first = min(places, key=lambda where: (len(where), len(where[-1]), where))
        others = {where for where in places if not _related(first, where)}
        if others:
            return others | {first}
    return set()


_LESSON = re.compile(r"\d\d(?!\d)")  # how the lessons' names begin


def _related(first: Place, other: Place) -> bool:
    """Whether one's folder lies in the other's and, side by side, whether the names are a lesson's or a copy's."""
    if other[: len(first) - 1] != first[:-1]:
        return False
    if len(first) < len(other):
        return True
    begin = Path(first[-1]).stem
    return other[-1].startswith(begin) or all(_LESSON.match(name) for name in (first[-1], other[-1]))


def _names(paths: dict[Place, Place], level: int) -> dict[Place, str]:
    """The student's name for every notebook: a file's without its ending, unless somebody else has that name."""
    short = {
        path: "/".join((*path[:-1], Path(path[-1]).stem if level >= len(where) else path[-1]))
        for where, path in paths.items()
    }
    taken = Counter(short.values())
    return {where: short[path] if taken[short[path]] == 1 else "/".join(path) for where, path in paths.items()}


def _doubts(groups: dict[str, dict[Place, set[str]]], level: int) -> list[str]:
    apart = {student: {where[: level + 1] for where in _apart(group)} for student, group in groups.items()}
    return [
        SEVERAL.format(student=student, places=_listed(places), level=level + 1)
        for student, places in apart.items()
        if len(places) > 1
    ]


def _merged(groups: dict[str, dict[Place, set[str]]], level: int) -> list[str]:
    origins = {student: {where[:level] for where in group} for student, group in groups.items()}
    return [
        ONE.format(student=student, places=_listed(places)) for student, places in origins.items() if len(places) > 1
    ]


def _listed(places: Iterable[Place]) -> str:
    names = ["/".join(where) for where in sorted(places)]
    return str(COMMA).join(names[:MOST_NAMED] + ["…"] * (len(names) > MOST_NAMED))
