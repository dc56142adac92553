"""A question without a figure: `predict`."""

import json
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from numbers import Real
from typing import TYPE_CHECKING

from IPython.display import display

from blocklab_course import i18n
from blocklab_course.cards import BLUE, card, paragraph
from blocklab_course.i18n import Text
from blocklab_course.panel import backend, live_panels
from blocklab_course.panel.controls import Label, short_repr
from blocklab_course.panel.messages import RUN_TO_ANSWER, TWO_SENTENCES, WITHOUT_BUTTONS, WORDS
from blocklab_course.panel.prediction import NumberPrediction, Prediction
from blocklab_course.panel.view import ONE_OF_TWO, VIEW, still, view_data

if TYPE_CHECKING:
    from blocklab_course.panel.fallback_question import FallbackQuestion
    from blocklab_course.panel.live_view import LiveQuestion

NAMESPACE = "predict."  # of the names that the listener gets, to tell them from modules
A_NUMBER = Text(en="The answer is a number.", zh="答案是一个数。")
EMPTY = {"kind": "state", "at": [], "line": "", "rest": 0, "moving": []}
"""The only state of a panel without controls and without a picture."""


def predict(
    name: str, answer: Mapping[Label, bool] | Real, *, why: Label, question: Label | None = None, within: Real = 0
) -> "Question":
    """Ask the reader to predict something. Their first answer is saved, and counted like the guesses of figures.

        predict("sum_of_squares", {"it grows": True, "it stays": False}, why="Every square is added.")
        predict("half_life", 6.6, within=0.1, why="0.9 ** 6.6 is one half.")

    A lesson writes the texts as `Text`, in its cell or in its package, so that one cell serves both languages.

    name: a name for the saved answer, the same in both languages and unique in the course.
    answer: the options, of which one is True; or a number.
    why: the explanation, shown after any answer.
    question: what is asked, unless the text before the cell asks it.
    within: how far a number may be from the right one.

    Raises TypeError or ValueError if these do not make a question.
    """
    if not isinstance(name, str):
        raise TypeError(f"predict: expected name to be a str, got {short_repr(name)}")
    if not name.strip():
        raise ValueError("predict: expected name not to be empty")
    about = {"explanation": why, "question": question}
    if not isinstance(answer, Mapping):
        return Question(name, NumberPrediction(answer, within=within, **about))
    if within:
        raise ValueError("predict: expected within only together with a number")
    if wrong := [value for value in answer.values() if not isinstance(value, bool)]:
        raise TypeError(f"predict: expected True or False for each option, got {short_repr(wrong[0])}")
    if len(answer) < 2 or sum(answer.values()) != 1:
        count = sum(answer.values())
        raise ValueError(
            f"predict: expected at least two options, one of them True, got {len(answer)} with {count} True"
        )
    right = list(answer.values()).index(True)
    return Question(name, Prediction({label: n for n, label in enumerate(answer)}, right=right, **about))


class Question:
    """A prediction without a figure. It keeps the language in which it was created."""

    def __init__(self, name: str, prediction: Prediction | NumberPrediction):
        self.name = name
        self.prediction = prediction.bound_to(self)
        self._language = i18n.get_language()
        self._view: FallbackQuestion | LiveQuestion | None = None

    def answer(self, choice: int | str) -> None:
        """Record an answer: the index of an option, the text of a number, or SKIPPED. Only the first one counts."""
        with i18n.use_language(self._language):
            if self.prediction.accept(choice, NAMESPACE + self.name) and self._view is not None:
                self._view.show_answer(choice)

    @property
    def view(self) -> "FallbackQuestion | LiveQuestion":
        """The widgets, created on first use."""
        if self._view is None:
            with i18n.use_language(self._language):
                self._view = backend.make_question_view(self)
        return self._view

    def release(self) -> None:
        """Close the widgets. Showing the question again recreates them."""
        if self._view is not None:
            self._view.close()
        self._view = None

    def stored(self) -> dict:
        """What the player needs to show the question, in a widget or without a kernel."""
        with i18n.use_language(self._language):
            words = {name: str(text) for name, text in WORDS.items()}
            about = {"size": None, "language": self._language, "controls": [], "words": words}
            return {"spec": about | {"guess": self.prediction.spec()}, "first": EMPTY}

    def _answers(self) -> list[str]:
        """The options as text, or what kind of answer is expected."""
        if isinstance(self.prediction, NumberPrediction):
            return [str(A_NUMBER)]
        return [f"○ {label}" for label in self.prediction.options]

    def __repr__(self) -> str:
        with i18n.use_language(self._language):
            asked = self.prediction.question or self.prediction.label
            return "\n".join([str(asked), *(f"  {answer}" for answer in self._answers())])

    def html(self) -> str:
        """The question and its options for a notebook without a kernel. The answer is only in the data for the site."""
        with i18n.use_language(self._language):
            asked = escape(str(self.prediction.question or self.prediction.label))
            answers = [paragraph(escape(answer)) for answer in self._answers()]
            hint = TWO_SENTENCES.format(first=RUN_TO_ANSWER, second=WITHOUT_BUTTONS)
            stored = b64encode(json.dumps({"name": self.name, **self.stored()}).encode()).decode()
            return still(card("question", asked, answers, BLUE, "?"), hint, f' data-question="{stored}"')

    def _repr_mimebundle_(self, **_options) -> dict:
        """One output for every front end: widgets if it supports them, else the question as text."""
        return {"text/plain": repr(self), "text/html": self.html(), VIEW: view_data(self.view.root)}

    def _ipython_display_(self, **_options) -> None:
        for gone in live_panels.register(self):
            gone.release()
        data = self._repr_mimebundle_()
        if live_panels.in_jupyterlab():  # two outputs, see `view`
            widget = {VIEW: data.pop(VIEW)}
            display(data | {"text/html": ONE_OF_TWO + data["text/html"]}, raw=True)
            data = widget
        display(data, raw=True)
