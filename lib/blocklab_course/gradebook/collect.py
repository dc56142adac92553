"""Collect the verdicts of checks in students' notebooks, and find the mistakes that many make."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from blocklab_course.i18n import Text
from blocklab_course.lessons.catalog import EXERCISES

from .grades import NOT_BEGUN, SOLVED, Grades, better_grade, saved_grades
from .notebooks import code_cells, is_notebook, load, walk, why_not_read
from .students import find_part, remarks_on_merged, student_names

WRONG_SUFFIX = Text(en="not read: its name does not end in `.ipynb`", zh="没有读取：文件名不是以 `.ipynb` 结尾")
NO_NOTEBOOK = Text(en="no notebook in this folder", zh="这个文件夹里没有笔记本")
FILE_PROBLEM = Text(en="{file}: {why}", zh="{file}：{why}")
SEMICOLON = Text(en="; ", zh="；")

_MISNAMED = re.compile(r"(?!\._).*(\.ipynb\W.*|\.(zip|tar|t?gz|bz2|xz|zst|7z|rar))", re.IGNORECASE | re.DOTALL)


@dataclass
class Report:
    """The best grade of every student on every exercise, over all their notebooks.

    problems: by file, what does not count, and why. ran: whether the grades come from running the notebooks here;
    otherwise they are what the students' files claim.
    """

    cells: dict[str, dict[str, str]]  # student → exercise → grade
    problems: dict[str, str]
    remarks: list[str] = field(default_factory=list)
    ran: bool = False

    @property
    def notes(self) -> list[str]:
        """The remarks, and one line per problem."""
        return [*self.remarks, *(FILE_PROBLEM.format(file=file, why=why) for file, why in self.problems.items())]

    @property
    def exercises(self) -> list[str]:
        """The exercises that someone has tried, in the order of the lessons."""
        return [name for name in EXERCISES if any(name in row for row in self.cells.values())]

    def common_mistakes(self) -> list[tuple[str, str, int]]:
        """The mistakes by frequency: (exercise, mistake, number of students)."""
        counts = Counter()
        for exercise, grade in (pair for row in self.cells.values() for pair in row.items()):
            if grade not in (SOLVED, NOT_BEGUN):
                counts.update((exercise, mistake) for mistake in dict.fromkeys(grade.split("+")))
        return [(*key, count) for key, count in counts.most_common()]


def collect(folder: Path, level: int | None = None, run: Callable[..., Grades] | None = None) -> Report:
    """Collect the verdicts in all notebooks below a folder, or those of running them with `run_notebook` as `run`.

    level: which of the names in a path is the student's; otherwise, `find_part` finds it out.
    """
    files, problems = walk(folder)
    notebooks = [file for file in files if is_notebook(file)]
    part = slice(level - 1, level) if level else find_part(notebooks)
    students = {file: "/".join(names[part]) or names[-1] for file in files for names in [student_names(file)]}
    rows, places = {}, defaultdict(set)
    problems |= {file: str(WRONG_SUFFIX) for file in files if _MISNAMED.fullmatch(file.name)}
    for file in notebooks:
        try:
            cells = code_cells(load(folder / file))
            own = [other for other in files if students[other] == students[file]] if run else []
            grades = run(folder, file, cells, own) if run else saved_grades(cells)
        except Exception as error:  # whatever it holds, one file must not end the report
            problems[file] = why_not_read(error)
            continue
        row = rows.setdefault(students[file], {})
        for name, grade in grades.best.items():
            row[name] = better_grade(row.get(name, NOT_BEGUN), grade)
            places[students[file], name].add(student_names(file))
        if grades.problems:
            problems[file] = str(SEMICOLON).join(dict.fromkeys(grades.problems))
    handed_in = {file.parts[0] for file in (*notebooks, *problems) if file.parts}
    others = (file for file in files if len(file.parts) == 1 and file.name not in handed_in)
    problems |= {file: str(NO_NOTEBOOK) for file in others if (folder / file).is_dir()}
    listed = {file.as_posix(): why for file, why in sorted(problems.items())}
    return Report(rows, listed, remarks_on_merged(places), run is not None)
