"""The predictions of the lesson that stand outside a figure."""

from blocklab_course.i18n import Text
from blocklab_course.panel.question import Question, predict


def best_at_32() -> Question:
    """Which normalization of the MLP is best where the mini-batches are large."""
    return predict(
        "best_at_32",
        {
            Text(en="BatchNorm", zh="批量归一化"): True,
            Text(en="LayerNorm", zh="层归一化"): False,
            Text(en="GroupNorm", zh="组归一化"): False,
        },
        why=Text(
            en="BatchNorm is best at batch size 32: about 96%, and the other two 92% to 93%.",
            zh="批量大小为 32 时，批量归一化最好，大约 96%，另外两种是 92% 到 93%。",
        ),
    )


def read_in_pairs() -> Question:
    """What the MLP learns from mini-batches of 32 that BatchNorm sees two at a time."""
    return predict(
        "read_in_pairs",
        {
            Text(en="about 96%, as with a batch of 32", zh="96% 左右，和批量大小为 32 时一样"): False,
            Text(en="about 80%, something between", zh="80% 左右，介于两者之间"): False,
            Text(en="about 65%, as with a batch of 2", zh="65% 左右，和批量大小为 2 时一样"): True,
        },
        why=Text(
            en="It is about 65%. In both cases m is 2, and the batch size of 32 does not help.",
            zh="65% 左右。两种情况的 m 都是 2，批量大小有 32 也没有用。",
        ),
    )
