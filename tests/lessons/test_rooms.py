"""The list of lessons, the rooms, the lessons' sources and the exercises fit together."""

import ast
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from blocklab import lessons
from blocklab.lessons import LESSONS
from blocklab.lessons.order import Lesson
from blocklab.report.handed_in import CALLED
from imports import imported

TREE = Path(lessons.__file__).parent
SOURCES = Path(__file__).parents[2] / "notebooks" / "source"


def checked(source: str) -> set[str]:
    """The exercises that code hands to `check` by name, or to `catch`."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
    named = [(call.func.id, call.args[0]) for call in calls if isinstance(call.func, ast.Name)]
    return {CALLED[by] + name.value for by, name in named if by in CALLED and isinstance(name, ast.Constant)}


def unused(tree: Path, sources: Mapping[str, str]) -> set[str]:
    """The modules of the rooms that no lesson's source imports, neither itself nor through a module that it imports."""
    files = {f"blocklab.lessons.{file.parent.name}.{file.stem}": file for file in tree.glob("*/*.py")}
    left = {module for module, file in files.items() if file.stem not in ("__init__", "exercises")}
    names = {name for source in sources.values() for name in imported(source, "", is_package=False)}
    while used := {module for module in left if any(f"{name}.".startswith(f"{module}.") for name in names)}:
        left -= used
        names = {name for module in used for name in imported(files[module].read_text("utf-8"), module, False)}
    return left


def misfits(
    lessons: Sequence[Lesson], tree: Path, sources: Mapping[str, str], held: Mapping[str, Sequence[str]]
) -> list[str]:
    """What does not fit.

    lessons: the list. tree: the folder of the rooms. sources: those of the lessons, by their names. held: by room the
    names of its EXERCISES.
    """
    rooms = {file.parent.name for file in tree.glob("*/*.py")}
    listed = {lesson.room for lesson in lessons}
    room_of = {name: lesson.room for lesson in lessons for name in lesson.exercises}
    asked = {name for source in sources.values() for name in checked(source)}
    found = [f"{room}: the list names it, and {tree.name}/ has no such folder" for room in listed - rooms]
    found += [f"{room}: a folder of {tree.name}/ that the list does not name" for room in rooms - listed]
    found += [f"{lesson.name}: no source" for lesson in lessons if lesson.name not in sources]
    found += [f"{module}: no source of a lesson uses it" for module in unused(tree, sources)]
    found += [f"{name}: no source of a lesson hands it to `check`" for name in room_of.keys() - asked]
    for room in listed | held.keys():
        names, wanted = held.get(room, []), [name for name in room_of if room_of[name] == room]
        found += [
            f"{name}: held by {room}, " + (f"listed for {room_of[name]}" if name in room_of else "not in the list")
            for name in names
            if name not in wanted
        ]
        found += [f"{name}: listed for {room}, which does not hold it" for name in wanted if name not in names]
        if sorted(names) == sorted(wanted) and list(names) != wanted:
            found.append(f"{room}: holds {', '.join(names)}, listed as {', '.join(wanted)}")
    return sorted(found)


def test_list_rooms_sources_and_exercises_fit():
    sources = {file.stem: file.read_text("utf-8") for file in SOURCES.glob("*.py")}
    rooms = {path.parent.name for path in TREE.glob("*/exercises*")}
    tables = {room: import_module(f"blocklab.lessons.{room}.exercises").EXERCISES for room in rooms}
    held = {room: [exercise.name for exercise in table] for room, table in tables.items()}
    found = misfits(LESSONS, TREE, sources, held)
    assert found == [], "\n".join(found)


# The test itself, on a made-up tree of two rooms

FILES = {
    "waves/__init__.py": "",
    "waves/one_wave.py": "from .ripples import draw",
    "waves/ripples.py": "from blocklab.lessons.waves import foam",
    "waves/foam.py": "",
    "waves/exercises.py": "",
    "tides/__init__.py": "",
    "tides/ebb.py": "",
    "tides/exercises/__init__.py": "",
    "tides/exercises/table.py": "",
}
WAVES = Lesson(0, "waves", ("crest", "catch_trough"))
TIDES = Lesson(1, "tides", ("moon",))
SHOWN = {
    "00_waves": 'from blocklab.lessons.waves import one_wave\none_wave.panel()\ncheck("crest", 1)\ncatch("trough", 2)',
    "01_tides": 'def later():\n    from blocklab.lessons.tides.ebb import flow\n    assert check("moon", flow)',
}
HELD = {"waves": ["crest", "catch_trough"], "tides": ["moon"]}


MISFITS = {
    "nothing": ({}, {}, []),
    "a lesson without its room": (
        {},
        {"lessons": (WAVES, TIDES, Lesson(2, "sand", ("grain",)))},
        [
            "02_sand: no source",
            "grain: listed for sand, which does not hold it",
            "grain: no source of a lesson hands it to `check`",
            "sand: the list names it, and lessons/ has no such folder",
        ],
    ),
    "a room that is not listed": (
        {"sand/__init__.py": ""},
        {},
        ["sand: a folder of lessons/ that the list does not name"],
    ),
    "a lesson without its source": (
        {},
        {"sources": {"00_waves": SHOWN["00_waves"]}},
        [
            "01_tides: no source",
            "blocklab.lessons.tides.ebb: no source of a lesson uses it",
            "moon: no source of a lesson hands it to `check`",
        ],
    ),
    "a picture of no lesson": (
        {"tides/flood.py": ""},
        {},
        ["blocklab.lessons.tides.flood: no source of a lesson uses it"],
    ),
    "pictures that use each other alone": (
        {"tides/ebb_tide.py": "from . import ebb_tide_too", "tides/ebb_tide_too.py": "from . import ebb_tide"},
        {},
        [
            "blocklab.lessons.tides.ebb_tide: no source of a lesson uses it",
            "blocklab.lessons.tides.ebb_tide_too: no source of a lesson uses it",
        ],
    ),
    "a part that its picture left": (
        {"waves/ripples.py": ""},
        {},
        ["blocklab.lessons.waves.foam: no source of a lesson uses it"],
    ),
    "an exercise of no lesson": (
        {},
        {"sources": SHOWN | {"01_tides": SHOWN["01_tides"].replace("check", "solve")}},
        ["moon: no source of a lesson hands it to `check`"],
    ),
    "an exercise that is not listed": (
        {},
        {"held": HELD | {"tides": ["moon", "sun"]}},
        ["sun: held by tides, not in the list"],
    ),
    "an exercise that is not held": (
        {},
        {"held": HELD | {"tides": []}},
        ["moon: listed for tides, which does not hold it"],
    ),
    "an exercise in another room": (
        {},
        {"held": {"waves": ["crest"], "tides": ["moon", "catch_trough"]}},
        ["catch_trough: held by tides, listed for waves", "catch_trough: listed for waves, which does not hold it"],
    ),
    "exercises in another order": (
        {},
        {"held": HELD | {"waves": ["catch_trough", "crest"]}},
        ["waves: holds catch_trough, crest, listed as crest, catch_trough"],
    ),
}


@pytest.mark.parametrize(("files", "given", "found"), MISFITS.values(), ids=MISFITS)
def test_what_does_not_fit_is_named(files, given, found, tmp_path):
    tree = tmp_path / "lessons"
    for name, text in (FILES | files).items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, "utf-8")
    assert misfits(**{"lessons": (WAVES, TIDES), "tree": tree, "sources": SHOWN, "held": HELD} | given) == found
