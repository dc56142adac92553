"""The reader's prediction: asked before anything is shown, graded, and reported to a listener."""

import copy
import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import ipywidgets as widgets

from blocklab_course.i18n import Text
from blocklab_course.panel.controls import Choice, Label, short_repr
from blocklab_course.panel.messages import COMMIT, TWO_SENTENCES

YOUR_GUESS = Text(en="your guess", zh="你的猜测")
RIGHT = Text(en="Your guess, “{said}”, is right.", zh="你猜的是“{said}”，猜对了。")
WRONG = Text(en="Your guess, “{said}”, is not right.", zh="你猜的是“{said}”，没猜对。")
SKIPPED = -1
MOST_DIGITS = 40  # characters of a number


class Answered:
    """A question that is answered once. A choice is the index of an option, the text of a number, or SKIPPED."""

    explanation: Label
    question: Label | None
    choice: int | str | None = None  # None as long as there is no answer

    def accept(self, choice: Any, asker: str) -> bool:
        """Record the reader's choice and report it to the listener. Return whether it counts: only the first one does.

        asker: the module of the figure that asks, or the name of a question without a figure.
        """
        if self.choice is not None or not self.is_valid_choice(choice):
            return False
        self.choice = choice
        notify(asker, self, choice)
        return True

    def feedback(self, choice: int | str) -> str:
        """Return the text shown after this choice."""
        if choice == SKIPPED:
            return str(self.explanation)
        verdict = RIGHT if self.is_right(choice) else WRONG
        return TWO_SENTENCES.format(first=verdict.format(said=self.said(choice)), second=self.explanation)


class Prediction(Answered, Choice):
    """A question to answer before the panel can be moved: options, the right one, and an explanation.

        Prediction({Text(en="it grows", zh="变大"): 1, Text(en="nothing", zh="不变"): 0}, right=0, explanation=Text(…))

    The question stands above the options. The explanation is shown whatever the reader chose. The picture does not
    receive the prediction.

    Raises ValueError as Choice does, and if None is an option or `right` is not one.
    """

    def __init__(
        self,
        options: dict[Label, Any],
        *,
        right: Any,
        explanation: Label,
        question: Label | None = None,
        label: Label = YOUR_GUESS,
    ):
        super().__init__(options, None, label)
        if self.index(None) is not None:
            raise ValueError("Prediction: expected options other than None, which means no prediction yet")
        if self.index(right) is None:
            raise ValueError(f"Prediction: expected right to be one of the options, got {short_repr(right)}")
        self.right, self.explanation, self.question = right, explanation, question

    def is_valid_choice(self, choice: Any) -> bool:
        """Return whether this is the index of an option, or SKIPPED."""
        return type(choice) is int and (choice == SKIPPED or self.has(choice))

    def is_right(self, index: int) -> bool:
        """Return whether the option with this index is the right one."""
        return index == self.index(self.right)

    def said(self, index: int) -> Label:
        """Return the label of the option with this index."""
        return list(self.options)[index]

    def move(self, value: Any) -> None:
        if value is not None:
            self._panel.answer(self.index(value))

    def spec(self, name: str = "guess") -> dict:
        feedback = [self.feedback(index) for index in range(len(self.options))]
        return super().spec(name) | {
            "question": None if self.question is None else str(self.question),
            "right": self.index(self.right),
            "told": feedback,
            "skipped": str(self.explanation),
        }


class NumberPrediction(Answered):
    """A question that is answered with a number, which is right if it differs from `right` by at most `within`.

    Raises TypeError if `right` or `within` is not a number, and ValueError if it is not finite.
    """

    widget: widgets.Widget | None = None

    def __init__(
        self,
        right: Real,
        *,
        within: Real = 0,
        explanation: Label,
        question: Label | None = None,
        label: Label = YOUR_GUESS,
    ):
        for name, number in (("right", right), ("within", within)):
            if isinstance(number, bool) or not isinstance(number, Real):
                raise TypeError(f"NumberPrediction: expected {name} to be a number, got {short_repr(number)}")
            if not math.isfinite(number):
                raise ValueError(f"NumberPrediction: expected {name} to be finite, got {number}")
        if within < 0:
            raise ValueError(f"NumberPrediction: expected within not to be negative, got {within}")
        self.right, self.explanation, self.question, self.label = float(right), explanation, question, label
        self.within = within + 1e-9 * abs(self.right)  # so that 0.1 + 0.2 may be answered with 0.3

    def is_valid_choice(self, choice: Any) -> bool:
        """Return whether this is the text of a finite number, or SKIPPED."""
        if type(choice) is int:
            return choice == SKIPPED
        try:
            return type(choice) is str and len(choice) <= MOST_DIGITS and math.isfinite(float(choice))
        except ValueError:
            return False

    def is_right(self, number: str) -> bool:
        """Return whether the number is near enough to the right one."""
        return abs(float(number) - self.right) <= self.within

    def said(self, number: str) -> str:
        """Return the number as the reader wrote it."""
        return number

    def title(self, _name: str) -> str:
        return str(self.label)

    def build(self, title: str, label_width: float) -> None:
        """Build the box for the number and the button that commits it."""
        style = {"description_width": "initial"}
        box = widgets.Text(description=title, style=style, layout=widgets.Layout(width=f"{label_width + 12}em"))
        commit = widgets.Button(description=str(COMMIT), layout=widgets.Layout(width="auto", margin="2px 0"))
        commit.on_click(lambda _button: self._asker.answer(box.value.strip()))
        self.widget = widgets.HBox([box, commit])

    def bound_to(self, asker: Any) -> "NumberPrediction":
        """Return a copy that calls `answer(choice)` of this question."""
        live = copy.copy(self)
        live._asker = asker
        return live

    def spec(self) -> dict:
        verdicts = (WRONG, RIGHT)
        told = [
            TWO_SENTENCES.format(first=verdict.format(said="{said}"), second=self.explanation) for verdict in verdicts
        ]
        return {
            "label": str(self.label),
            "question": None if self.question is None else str(self.question),
            "right": self.right,
            "within": self.within,
            "told": told,
            "skipped": str(self.explanation),
        }


Listener = Callable[[str, str | None, bool | None], None]
_listener: Listener | None = None


def set_listener(listener: Listener | None) -> None:
    """Call `listener(asker, choice, right)` for each prediction; None removes the listener.

    asker: the module of the figure that asks, or the name of a question without a figure. choice: the English label or
    the number; it and right are None if the question was skipped.
    """
    global _listener
    _listener = listener


def notify(asker: str, prediction: Answered, choice: int | str) -> None:
    """Report a choice to the listener if there is one."""
    if _listener is None:
        return
    if choice == SKIPPED:
        _listener(asker, None, None)
    else:
        label = prediction.said(choice)
        _listener(asker, getattr(label, "en", label), prediction.is_right(choice))
