"""Identify the student of each notebook by its location."""

import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from operator import itemgetter
from pathlib import Path

from blocklab_course import i18n
from blocklab_course.i18n import LANGUAGES, Text

MAYBE_SEVERAL = Text(
    en="The same exercise is in several folders: {students} ({places}). If these are different students, add "
    "--level {level}.",
    zh="同一个练习出现在几个文件夹里：{students}（{places}）。如果这其实是几名学生，请加上 --level {level}。",
)
MERGED = Text(
    en="Counted as one student each, although their notebooks are in several folders: {students} ({places}).",
    zh="下列每个名字各算一名学生，笔记本却分在几个文件夹里：{students}（{places}）。",
)
MAX_NAMES = 10

OWN_FOLDERS = {*LANGUAGES, "my", "notebooks"}  # folders of the lessons and of the copies by `make lab`

Location = tuple[str, ...]  # the folders of a notebook, without the project's own, then its file name
ExercisesByLocation = dict[Location, set[str]]  # the exercises of the notebooks at each location


def location(inside: Path) -> Location:
    """The location of a notebook in the class's folder, without the project's own folders."""
    *folders, name = (unicodedata.normalize("NFC", part) for part in inside.parts)  # macOS may decompose characters
    return (*folders[:1], *(folder for folder in folders[1:] if folder not in OWN_FOLDERS), name)


def identify_students(
    tried: ExercisesByLocation, level: int | None = None
) -> tuple[dict[Location, str], list[str], int]:
    """The student of every notebook, remarks on where that may be wrong, and the level of the students' names.

    With a level, where 1 is directly in the class's folder, the student is the name at that level. Without one, it is
    the first level at which the notebooks' folders differ, or one deeper if these folders are sections, each of which
    has its own folders with the same exercises.
    """
    if level is None:
        start, level = _levels(tried)
        students = _names({where: where[start - 1 : level] for where in tried}, level)
        return students, _ambiguity_remarks(_groups(tried, students.get)), level
    students = _names({where: where[:level][-1:] for where in tried}, level)
    return students, _merge_remarks(_groups(tried, students.get), level), level


def _levels(tried: ExercisesByLocation) -> tuple[int, int]:
    """The first and the last level of a student's name."""
    folders = {where[:-1] for where in tried}
    alike = _common_prefix_length(folders)
    start = level = max(1, alike if any(len(folder) == alike for folder in folders) else alike + 1)
    while _are_sections(groups := _groups(tried, itemgetter(slice(level))), level):
        level += 1
        start += len(groups) == 1  # skip the folder of the whole class
    return start, level


def _common_prefix_length(places: Iterable[Location]) -> int:
    """The number of leading names that all locations share."""
    return sum(1 for _ in itertools.takewhile(lambda names: len(set(names)) == 1, zip(*places, strict=False)))


def _are_sections(groups: dict[object, ExercisesByLocation], level: int) -> bool:
    """Whether each folder at a level holds several students: no name in them occurs in two of them."""
    inside = Counter(name for group in groups.values() for name in {where[level : level + 1] for where in group})
    return max(inside.values(), default=0) == 1 and all(map(_conflicting, groups.values()))


def _groups(tried: ExercisesByLocation, key: Callable[[Location], object]) -> dict[object, ExercisesByLocation]:
    groups = defaultdict(dict)
    for where, exercises in tried.items():
        groups[key(where)][where] = exercises
    return groups


def _conflicting(group: ExercisesByLocation) -> set[Location]:
    """Notebooks of a group that hold the same exercise and don't seem to be copies of each other."""
    holders = defaultdict(list)
    for where, exercises in group.items():
        for exercise in exercises:
            holders[exercise].append(where)
    for places in holders.values():
        first = min(places, key=lambda where: (len(where), len(where[-1]), where))
        others = {where for where in places if not _may_be_one_students(first, where)}
        if others:
            return others | {first}
    return set()


_LESSON = re.compile(r"\d\d(?!\d)")  # the start of a lesson's name


def _may_be_one_students(first: Location, other: Location) -> bool:
    """Whether two notebooks may be one student's: one is in a subfolder, a copy or another lesson."""
    if other[: len(first) - 1] != first[:-1]:
        return False
    if len(first) < len(other):
        return True
    return other[-1].startswith(Path(first[-1]).stem) or all(map(_LESSON.match, (first[-1], other[-1])))


def _names(paths: dict[Location, Location], level: int) -> dict[Location, str]:
    """The student's name for every notebook; file names lose their suffix where that is unambiguous."""
    short = {
        path: "/".join((*path[:-1], _display_name(path[-1], level >= len(where)))) for where, path in paths.items()
    }
    taken = Counter(short.values())
    return {where: short[path] if taken[short[path]] == 1 else "/".join(path) for where, path in paths.items()}


def _display_name(last: str, is_file: bool) -> str:
    return Path(last).stem if is_file else last


def _ambiguity_remarks(groups: dict[str, ExercisesByLocation]) -> list[str]:
    """A remark on names that may be several students."""
    apart = {student: places for student, group in groups.items() if (places := _conflicting(group))}
    if not apart:
        return []
    first = next(iter(apart.values()))
    level = _common_prefix_length(first) + 1
    return [
        MAYBE_SEVERAL.format(students=join_names(apart), places=join_names(_path_prefixes(first, level)), level=level)
    ]


def _merge_remarks(groups: dict[str, ExercisesByLocation], level: int) -> list[str]:
    """A remark on notebooks in several folders that were merged because of their name."""
    origins = {student: paths for student, group in groups.items() if len(paths := _path_prefixes(group, level)) > 1}
    return (
        [MERGED.format(students=join_names(origins), places=join_names(next(iter(origins.values()))))]
        if origins
        else []
    )


def _path_prefixes(places: Iterable[Location], level: int) -> list[str]:
    return sorted({"/".join(where[:level]) for where in places})


def join_names(names: Iterable[str]) -> str:
    names = list(names)
    return i18n.join_words(names[:MAX_NAMES] + ["…"] * (len(names) > MAX_NAMES))
