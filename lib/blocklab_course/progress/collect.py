"""What the learner's folder tells of them: read, never run, and written nowhere."""

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from blocklab.my_files import PREDICTIONS
from blocklab_course.gradebook.grades import NOT_BEGUN, SOLVED, Grades, better_grade, saved_grades
from blocklab_course.gradebook.notebooks import code_cells, is_notebook, links_to_folder, load, markdown_texts, walk
from blocklab_course.gradebook.students import join_names
from blocklab_course.i18n import LANGUAGES, Text, get_language
from blocklab_course.lessons.catalog import EXERCISES, LESSONS, SAVED_EXERCISES, Lesson
from blocklab_course.workspace.files import LINK, SPECIAL, Unreadable, why_not_opened
from blocklab_course.workspace.folder import PREDICTIONS_FILE
from blocklab_course.workspace.predictions import count_predictions
from blocklab_course.workspace.solutions import display_path, read_code, solution_file_in

from .questions import Question, closing_questions

MAX_QUESTIONS = 5
UNKNOWN_EXERCISES = Text(en="exercises that do not exist here: {names}", zh="这里没有这些练习：{names}")
NOT_A_COPY = Text(
    en="none of your copies of the lessons, so what passed in it is not counted ({count})",
    zh="这不是你的课程副本，里面通过的练习（{count} 个）没有计入",
)
SEMICOLON = Text(en="; ", zh="；")

_LESSON = re.compile(r"\d\d_(\w+?)(?:-Copy\d+)?")  # as JupyterLab calls copies; a lesson may get another number
_BY_PACKAGE = {lesson.room: lesson for lesson in LESSONS}


@dataclass(frozen=True)
class Attempts:
    """The marks of an exercise: the best one that its saved verdicts tell, and that of the notebook saved last."""

    best: str = NOT_BEGUN
    last: str = NOT_BEGUN

    @property
    def passed(self) -> bool:
        return self.best == SOLVED

    @property
    def mistake(self) -> str | None:
        """What to look at again: the mistake of the last attempt, also where an earlier one has passed."""
        return None if self.last in (SOLVED, NOT_BEGUN) else self.last


@dataclass(frozen=True)
class Progress:
    """How far somebody has come. `faults` are files that could not be read, or were not counted, with the reasons."""

    attempts: dict[str, Attempts] = field(default_factory=dict)  # by exercise, in the order of the lessons
    guessed: int = 0
    guessed_right: int = 0
    blocks: tuple[str, ...] = ()
    questions: tuple[tuple[Lesson, Question], ...] = ()
    faults: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> int:
        return sum(attempts.passed for attempts in self.attempts.values())


def collect(folder: Path, draw: random.Random | None = None) -> Progress:
    """What a learner's folder tells, both languages taken together. `draw` chooses the questions."""
    faults: dict[str, str] = {}
    attempts: dict[str, Attempts] = {}
    asked: dict[tuple[Lesson, str], list[Question]] = {}
    for path in _notebooks(folder, faults):
        name = path.relative_to(folder.parent).as_posix()
        try:
            notebook = load(path)
        except (Unreadable, OSError) as error:
            faults[name] = why_not_opened(error)
            continue
        marks, lesson, language = (
            saved_grades(notebook, code_cells(notebook)),
            _lesson_from_name(path),
            path.parent.name,
        )
        if lesson and path.parent.parent == folder and language in LANGUAGES:
            asked.setdefault((lesson, language), closing_questions(markdown_texts(notebook), language))
            _add_grades(attempts, marks)
            unknown = [exercise for exercise in marks.best if exercise not in EXERCISES]
            told = marks.faults + [UNKNOWN_EXERCISES.format(names=join_names(unknown))] * bool(unknown)
        else:
            passed = sum(mark == SOLVED for mark in marks.best.values())
            told = [NOT_A_COPY.format(count=passed)] * bool(marks.best)
        if told:
            faults[name] = str(SEMICOLON).join(told)
    guessed, right = predictions(folder)
    faults |= _unreadable_predictions(folder / PREDICTIONS, folder)
    blocks = tuple(_readable_solutions(folder, faults))
    attempts = {exercise: attempts[exercise] for exercise in EXERCISES if exercise in attempts}
    return Progress(attempts, guessed, right, blocks, _draw_questions(attempts, asked, draw or random.Random()), faults)


def _notebooks(folder: Path, faults: dict[str, str]) -> list[Path]:
    """The notebooks below a folder, the one saved last at the end; what may hide some is named."""
    found = []
    for path, error in sorted(walk(folder), key=lambda pair: pair[0]):
        name = path.relative_to(folder.parent).as_posix()
        if error or links_to_folder(path):
            faults[name] = why_not_opened(error or Unreadable(LINK))
        elif is_notebook(path):
            found.append(path)
    return sorted(found, key=lambda path: path.lstat().st_mtime)


def _lesson_from_name(path: Path) -> Lesson | None:
    """The lesson of which a notebook bears the name."""
    named = _LESSON.fullmatch(path.stem)
    return _BY_PACKAGE.get(named[1]) if named else None


def _add_grades(attempts: dict[str, Attempts], marks: Grades) -> None:
    """Take the marks of one more notebook into account, which was saved later than those before."""
    for exercise, best in marks.best.items():
        before, last = attempts.get(exercise, Attempts()), marks.last[exercise]
        last = before.last if last == NOT_BEGUN else last
        attempts[exercise] = Attempts(better_grade(before.best, best), last)


def _unreadable_predictions(file: Path, folder: Path) -> dict[str, str]:
    """Why the guesses cannot be counted, if there are any."""
    try:
        if os.path.lexists(file) and not file.is_file():
            raise Unreadable(SPECIAL)
        if file.exists():
            file.open("rb").close()
    except (Unreadable, OSError) as error:
        return {file.relative_to(folder.parent).as_posix(): why_not_opened(error)}
    return {}


def _readable_solutions(folder: Path, faults: dict[str, str]) -> Iterator[str]:
    """The blocks that are kept and can be read; none is run."""
    for name in SAVED_EXERCISES:
        file = solution_file_in(folder, name)
        try:
            read_code(file)
        except FileNotFoundError:
            continue
        except (Unreadable, OSError) as error:
            faults[display_path(file)] = why_not_opened(error)
            continue
        yield name


def _draw_questions(
    attempts: dict[str, Attempts], asked: dict[tuple[Lesson, str], list[Question]], draw: random.Random
) -> tuple[tuple[Lesson, Question], ...]:
    """Questions of lessons that are done, in the order of the lessons: half of a lesson's exercises passed, or more."""
    others = [language for language in LANGUAGES if language != get_language()]
    pool = []
    for lesson in LESSONS:
        passed = sum(name in attempts and attempts[name].passed for name in lesson.exercises)
        if passed and 2 * passed >= len(lesson.exercises):
            questions = next(
                filter(None, (asked.get((lesson, language)) for language in (get_language(), *others))), []
            )
            pool += [(lesson, question) for question in questions]
    return tuple(pool[number] for number in sorted(draw.sample(range(len(pool)), min(MAX_QUESTIONS, len(pool)))))
