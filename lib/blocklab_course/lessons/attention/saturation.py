"""How sharp the softmax is, by the size of the scores: the row of a table that says so."""

from blocklab_course.i18n import Text

ROW = Text(
    en="d = {:4}, divided by {:4}: std of the scores {:4.1f}, mean largest weight {:.2f}, median p(1 − p) {:.6f}",
    zh="d = {:4}，除以 {:4}：得分的标准差 {:4.1f}，最大权重平均 {:.2f}，p(1 − p) {:.6f}（中位数）",
)


def row(d: int, divisor: int, spread: float, largest: float, slope: float) -> str:
    return ROW.format(d, divisor, spread, largest, slope)
