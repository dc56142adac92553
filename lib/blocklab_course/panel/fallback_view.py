"""The fallback view: standard ipywidgets controls above a JPEG, for front ends that cannot load our script."""

from html import escape
from typing import Any

import ipywidgets as widgets

from blocklab_course.panel import view
from blocklab_course.panel.canvas import DPI, Canvas, jpeg
from blocklab_course.panel.controls import Toggle, text_width
from blocklab_course.panel.fallback_question import FallbackQuestion
from blocklab_course.panel.messages import PREDICT_FIRST, RESET, RUN_THE_CELL

QUALITY = 85
"""JPEG quality of a frame."""

# Front ends add this class to a view that lost its kernel.
UNANSWERED = "<style>.blocklab-panel:not(.jupyter-widgets-disconnected) > .blocklab-unanswered {display: none}</style>"


class FallbackView:
    """The widgets of a panel: controls, picture, line, and a hint for when there is no kernel."""

    def __init__(self, panel: Any, canvas: Canvas):
        size, controls, reset = panel.size, panel.controls, panel.reset
        self.controls = list(controls.values())
        width = f"{size[0] * DPI:g}px"
        self.line = widgets.HTML(layout=widgets.Layout(width=width, max_width="100%", margin="0 2px"))
        self.image = widgets.Image(
            format="jpeg",
            # Width and height reserve the space before the picture is decoded, so that nothing jumps; the layout lets
            # a narrow page shrink it proportionally.
            width=f"{size[0] * DPI:g}",
            height=f"{size[1] * DPI:g}",
            layout=widgets.Layout(width=width, max_width="100%", height="auto", object_fit="contain"),
        )
        unanswered = widgets.HTML(UNANSWERED + view.HINT.format(RUN_THE_CELL), layout=widgets.Layout(margin="0 2px"))
        unanswered.add_class("blocklab-unanswered")
        titles = {name: control.title(name) for name, control in controls.items()}
        sliding = [title for name, title in titles.items() if not isinstance(controls[name], Toggle)]
        widest = max(map(text_width, sliding), default=0)
        for name, control in controls.items():
            control.build(titles[name], widest)
            control.show()
        button = widgets.Button(
            description=str(RESET), icon="undo", layout=widgets.Layout(width="auto", margin="2px 0")
        )
        button.on_click(lambda _button: reset())
        self.bar = view.row(
            [*(control.widget for control in controls.values()), *([button] if controls else [])], width
        )
        self.question = None
        if panel.prediction is not None:
            view.disable(self.bar, panel.prediction.choice is None)
            self.question = FallbackQuestion(panel, widest, width, str(PREDICT_FIRST))
        self.root = widgets.VBox(
            [*([self.question.root] if self.question else []), self.bar, self.image, self.line, unanswered],
            layout=widgets.Layout(max_width="100%", overflow="hidden"),
        )
        self.root.add_class("blocklab-panel")
        self.show(canvas, panel.line)

    def show_answer(self, choice: int) -> None:
        view.disable(self.bar, False)
        self.question.show_answer(choice)

    def show(self, canvas: Canvas, line: str) -> None:
        self.image.value = jpeg(canvas.frame(), QUALITY)  # first: the reader waits for it
        self._set_line(line)

    def fail(self, line: str) -> None:
        self._set_line(line, "color: var(--jp-error-color1, #b00020)")

    def _set_line(self, line: str, style: str = "") -> None:
        # role="status" makes screen readers announce changes.
        self.line.value = f'<div role="status" style="{view.TEXT_STYLE} {style}">{escape(line)}</div>'

    def close(self) -> None:
        view.close_all(self.root)
        if self.question is not None:
            self.question.close()
        for control in self.controls:
            control.widget = None
