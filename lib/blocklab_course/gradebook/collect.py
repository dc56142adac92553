"""Which misconception does the class share? Read the verdicts that checks left in students' notebooks."""

import os
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from blocklab_course.i18n import Text
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.workspace.files import LINK, Unreadable, why_not_opened

from .grades import MAX_UNKNOWN, NOT_BEGUN, SOLVED, TOO_MANY_UNKNOWN, Grades, grade_order, saved_grades
from .notebooks import WRONG_SUFFIX, Cell, code_cells, is_notebook, links_to_folder, load, may_hold_notebooks, walk
from .students import Location, identify_students, join_names, location

NO_FOLDER = Text(
    en="report wants a folder with notebooks, got {folder}", zh="report 需要一个装有笔记本的文件夹，得到的是 {folder}"
)
LEFT_OUT = Text(
    en="Verdicts taken for the lessons' own solutions, and left out: {cells}.",
    zh="下列结论看来属于课程自带的参考答案，没有计入：{cells}。",
)
NOTEBOOK_CELLS = Text(en="{notebook} (cell {cells})", zh="{notebook}（第 {cells} 个单元格）")
NO_NOTEBOOK = Text(en="no notebook in this folder", zh="这个文件夹里没有笔记本")
MORE_FILES = Text(en="more files of this kind: {count}", zh="类似的文件还有 {count} 个")
MAX_FILES = 10  # named of those in one folder of the class that are no notebooks by their names
SEMICOLON = Text(en="; ", zh="；")
FILE_PROBLEM = Text(en="{file}: {why}", zh="{file}：{why}")

RunNotebook = Callable[[Path, list[Cell]], Grades]  # runs a notebook: its verdicts, and why it did not come to its end
SourcedGrade = tuple[str, bool]  # a mark, and whether it comes from running the notebook here


@dataclass(frozen=True)
class Report:
    """The best verdict of every student on every exercise, over all their notebooks.

    `faults` are the notebooks, or what is in them, that could not be read or run. `ran` are the verdicts that come
    from running a notebook here, all others being what the students' files claim; None if nothing was to run.
    """

    cells: dict[str, dict[str, str]]  # student → exercise → mark
    faults: dict[str, str]
    remarks: list[str] = field(default_factory=list)
    ran: frozenset[tuple[str, str]] | None = None  # student, exercise

    @property
    def exercises(self) -> list[str]:
        """The exercises that anybody has tried, in the order of the lessons; unknown ones last."""
        tried = {name for row in self.cells.values() for name in row}
        known = [name for name in EXERCISES if name in tried]
        return known + sorted(tried - EXERCISES.keys())

    def shared(self) -> list[tuple[str, str, int]]:
        """The mistakes that stand at an exercise, the most frequent first: (exercise, mistake, how many students)."""
        counts = Counter(
            (exercise, mistake)
            for row in self.cells.values()
            for exercise, mark in row.items()
            if mark not in (SOLVED, NOT_BEGUN)
            for mistake in dict.fromkeys(mark.split("+"))
        )
        return [(*key, count) for key, count in counts.most_common()]

    @property
    def told_faults(self) -> list[str]:
        """The faults, a line each."""
        return [FILE_PROBLEM.format(file=file, why=why) for file, why in self.faults.items()]

    def claimed(self, student: str, exercise: str) -> bool:
        """Whether a verdict stands beside others that ran here, but did not run itself."""
        return self.ran is not None and (student, exercise) not in self.ran


def lesson_number(exercise: str) -> str:
    """The number of the lesson that explains an exercise, "05"; empty for an exercise that does not exist."""
    known = EXERCISES.get(exercise)
    return known.lesson[:2] if known else ""


