"""Collect a learner's progress from their folder, without running or writing anything."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from blocklab_course.gradebook.grades import NOT_BEGUN, SOLVED, Grades, better_grade, saved_grades
from blocklab_course.gradebook.notebooks import code_cells, is_notebook, links_to_folder, load, markdown_texts, walk
from blocklab_course.gradebook.students import join_names
from blocklab_course.i18n import LANGUAGES, Text, get_language
from blocklab_course.lessons.catalog import EXERCISES, LESSONS, SAVED_EXERCISES, Lesson
from blocklab_course.workspace.files import LINK, Unreadable, read_at_most, why_not_opened
from blocklab_course.workspace.folder import PREDICTIONS_FILE
from blocklab_course.workspace.predictions import count_predictions
from blocklab_course.workspace.solutions import display_path, read_code, solution_file_in

from .questions import Question, closing_questions

MAX_QUESTIONS = 5
UNKNOWN_EXERCISES = Text(en="unknown exercises: {names}", zh="这里没有这些练习：{names}")
NOT_A_COPY = Text(
    en="not one of your copies of the lessons, so its passed exercises ({count}) are not counted",
    zh="这不是你的课程副本，里面通过的练习（{count} 个）没有计入",
)
SEMICOLON = Text(en="; ", zh="；")

_LESSON = re.compile(r"\d\d_(\w+?)(?:-Copy\d+)?")  # "-Copy1" as JupyterLab names copies; a lesson's number may change
_BY_PACKAGE = {lesson.package: lesson for lesson in LESSONS}


@dataclass(frozen=True)
class Attempts:
    """The grades of an exercise: the best one in all notebooks, and that of the notebook saved last."""

    best: str = NOT_BEGUN
    last: str = NOT_BEGUN

    @property
    def passed(self) -> bool:
        return self.best == SOLVED

    @property
    def mistake(self) -> str | None:
        """The mistake of the last attempt, also if an earlier one has passed."""
        return None if self.last in (SOLVED, NOT_BEGUN) else self.last


@dataclass(frozen=True)
class Progress:
    """A learner's progress. `problems` holds the files that could not be read or are not counted, with reasons."""

    attempts: dict[str, Attempts] = field(default_factory=dict)  # by exercise, in the order of the lessons
    predictions: int = 0
    right_predictions: int = 0
    solutions: tuple[str, ...] = ()
    questions: tuple[tuple[Lesson, Question], ...] = ()
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> int:
        return sum(attempts.passed for attempts in self.attempts.values())


def collect(folder: Path, rng: random.Random | None = None) -> Progress:
    """Collect the progress in a learner's folder, over both languages. `rng` chooses the questions."""
    problems: dict[str, str] = {}
    attempts: dict[str, Attempts] = {}
    asked: dict[tuple[Lesson, str], list[Question]] = {}
    for path in _notebooks(folder, problems):
        name = path.relative_to(folder.parent).as_posix()
        try:
            notebook = load(path)
        except (Unreadable, OSError) as error:
            problems[name] = why_not_opened(error)
            continue
        grades = saved_grades(notebook, code_cells(notebook))
        lesson, language = _lesson_from_name(path), path.parent.name
        if lesson and path.parent.parent == folder and language in LANGUAGES:
            asked.setdefault((lesson, language), closing_questions(markdown_texts(notebook), language))
            _add_grades(attempts, grades)
            unknown = [exercise for exercise in grades.best if exercise not in EXERCISES]
            messages = grades.problems + [UNKNOWN_EXERCISES.format(names=join_names(unknown))] * bool(unknown)
        else:
            passed = sum(grade == SOLVED for grade in grades.best.values())
            messages = [NOT_A_COPY.format(count=passed)] * bool(grades.best)
        if messages:
            problems[name] = str(SEMICOLON).join(messages)
    predicted, right = count_predictions(folder)
    problems |= _unreadable_predictions(folder / PREDICTIONS_FILE, folder)
    solutions = tuple(_readable_solutions(folder, problems))
    attempts = {exercise: attempts[exercise] for exercise in EXERCISES if exercise in attempts}
    return Progress(
        attempts, predicted, right, solutions, _draw_questions(attempts, asked, rng or random.Random()), problems
    )


def _notebooks(folder: Path, problems: dict[str, str]) -> list[Path]:
    """The notebooks below a folder, in the order in which they were saved; unreadable folders go to `problems`."""
    found = []
    for path, error in sorted(walk(folder), key=lambda pair: pair[0]):
        name = path.relative_to(folder.parent).as_posix()
        if error or links_to_folder(path):
            problems[name] = why_not_opened(error or Unreadable(LINK))
        elif is_notebook(path):
            found.append(path)
    return sorted(found, key=lambda path: path.lstat().st_mtime)


def _lesson_from_name(path: Path) -> Lesson | None:
    """The lesson that a notebook is named after."""
    named = _LESSON.fullmatch(path.stem)
    return _BY_PACKAGE.get(named[1]) if named else None


def _add_grades(attempts: dict[str, Attempts], grades: Grades) -> None:
    """Add the grades of a notebook that was saved after those before."""
    for exercise, best in grades.best.items():
        before, last = attempts.get(exercise, Attempts()), grades.last[exercise]
        last = before.last if last == NOT_BEGUN else last
        attempts[exercise] = Attempts(better_grade(before.best, best), last)


def _unreadable_predictions(file: Path, folder: Path) -> dict[str, str]:
    """Why the predictions cannot be read, if they cannot."""
    try:
        read_at_most(file, 1)
    except FileNotFoundError:
        return {}
    except (Unreadable, OSError) as error:
        return {file.relative_to(folder.parent).as_posix(): why_not_opened(error)}
    return {}


def _readable_solutions(folder: Path, problems: dict[str, str]) -> Iterator[str]:
    """The saved solutions that can be read; none is run."""
    for name in SAVED_EXERCISES:
        file = solution_file_in(folder, name)
        try:
            read_code(file)
        except FileNotFoundError:
            continue
        except (Unreadable, OSError) as error:
            problems[display_path(file)] = why_not_opened(error)
            continue
        yield name


def _draw_questions(
    attempts: dict[str, Attempts], asked: dict[tuple[Lesson, str], list[Question]], rng: random.Random
) -> tuple[tuple[Lesson, Question], ...]:
    """Draw questions from lessons of which at least half of the exercises are passed, in the order of the lessons."""
    others = [language for language in LANGUAGES if language != get_language()]
    pool = []
    for lesson in LESSONS:
        passed = sum(name in attempts and attempts[name].passed for name in lesson.exercises)
        if passed and 2 * passed >= len(lesson.exercises):
            questions = next(
                filter(None, (asked.get((lesson, language)) for language in (get_language(), *others))), []
            )
            pool += [(lesson, question) for question in questions]
    return tuple(pool[number] for number in sorted(rng.sample(range(len(pool)), min(MAX_QUESTIONS, len(pool)))))
