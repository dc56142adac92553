"""The progress page as text and as HTML."""

import re
from collections.abc import Callable, Iterable, Iterator
from html import escape
from pathlib import Path

from blocklab_course.cards import BLUE, GREEN, ORANGE, big_number, card, chip, columns, grid, paragraph, remark
from blocklab_course.checks.safe_repr import truncate
from blocklab_course.checks.verdict import heading_anchor, to_html, to_text
from blocklab_course.gradebook.grades import NOT_BEGUN, SOLVED, UNKNOWN
from blocklab_course.gradebook.sanitize import sanitize
from blocklab_course.i18n import Text, join_words
from blocklab_course.lessons.catalog import EXERCISES, LESSONS, SAVED_EXERCISES, Lesson
from blocklab_course.workspace.folder import FOLDER_NAME, on_colab, workspace_folder

from .collect import Attempts, Progress
from .questions import Question

TITLE = Text(en="Your progress", zh="你的进度")
EMPTY = Text(
    en="This page fills up once you work in your own copy: `make lab` opens one, and on Colab “Copy to Drive” makes "
    "one. It then shows the exercises you have passed, your predictions, your saved solutions, mistakes to review, and "
    "five questions from lessons that you have done.",
    zh="用自己的副本来学，这里才会有内容：在本机用 `make lab` 打开，在 Colab 上先点“复制到云端硬盘”。"
    "到时候，这一页会列出：通过的练习、猜对的次数、保存的模块、值得再看一看的错误，还会从学过的课里抽出五个问题。",
)
SAVED = Text(
    en="Read from the notebooks in `{folder}/` as last saved; nothing leaves this machine.",
    zh="内容取自 `{folder}/` 里的笔记本，以最近一次保存的为准，不会离开这台机器。",
)
COLAB = Text(
    en="On Colab your notebooks are in your Drive, which this page does not read: it only counts predictions and saved "
    "solutions.",
    zh="在 Colab 上，你的笔记本存放在云端硬盘里，这一页不会去读，所以只统计猜测和保存的模块。",
)
PASSED = Text(en="Exercises passed: {count} of {total}", zh="通过的练习：{count}/{total}")
PREDICTIONS = Text(en="Predictions: {count}; right: {right}", zh="猜过的问题：{count} 个；猜对：{right} 个")
SAVED_SOLUTIONS = Text(en="Saved solutions: {count} of {total}", zh="保存的模块：{count}/{total}")
EXERCISES_PASSED = Text(en="exercises passed", zh="通过的练习")
GUESSES_RIGHT = Text(en="guesses right", zh="猜对的问题")
SOLUTIONS_SAVED = Text(en="solutions saved", zh="保存的模块")
SAVED_NAMES = Text(en="Saved: {names}", zh="已保存：{names}")
NUMBER_WIDTH = 175  # px
WITH_NAMES = Text(en="{what} ({names})", zh="{what}（{names}）")
REVIEW = Text(en="To review", zh="值得再看一看")
QUESTIONS = Text(en="Questions from lessons that you have done", zh="从学过的课里抽出的问题")
ANSWERS = Text(en="Answers", zh="答案")
ANSWER = Text(en="Answer", zh="答案")
NOT_COUNTED = Text(en="Not counted", zh="没有计入")
LABELED = Text(en="{label}: {text}", zh="{label}：{text}")
MORE = Text(en="more of this kind: {count}", zh="类似的还有 {count} 个")
MAX_NAMED = 10  # of the files that are not counted
MAX_LENGTH = 2_000  # characters of a question or an answer

STATES = {
    SOLVED: Text(en="passed", zh="已通过"),
    NOT_BEGUN: Text(en="not begun", zh="还没写"),
    UNKNOWN: Text(en="not right yet", zh="还不对"),
}
WRONG_SINCE = Text(en="{state}; the last attempt: {mistake}", zh="{state}；最近一次：{mistake}")
_FORMULA = re.compile(r"(\$[^$\n]+\$)")
_LINK = re.compile(r"`[^`\n]+`|\$[^$\n]+\$|\[(?P<words>[^\]\n]+)\]\([^)\n]*\)")  # but not in code or formulas