def collect(folder: Path, level: int | None = None, run: RunNotebook | None = None) -> Report:
    """Collect the verdicts of all notebooks below a folder; without `run`, nothing runs.

    Who a student is, `level` says or finds out: see `students.tell_apart`. Raises ValueError without a folder,
    and OSError if it cannot be opened.
    """
    if not folder.is_dir():
        raise ValueError(NO_FOLDER.format(folder=folder))
    os.scandir(folder).close()  # or say why it cannot be opened
    found: dict[Path, dict[str, SourcedGrade]] = {}
    faults: dict[str, str] = {}
    left_out: list[str] = []
    strays: dict[str, list[Path]] = {}  # by the first folder
    folders: list[Path] = []
    for path, error in sorted(walk(folder), key=lambda pair: pair[0]):
        inside = path.relative_to(folder)
        try:
            if error:
                raise error
            if links_to_folder(path):
                raise Unreadable(LINK)
            if is_notebook(path):
                found[inside], told, cells = _read_one(path, inside, run)
                if told:
                    faults[inside.as_posix()] = str(SEMICOLON).join(told)
                if cells:
                    left_out.append(
                        NOTEBOOK_CELLS.format(notebook=inside.as_posix(), cells=join_names(map(str, sorted(cells))))
                    )
            elif path.is_dir():
                folders.append(inside)
            elif may_hold_notebooks(path):
                strays.setdefault(inside.parts[0], []).append(inside)
        except (Unreadable, OSError) as reason:
            faults[inside.as_posix()] = why_not_opened(reason)
    for first, files in strays.items():
        faults |= {file.as_posix(): str(WRONG_SUFFIX) for file in files[:MAX_FILES]}
        if len(files) > MAX_FILES:
            faults[first] = MORE_FILES.format(count=len(files) - MAX_FILES)
    remarks = [LEFT_OUT.format(cells=join_names(left_out))] if left_out else []
    return _report(found, folders, faults, remarks, level, run is not None)


def _read_one(path: Path, inside: Path, run: RunNotebook | None) -> tuple[dict[str, SourcedGrade], list[str], set[int]]:
    """The standings of one notebook, what was wrong in it, and the cells taken for the lesson's solutions.

    What ran overrules what the file claims.
    """
    notebook = load(path)
    cells = code_cells(notebook)
    claimed = saved_grades(notebook, cells)
    ran = run(inside, cells) if run else Grades()
    standings = {exercise: (mark, False) for exercise, mark in claimed.best.items()}
    standings |= {exercise: (mark, True) for exercise, mark in ran.best.items()}
    return standings, claimed.faults + ran.faults, claimed.left_out | ran.left_out


def _report(
    found: dict[Path, dict[str, SourcedGrade]],
    folders: list[Path],
    faults: dict[str, str],
    remarks: list[str],
    level: int | None,
    with_run: bool,
) -> Report:
    tried: dict[Location, set[str]] = {}
    for path, standings in found.items():
        tried.setdefault(location(path), set()).update(standings)
    students, doubts, level = identify_students(tried, level)
    rows: dict[str, dict[str, SourcedGrade]] = {student: {} for student in students.values()}
    for path, standings in found.items():
        row = rows[students[location(path)]]
        unknown = standings.keys() - EXERCISES.keys() - row.keys()
        room = max(0, MAX_UNKNOWN - len(row.keys() - EXERCISES.keys()))
        if len(unknown) > room:
            why = faults.get(path.as_posix())
            faults[path.as_posix()] = str(SEMICOLON).join(filter(None, (why, str(TOO_MANY_UNKNOWN))))
        for exercise in standings.keys() - set(sorted(unknown)[room:]):
            best = row.get(exercise, standings[exercise])
            row[exercise] = max(standings[exercise], best, key=_order)  # of equals, the later one
    told = {parent for path in (*found, *map(Path, faults)) for parent in (path, *path.parents)}
    faults |= {path.as_posix(): str(NO_NOTEBOOK) for path in folders if _is_empty_student_folder(path, told, level)}
    cells = {student: {name: mark for name, (mark, _) in row.items()} for student, row in rows.items()}
    ran = frozenset((student, name) for student, row in rows.items() for name, (_, here) in row.items() if here)
    return Report(cells, faults, doubts + remarks, ran if with_run else None)


def _is_empty_student_folder(folder: Path, told: set[Path], level: int) -> bool:
    """Whether a folder may be a student's, or a section's, and nothing in it was read or named."""
    *above, name = location(folder / "_")[:-1]
    a_students = len(above) < level and name == unicodedata.normalize("NFC", folder.name)
    return a_students and folder not in told and (folder.parent in told or len(folder.parts) == 1)


def _order(standing: SourcedGrade) -> tuple[int, bool]:
    mark, ran = standing
    return grade_order(mark), ran
