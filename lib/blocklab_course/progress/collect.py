"""Collect a learner's progress from their folder, without running or writing anything."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from blocklab_course.gradebook.grades import NOT_BEGUN, SOLVED, Grades, better_grade, saved_grades
from blocklab_course.gradebook.notebooks import code_cells, is_notebook, load, walk, why_not_read
from blocklab_course.i18n import LANGUAGES, Text, get_language
from blocklab_course.lessons.catalog import EXERCISES, LESSONS, SAVED_EXERCISES, Lesson
from blocklab_course.workspace.files import Unreadable, read_at_most
from blocklab_course.workspace.folder import PREDICTIONS_FILE
from blocklab_course.workspace.predictions import count_predictions
from blocklab_course.workspace.solutions import display_path, read_code, solution_file_in

from .questions import Question, closing_questions, markdown_texts

MAX_QUESTIONS = 5
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
    attempts: dict[str, Attempts] = {}
    asked: dict[tuple[Lesson, str], list[Question]] = {}
    files, closed = walk(folder)
    problems = {f"{folder.name}/{file.as_posix()}": why for file, why in closed.items()}
    for file in sorted(filter(is_notebook, files), key=lambda file: (folder / file).lstat().st_mtime):
        name = f"{folder.name}/{file.as_posix()}"
        lesson, language = _copied_lesson(file)
        try:
            notebook = load(folder / file)
            grades = saved_grades(code_cells(notebook))
            questions = closing_questions(markdown_texts(notebook), language) if lesson else []
        except Exception as error:  # whatever it holds, one file must not end the page
            problems[name] = why_not_read(error)
            continue
        if lesson:
            asked.setdefault((lesson, language), questions)
            _add_grades(attempts, grades)
            messages = dict.fromkeys(grades.problems)
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


def _copied_lesson(file: Path) -> tuple[Lesson | None, str]:
    """The lesson of which a file, such as `en/05_layer_norm.ipynb`, is the learner's copy, and its language."""
    named, language = _LESSON.fullmatch(file.stem), file.parent.as_posix()
    return (_BY_PACKAGE.get(named[1]) if named and language in LANGUAGES else None), language


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
        return {file.relative_to(folder.parent).as_posix(): why_not_read(error)}
    return {}


def _readable_solutions(folder: Path, problems: dict[str, str]) -> Iterator[str]:
    """The saved solutions that can be read; none is run."""
    for name in SAVED_EXERCISES:
        file = solution_file_in(folder, name)
        try:
            read_code(file)
        except FileNotFoundError:
            continue
        except Exception as error:  # compiling may raise more than SyntaxError
            problems[display_path(file)] = why_not_read(error)
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
