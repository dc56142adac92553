"""The reader's prediction: asked for before anything is dragged, judged, and told to whoever counts it."""

from collections.abc import Callable
from typing import Any

from blocklab_course.i18n import Text
from blocklab_course.panel.controls import Choice, Label, check_label, short_repr
from blocklab_course.panel.messages import TWO_SENTENCES

YOUR_GUESS = Text(en="your guess", zh="你的猜测")
RIGHT = Text(en="Your guess, “{said}”, is right.", zh="你猜的是“{said}”，猜对了。")
WRONG = Text(en="Your guess, “{said}”, is not right.", zh="你猜的是“{said}”，没猜对。")
SKIPPED = -1


class Prediction(Choice):
    """What there is to guess, the option that is right, and a sentence to say afterwards.

        Prediction({Text(en="it grows", zh="变大"): 1, Text(en="nothing", zh="不变"): 0}, right=0, explanation=Text(…))

    `explanation` says what is right and what to see it by, whatever was guessed. No picture is given the guess.

    Raises like Choice, and ValueError for fewer than two options, for None among them, and if none of them is `right`.
    """

    def __init__(self, options: dict[Label, Any], *, right: Any, explanation: Label, label: Label = YOUR_GUESS):
        super().__init__(options, None, label)
        check_label("Prediction", explanation, "an explanation")
        if len(self.options) < 2:
            raise ValueError(f"Prediction wants at least two options, got {short_repr(options)}")
        if self.index(None) is not None:
            raise ValueError("Prediction wants options other than None, which is no guess yet")
        if self.index(right) is None:
            raise ValueError(f"Prediction wants one of its options to be right, got {short_repr(right)}")
        self.right, self.explanation = right, explanation
        self.choice: int | None = None  # what the reader has chosen, or SKIPPED

    def is_valid_choice(self, choice: Any) -> bool:
        """Whether this is the number of an option, or SKIPPED."""
        return choice == SKIPPED or (type(choice) is int and self.has(choice))

    def is_right(self, index: int) -> bool:
        """Whether the option with this number is the right one."""
        return index == self.index(self.right)

    def feedback(self, index: int) -> str:
        """What is said of the option with this number, or of SKIPPED, in the chosen language."""
        if index == SKIPPED:
            return str(self.explanation)
        verdict = RIGHT if self.is_right(index) else WRONG
        return TWO_SENTENCES.format(first=verdict.format(said=list(self.options)[index]), second=self.explanation)

    def move(self, value: Any) -> None:
        if value is not None:
            self._panel.answer(self.index(value))

    def spec(self, name: str = "guess") -> dict:
        told = {"told": [self.feedback(index) for index in range(len(self.options))], "skipped": str(self.explanation)}
        return super().spec(name) | {"right": self.index(self.right)} | told


Listener = Callable[[str, str | None, bool | None], None]
_listener: Listener | None = None


def set_listener(listener: Listener | None) -> None:
    """Have every guess of any panel told to `listener(picture, chose, right)`.

    picture: the module that draws it. chose: the option in English; it and right are None where the guess was skipped.
    """
    global _listener
    _listener = listener


def notify(picture: Callable, guess: Prediction, choice: int) -> None:
    """Tell the listener, if there is one, what was chosen: the number of an option, or SKIPPED."""
    if _listener is None:
        return
    module = getattr(picture, "__module__", None) or ""
    if choice == SKIPPED:
        _listener(module, None, None)
    else:
        label = list(guess.options)[choice]
        _listener(module, getattr(label, "en", label), guess.is_right(choice))
