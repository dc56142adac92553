"""The fallback view of a question: standard ipywidgets controls, for front ends that cannot load our script."""

from html import escape
from typing import Any

import ipywidgets as widgets

from blocklab_course.panel import view
from blocklab_course.panel.controls import text_width
from blocklab_course.panel.messages import SKIP
from blocklab_course.panel.prediction import SKIPPED

WIDTH = "720px"


class FallbackQuestion:
    """The question, its options or a box for a number, a button to skip it, and the feedback.

    asker: a panel or a question, with a `prediction` and `answer(choice)`. label_width: that of the panel's labels, in
    em. waiting: stands in place of the feedback until there is an answer.
    """

    def __init__(self, asker: Any, label_width: float = 0, width: str = WIDTH, waiting: str = ""):
        self.prediction = asker.prediction
        title = self.prediction.title("guess")
        self.prediction.build(title, label_width or text_width(title))
        if not label_width:
            self.prediction.widget.layout.width = "auto"  # nothing stands below that it should align with
        skip = widgets.Button(description=str(SKIP), layout=widgets.Layout(width="auto", margin="2px 0"))
        skip.add_class("blocklab-skip")
        skip.on_click(lambda _button: asker.answer(SKIPPED))
        asked = self.prediction.question
        question = [] if asked is None else [_text(f"<b>{escape(str(asked))}</b>", width)]
        self.row = view.row([self.prediction.widget, skip], width)
        self.explanation = _text(escape(waiting), width)
        self.root = widgets.VBox(
            [*question, self.row, self.explanation], layout=widgets.Layout(max_width="100%", overflow="hidden")
        )
        if self.prediction.choice is not None:
            self.show_answer(self.prediction.choice)

    def show_answer(self, choice: int | str) -> None:
        view.disable(self.row, True)
        self.explanation.value = _styled(escape(self.prediction.feedback(choice)))

    def close(self) -> None:
        view.close_all(self.root)
        self.prediction.widget = None


def _text(html: str, width: str) -> widgets.HTML:
    return widgets.HTML(_styled(html), layout=widgets.Layout(width=width, max_width="100%", margin="0 2px"))


def _styled(html: str) -> str:
    return f'<div style="{view.TEXT_STYLE}">{html}</div>'
