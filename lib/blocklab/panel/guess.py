"""The reader's prediction, which a panel asks for before anything is dragged and repeats in the line below."""

from blocklab.language import Text

YOUR_GUESS = Text(en="your guess", zh="你的猜测")
SAID = Text(en=" You said: {guess}.", zh="你猜的是：{guess}。")


def options(*texts: Text) -> dict[Text, Text]:
    """What there is to guess, for a panel's choice."""
    return {text: text for text in texts}


def you_said(guess: Text | None) -> str:
    """The guess in words, to end a line with; nothing before there is one."""
    return "" if guess is None else SAID.format(guess=guess)
