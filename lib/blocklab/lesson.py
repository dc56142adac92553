"""The door at which copies of an earlier edition of the lessons knock: it says how to renew them."""

from typing import NoReturn

from blocklab import language
from blocklab.language import Text
from blocklab.one_line import OneLine

OLD = Text(
    en="This copy of the lesson is of an earlier edition and no longer runs. A new one, with your answers in it: "
    "`make lab FRESH=1` in Blocklab's folder (without make: `python -m workshop copies --fresh`). "
    "On Colab: open the lesson again from its link.",
    zh="这份课程副本是旧版，已无法运行。要换成新副本并带上你的答案，请在 Blocklab 文件夹里运行 `make lab FRESH=1`"
    "（没有 make，就运行 `python -m workshop copies --fresh`）。在 Colab 上，请从原来的链接重新打开这一课。",
)


class OldCopy(OneLine):
    """A copy of an earlier edition imports what is no longer there."""

    def __init__(self):
        super().__init__(str(OLD))


def begin(chosen: str) -> NoReturn:
    """Raise OldCopy in the language of the copy, "en" or "zh"."""
    language.choose(chosen)
    raise OldCopy


def __getattr__(name: str) -> object:
    if name == "progress":
        raise OldCopy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
