"""Collect the verdicts of checks in students' notebooks, and find the mistakes that many make."""

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
    en="expected a folder with notebooks, got {folder}", zh="report 需要一个装有笔记本的文件夹，得到的是 {folder}"
)
EXCLUDED = Text(
    en="Not counted, because these seem to be verdicts on the lessons' own solutions: {cells}.",
    zh="下列结论看来属于课程自带的参考答案，没有计入：{cells}。",
)
NOTEBOOK_CELLS = Text(en="{notebook} (cell {cells})", zh="{notebook}（第 {cells} 个单元格）")
NO_NOTEBOOK = Text(en="no notebook in this folder", zh="这个文件夹里没有笔记本")
MORE_FILES = Text(en="more files of this kind: {count}", zh="类似的文件还有 {count} 个")
MAX_FILES = 10  # named per top-level folder of those that are not notebooks by their names
SEMICOLON = Text(en="; ", zh="；")
FILE_PROBLEM = Text(en="{file}: {why}", zh="{file}：{why}")

RunNotebook = Callable[[Path, list[Cell]], Grades]  # run a notebook and return its verdicts and problems
SourcedGrade = tuple[str, bool]  # a grade, and whether running the notebook here produced it


@dataclass(frozen=True)
class Report:
    """The best grade of every student on every exercise, over all their notebooks.

    problems: by file, what could not be read or run. ran: the grades that come from running a notebook here; all other
    grades are what the students' files claim. None if nothing was run.
    """

    cells: dict[str, dict[str, str]]  # student → exercise → grade
    problems: dict[str, str]
    remarks: list[str] = field(default_factory=list)
    ran: frozenset[tuple[str, str]] | None = None  # student, exercise

    @property
    def exercises(self) -> list[str]:
        """The exercises that someone has tried, in the order of the lessons, then unknown ones."""
        tried = {name for row in self.cells.values() for name in row}
        known = [name for name in EXERCISES if name in tried]
        return known + sorted(tried - EXERCISES.keys())

    def common_mistakes(self) -> list[tuple[str, str, int]]:
        """The mistakes by frequency: (exercise, mistake, number of students)."""
        counts = Counter(
            (exercise, mistake)
            for row in self.cells.values()
            for exercise, grade in row.items()
            if grade not in (SOLVED, NOT_BEGUN)
            for mistake in dict.fromkeys(grade.split("+"))
        )
        return [(*key, count) for key, count in counts.most_common()]

    @property
    def problem_lines(self) -> list[str]:
        """One line per problem."""
        return [FILE_PROBLEM.format(file=file, why=why) for file, why in self.problems.items()]

    def is_claimed(self, student: str, exercise: str) -> bool:
        """Whether the notebooks were run, but this grade does not come from the run."""
        return self.ran is not None and (student, exercise) not in self.ran


def lesson_number(exercise: str) -> str:
    """The number of the lesson with this exercise, such as "05"; empty for an unknown exercise."""
    known = EXERCISES.get(exercise)
    return known.lesson[:2] if known else ""


def collect(folder: Path, level: int | None = None, run: RunNotebook | None = None) -> Report:
    """Collect the verdicts of all notebooks below a folder; without `run`, nothing runs.

    level: see `students.identify_students`. Raises ValueError without a folder, and OSError if it cannot be opened.
    """
    if not folder.is_dir():
        raise ValueError(NO_FOLDER.format(folder=folder))
    os.scandir(folder).close()  # raises if it cannot be opened
    found: dict[Path, dict[str, SourcedGrade]] = {}
    problems: dict[str, str] = {}
    excluded: list[str] = []
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
                found[inside], messages, cells = _read_one(path, inside, run)
                if messages:
                    problems[inside.as_posix()] = str(SEMICOLON).join(messages)
                if cells:
                    excluded.append(
                        NOTEBOOK_CELLS.format(notebook=inside.as_posix(), cells=join_names(map(str, sorted(cells))))
                    )
            elif path.is_dir():
                folders.append(inside)
            elif may_hold_notebooks(path):
                strays.setdefault(inside.parts[0], []).append(inside)
        except (Unreadable, OSError) as reason:
            problems[inside.as_posix()] = why_not_opened(reason)
    for first, files in strays.items():
        problems |= {file.as_posix(): str(WRONG_SUFFIX) for file in files[:MAX_FILES]}
        if len(files) > MAX_FILES:
            problems[first] = MORE_FILES.format(count=len(files) - MAX_FILES)
    remarks = [EXCLUDED.format(cells=join_names(excluded))] if excluded else []
    return _report(found, folders, problems, remarks, level, run is not None)


def _read_one(path: Path, inside: Path, run: RunNotebook | None) -> tuple[dict[str, SourcedGrade], list[str], set[int]]:
    """The grades of one notebook, its problems, and the cells excluded as the lesson's solutions.

    The results of a run override what the file claims.
    """
    notebook = load(path)
    cells = code_cells(notebook)
    claimed = saved_grades(notebook, cells)
    ran = run(inside, cells) if run else Grades()
    grades = {exercise: (grade, False) for exercise, grade in claimed.best.items()}
    grades |= {exercise: (grade, True) for exercise, grade in ran.best.items()}
    return grades, claimed.problems + ran.problems, claimed.excluded | ran.excluded


def _report(
    found: dict[Path, dict[str, SourcedGrade]],
    folders: list[Path],
    problems: dict[str, str],
    remarks: list[str],
    level: int | None,
    with_run: bool,
) -> Report:
    tried: dict[Location, set[str]] = {}
    for path, grades in found.items():
        tried.setdefault(location(path), set()).update(grades)
    students, doubts, level = identify_students(tried, level)
    rows: dict[str, dict[str, SourcedGrade]] = {student: {} for student in students.values()}
    for path, grades in found.items():
        row = rows[students[location(path)]]
        unknown = grades.keys() - EXERCISES.keys() - row.keys()
        limit = max(0, MAX_UNKNOWN - len(row.keys() - EXERCISES.keys()))
        if len(unknown) > limit:
            why = problems.get(path.as_posix())
            problems[path.as_posix()] = str(SEMICOLON).join(filter(None, (why, str(TOO_MANY_UNKNOWN))))
        for exercise in grades.keys() - set(sorted(unknown)[limit:]):
            best = row.get(exercise, grades[exercise])
            row[exercise] = max(grades[exercise], best, key=_order)  # the later one if equal
    mentioned = {parent for path in (*found, *map(Path, problems)) for parent in (path, *path.parents)}
    problems |= {
        path.as_posix(): str(NO_NOTEBOOK) for path in folders if _is_empty_student_folder(path, mentioned, level)
    }
    cells = {student: {name: grade for name, (grade, _) in row.items()} for student, row in rows.items()}
    ran = frozenset((student, name) for student, row in rows.items() for name, (_, here) in row.items() if here)
    return Report(cells, problems, doubts + remarks, ran if with_run else None)


def _is_empty_student_folder(folder: Path, mentioned: set[Path], level: int) -> bool:
    """Whether a folder may belong to a student or a section, and nothing in it was read or mentioned."""
    *above, name = location(folder / "_")[:-1]
    a_students = len(above) < level and name == unicodedata.normalize("NFC", folder.name)
    return a_students and folder not in mentioned and (folder.parent in mentioned or len(folder.parts) == 1)


def _order(sourced: SourcedGrade) -> tuple[int, bool]:
    grade, ran = sourced
    return grade_order(grade), ran
