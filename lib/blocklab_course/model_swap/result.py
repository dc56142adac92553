"""A network's answers with a given function and with the right one, as text and as HTML."""

from dataclasses import dataclass
from html import escape

from blocklab_course.checks.verdict import html_table, to_html, to_text
from blocklab_course.i18n import Text

from .messages import LINE, RIGHT, TITLE, TITLE_RIGHT, WITH
from .networks import Answer


@dataclass(frozen=True)
class SwapResult:
    """The result of `plug_in`.

    `yours` and `right` are the network's answers with the given function and with the right one. If the function did
    not run, `yours` is None and `stopped` is the id of the reason. `places`: in how many places it was used. `name`:
    that of the function. `notes` (about the network) and `messages` (about the answers) are for the learner.
    """

    block: str
    network: str | None = None
    places: int = 0
    labels: tuple[Text, ...] = ()
    notes: tuple[str, ...] = ()
    yours: Answer | None = None
    right: Answer | None = None
    stopped: str | None = None
    messages: tuple[str, ...] = ()
    name: str = ""

    @property
    def headline(self) -> str:
        if self.network is None:
            return f"plug_in({self.block})"
        title = TITLE if self.stopped is None else TITLE_RIGHT
        return title.format(network=self.network, block=self.block, places=self.places, name=self.name)

    @property
    def columns(self) -> list[tuple[str, list[str]]]:
        """The answers, each with a line for every label."""
        answers = ((WITH.format(name=self.name), self.yours), (str(RIGHT), self.right))
        return [(name, answer.lines()) for name, answer in answers if answer is not None]

    def __str__(self) -> str:
        lines = [self.headline, *self.notes]
        for n, label in enumerate(self.labels):
            lines += ["", f"  {label}"]
            lines += [f"    {LINE.format(name=name, shown=shown[n])}" for name, shown in self.columns]
        lines += [""] if self.labels and self.messages else []
        return "\n".join([*lines, *map(to_text, self.messages)])

    __repr__ = __str__

    def html(self) -> str:
        """The same as HTML. Colours come from the page, in dark mode too."""
        parts = [f"<p><strong>{escape(self.headline)}</strong></p>"]
        parts += [f"<p>{escape(note)}</p>" for note in self.notes]
        if self.labels:
            rows = [["", *(name for name, _ in self.columns)]]
            rows += [[str(label), *(lines[n] for _, lines in self.columns)] for n, label in enumerate(self.labels)]
            parts.append(html_table([escape(cell) for cell in row] for row in rows))
        parts += [f"<p>{to_html(text)}</p>" for text in self.messages]
        return f'<div class="blocklab-plugged-in">{"".join(parts)}</div>'

    def _repr_mimebundle_(self, **_selection: object) -> dict:
        return {"text/plain": str(self), "text/html": self.html()}
