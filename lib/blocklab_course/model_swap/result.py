"""A network's answers with a given function and with the right one, as text and as HTML."""

from dataclasses import dataclass
from html import escape

from blocklab_course.cards import BLUE, GREEN, RED, bar, bubble, card, columns, grid, paragraph
from blocklab_course.checks.verdict import to_html, to_text
from blocklab_course.i18n import Text

from .messages import LINE, RIGHT, TITLE, TITLE_RIGHT, WITH
from .networks import Answer, Generation

CHAT_WIDTH, BAR_WIDTH = 280, 500  # px: of a chat and of the longest bar


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
        """Return the result as a card: what a chat model says as a chat, losses as bars, other answers as a table."""
        parts = [paragraph(escape(note)) for note in self.notes]
        shown = self.right or self.yours
        if isinstance(shown, Generation):
            parts += [] if shown.text is None else [self._chats()]
            parts.append(self._losses())
        elif shown is not None:
            parts.append(self._table())
        parts += [paragraph(to_html(text)) for text in self.messages]
        failed = shown is None
        return card("plugged-in", escape(self.headline), parts, RED if failed else BLUE, "✗" if failed else "")

    def _chats(self) -> str:
        """A chat for each answer, side by side."""
        question = escape(str(self.labels[0]).replace("“", "").replace("”", ""))
        return columns(
            (
                f"<div>{escape(name)}</div>{bubble(question, BLUE, asks=True)}"
                f"{bubble(escape(lines[0]), self._colour(lines, 0), asks=False)}"
                for name, lines in self.columns
            ),
            CHAT_WIDTH,
        )

    def _losses(self) -> str:
        """The losses as bars below each other."""
        losses = [answer.loss for answer in (self.yours, self.right) if answer is not None]
        longest = max(losses) or 1
        bars = "".join(
            f"<div>{escape(name)}: <b>{escape(lines[-1])}</b></div>{bar(loss / longest, self._colour(lines, -1))}"
            for (name, lines), loss in zip(self.columns, losses, strict=True)
        )
        label = escape(str(self.labels[-1]))
        return f'<div style="max-width:{BAR_WIDTH}px;margin:10px 0"><div style="opacity:0.8">{label}</div>{bars}</div>'

    def _table(self) -> str:
        heads = "", *(escape(name) for name, _ in self.columns)
        rows = [
            (escape(str(label)), *(escape(lines[number]) for _, lines in self.columns))
            for number, label in enumerate(self.labels)
        ]
        return grid([heads, *rows])

    def _colour(self, lines: list[str], line: int) -> str:
        return GREEN if self.right is None or lines[line] == self.right.lines()[line] else RED

    def _repr_mimebundle_(self, **_selection: object) -> dict:
        return {"text/plain": str(self), "text/html": self.html()}
