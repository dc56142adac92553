"""The reader's prediction: asked before anything moves, graded, and reported to a listener."""

from collections.abc import Callable
from typing import Any

from blocklab_course.i18n import Text
from blocklab_course.panel.controls import Choice, Label, short_repr
from blocklab_course.panel.messages import TWO_SENTENCES

YOUR_GUESS = Text(en="your guess", zh="你的猜测")
RIGHT = Text(en="Your guess, “{said}”, is right.", zh="你猜的是“{said}”，猜对了。")
WRONG = Text(en="Your guess, “{said}”, is not right.", zh="你猜的是“{said}”，没猜对。")
SKIPPED = -1


class Prediction(Choice):
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
        self.choice: int | None = None  # index of the chosen option, or SKIPPED

    def is_valid_choice(self, choice: Any) -> bool:
        """Return whether this is the index of an option, or SKIPPED."""
        return choice == SKIPPED or (type(choice) is int and self.has(choice))

    def is_right(self, index: int) -> bool:
        """Return whether the option with this index is the right one."""
        return index == self.index(self.right)

    def feedback(self, index: int) -> str:
        """Return the text shown after this choice: the index of an option, or SKIPPED."""
        if index == SKIPPED:
            return str(self.explanation)
        verdict = RIGHT if self.is_right(index) else WRONG
        return TWO_SENTENCES.format(first=verdict.format(said=list(self.options)[index]), second=self.explanation)

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


Listener = Callable[[str, str | None, bool | None], None]
_listener: Listener | None = None


def set_listener(listener: Listener | None) -> None:
    """Call `listener(module, choice, right)` for each prediction in any panel; None removes the listener.

    module: the module of the picture. choice: the English label; it and right are None if the question was skipped.
    """
    global _listener
    _listener = listener


def notify(picture: Callable, prediction: Prediction, choice: int) -> None:
    """Report a choice, the index of an option or SKIPPED, to the listener if there is one."""
    if _listener is None:
        return
    module = getattr(picture, "__module__", None) or ""
    if choice == SKIPPED:
        _listener(module, None, None)
    else:
        label = list(prediction.options)[choice]
        _listener(module, getattr(label, "en", label), prediction.is_right(choice))
