"""What a network says with a learner's block and with the right one, as text and as HTML."""

from dataclasses import dataclass
from html import escape

from blocklab_course.checks.verdict import html_table, to_html, to_text
from blocklab_course.i18n import Text

from .messages import LINE, RIGHT, TITLE, TITLE_RIGHT, YOURS
from .networks import Answer


@dataclass(frozen=True)
class SwapResult:
    """What came out.

    `yours` and `right` are what the network said with the learner's block and with the right one (`loss` and `text`,
    `sentence` and `cosine`, or `number` and `chance`); `yours` is None where the block did not run, and `stopped` is
    then the id of what kept it from running. `places`: where in the network the block stands. `notes`, on the network,
    and `told`, on what came out, are for the reader.
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

    @property
    def headline(self) -> str:
        if self.network is None:
            return f"plug_in({self.block})"
        title = TITLE if self.stopped is None else TITLE_RIGHT
        return title.format(network=self.network, block=self.block, places=self.places)

    @property
    def columns(self) -> list[tuple[Text, list[str]]]:
        """Who says, and what: a line for each of the labels."""
        said = ((YOURS, self.yours), (RIGHT, self.right))
        return [(name, answer.shown()) for name, answer in said if answer is not None]

    def __str__(self) -> str:
        lines = [self.headline, *self.notes]
        for place, label in enumerate(self.labels):
            lines += ["", f"  {label}"]
            lines += [f"    {LINE.format(name=name, shown=shown[place])}" for name, shown in self.columns]
        told = ["", *map(to_text, self.messages)] if self.labels and self.messages else map(to_text, self.messages)
        return "\n".join([*lines, *told])

    __repr__ = __str__

    def html(self) -> str:
        """The same for a notebook. Colours come from the page, so that it reads on dark and on light."""
        parts = [f"<p><strong>{escape(self.headline)}</strong></p>"]
        parts += [f"<p>{escape(note)}</p>" for note in self.notes]
        if self.labels:
            rows = [["", *(str(name) for name, _ in self.columns)]]
            rows += [[str(label), *(s[place] for _, s in self.columns)] for place, label in enumerate(self.labels)]
            parts.append(html_table([escape(cell) for cell in row] for row in rows))
        parts += [f"<p>{to_html(text)}</p>" for text in self.messages]
        return f'<div class="blocklab-plugged-in">{"".join(parts)}</div>'

    def _repr_mimebundle_(self, **_selection: object) -> dict:
        return {"text/plain": str(self), "text/html": self.html()}
