"""What the lesson's cells print: one line for each result, in the reader's language."""

from torch import Tensor

from blocklab_course.i18n import Text

CHANGE = Text(
    en="largest change of bites: without the rows {:.2f}, with them {:.2f}",
    zh="bites 变得最多的一个数：不加这几行，变了 {:.2f}；加了，变了 {:.2f}",
)
STRONGEST = Text(
    en="row {:2}: most weight on row {:2}, {:.0%}; divided by √d first, {:.0%} on row {}",
    zh="第 {:2} 行：权重最大的是第 {:2} 行，占 {:.0%}；先除以 √d，占 {:.0%}，是第 {} 行",
)


def change_of_bites(without_rows: Tensor, with_rows: Tensor) -> None:
    print(CHANGE.format(without_rows, with_rows))


def strongest(row: int, weights: Tensor, divided: Tensor) -> None:
    """Where most of a row's weights lies, and how much, without and with the division."""
    print(STRONGEST.format(row, int(weights.argmax()), weights.max(), divided.max(), int(divided.argmax())))