class ProgressPage:
    """Shows a Progress or, without one, what the page will show."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def __str__(self) -> str:
        return "\n\n".join(self._as_text())

    __repr__ = __str__

    def _as_text(self) -> Iterator[str]:
        yield str(TITLE)
        if self._progress is None:
            yield to_text(str(EMPTY))
            return
        yield "\n".join(_counts(self._progress))
        begun = [LABELED.format(label=lesson.name, text=states) for lesson, states in _lessons(self._progress)]
        yield from filter(None, ["\n".join(begun)])
        yield from _text_section(
            REVIEW,
            [LABELED.format(label=mistake, text=place) for mistake, place, _ in _mistakes_to_review(self._progress)],
        )
        drawn = list(enumerate(self._progress.questions, 1))
        asked = [LABELED.format(label=f"{n}. {lesson.name}", text=_text(one.asked)) for n, (lesson, one) in drawn]
        yield from _text_section(QUESTIONS, asked)
        yield from _text_section(ANSWERS, [f"{n}. {_text(one.answer)}" for n, (_, one) in drawn])
        yield from _text_section(NOT_COUNTED, _not_counted(self._progress))
        yield to_text(_source())

    def html(self) -> str:
        """Return the same as a card, with a chip for each lesson."""
        return card("progress", str(TITLE), self._as_html(), GREEN)

    def _as_html(self) -> Iterator[str]:
        if self._progress is None:
            yield paragraph(to_html(str(EMPTY)))
            return
        yield columns(_big_numbers(self._progress), NUMBER_WIDTH)
        yield f'<div style="margin:10px 0">{"".join(_chips(self._progress))}</div>'
        if self._progress.solutions:
            yield remark(escape(SAVED_NAMES.format(names=join_words(self._progress.solutions))))
        yield grid((_link(lesson.name), escape(states)) for lesson, states in _lessons(self._progress))
        review = [
            LABELED.format(label=escape(mistake), text=_link(place, target))
            for mistake, place, target in _mistakes_to_review(self._progress)
        ]
        yield from _html_section(REVIEW, review)
        yield from _html_section(QUESTIONS, [_question_html(*drawn) for drawn in self._progress.questions], "ol")
        yield from _html_section(NOT_COUNTED, [escape(line) for line in _not_counted(self._progress)])
        yield remark(to_html(_source()))

    def _repr_mimebundle_(self, **_selection: object) -> dict:
        return {"text/plain": str(self), "text/html": self.html()}


# Content


def _counts(progress: Progress) -> list[str]:
    saved = SAVED_SOLUTIONS.format(count=len(progress.solutions), total=len(SAVED_EXERCISES))
    return [
        PASSED.format(count=progress.passed, total=len(EXERCISES)),
        PREDICTIONS.format(count=progress.predictions, right=progress.right_predictions),
        WITH_NAMES.format(what=saved, names=join_words(progress.solutions)) if progress.solutions else saved,
    ]


def _big_numbers(progress: Progress) -> Iterator[str]:
    yield big_number(progress.passed, len(EXERCISES), str(EXERCISES_PASSED), GREEN)
    yield big_number(progress.right_predictions, progress.predictions, str(GUESSES_RIGHT), BLUE)
    yield big_number(len(progress.solutions), len(SAVED_EXERCISES), str(SOLUTIONS_SAVED), ORANGE)


def _chips(progress: Progress) -> Iterator[str]:
    """A chip for each lesson: "06 ✓" if all its exercises are passed, "06 3/4" if some are, else "06"."""
    for lesson in LESSONS:
        passed, total = sum(_has_passed(progress, name) for name in lesson.exercises), len(lesson.exercises)
        done = " ✓" if passed == total else f" {passed}/{total}" if passed else ""
        yield chip(f"{lesson.number:02}{done}", f"{lesson.name}.ipynb", GREEN if passed == total else None)


def _has_passed(progress: Progress, exercise: str) -> bool:
    return progress.attempts.get(exercise, Attempts()).passed


def _lessons(progress: Progress) -> Iterator[tuple[Lesson, str]]:
    """The lessons with at least one attempt, each with the state of its exercises."""
    for lesson in LESSONS:
        attempts = {name: progress.attempts.get(name, Attempts()) for name in lesson.exercises}
        if any(one.best != NOT_BEGUN for one in attempts.values()):
            states = (WITH_NAMES.format(what=name, names=_state(one)) for name, one in attempts.items())
            yield lesson, join_words(states)


def _state(attempts: Attempts) -> str:
    if attempts.passed and attempts.mistake:
        return WRONG_SINCE.format(state=_grade_text(attempts.best), mistake=_grade_text(attempts.mistake))
    return _grade_text(attempts.last if attempts.mistake else attempts.best)


def _grade_text(grade: str) -> str:
    return str(STATES.get(grade, grade))


def _mistakes_to_review(progress: Progress) -> Iterator[tuple[str, str, str]]:
    """The latest mistakes, each with the lesson and section that explain it, and the link target."""
    for name, attempts in progress.attempts.items():
        if attempts.mistake:
            exercise = EXERCISES[name]
            heading = str(exercise.section_for(attempts.mistake))
            place, target = f"{exercise.lesson} · {heading}", f"{exercise.lesson}.ipynb#{heading_anchor(heading)}"
            yield WITH_NAMES.format(what=name, names=_grade_text(attempts.mistake)), place, target


def _not_counted(progress: Progress) -> list[str]:
    lines = [LABELED.format(label=sanitize(file), text=sanitize(why)) for file, why in progress.problems.items()]
    more = len(lines) - MAX_NAMED
    return lines[:MAX_NAMED] + [MORE.format(count=more)] * (more > 0)


def _source() -> str:
    return str(COLAB) if on_colab() else SAVED.format(folder=(workspace_folder() or Path(FOLDER_NAME)).name)


# Formatting


def _text(markdown: str) -> str:
    """Markdown of a lesson as plain text."""
    return _render(markdown, to_text, str)


def _html(markdown: str) -> str:
    """Markdown of a lesson as HTML; the notebook renders its formulas."""
    return _render(markdown, to_html, escape)


def _render(markdown: str, words: Callable[[str], str], formula: Callable[[str], str]) -> str:
    """Render words and formulas, each with its function, and keep only the words of links."""
    text = _LINK.sub(lambda found: found["words"] or found[0], truncate(markdown, MAX_LENGTH))
    return "".join(formula(part) if n % 2 else words(part) for n, part in enumerate(_FORMULA.split(text)))


def _text_section(title: Text, lines: list[str]) -> list[str]:
    return ["\n".join([str(title), *(f"  {line}" for line in lines)])] if lines else []


def _html_section(title: Text, items: list[str], kind: str = "ul") -> list[str]:
    return [f"<p><strong>{title}</strong></p>{_list(items, kind)}"] if items else []


def _list(items: Iterable[str], kind: str = "ul") -> str:
    return f"<{kind}>{''.join(f'<li>{item}</li>' for item in items)}</{kind}>"


def _link(words: str, target: str | None = None) -> str:
    return f'<a href="{escape(target or f"{words}.ipynb")}">{escape(words)}</a>'


def _question_html(lesson: Lesson, question: Question) -> str:
    answer = f"<details><summary>{ANSWER}</summary><p>{_html(question.answer)}</p></details>"
    return LABELED.format(label=_link(lesson.name), text=_html(question.asked)) + answer
