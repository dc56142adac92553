"""The questions of the lesson that have no figure."""

from blocklab_course.i18n import Text
from blocklab_course.panel.question import Question, predict


def after_twenty_layers() -> Question:
    return predict(
        "after_twenty_layers",
        {
            Text(en="about 0.5", zh="约 0.5"): False,
            Text(en="about 0.001", zh="约 0.001"): False,
            Text(en="about 0.000001", zh="约 0.000001"): True,
        },
        why=Text(
            en="Each layer halves the numbers, and 0.5²⁰ is about 0.000001.",
            zh="每一层都缩小一半，而 0.5²⁰ 约为 0.000001。",
        ),
    )


def learning_rate_at_gain_100() -> Question:
    return predict(
        "learning_rate_at_gain_100",
        {"100": False, "1000": False, "10000": True},
        why=Text(
            en="By 10000: the gradient is a hundredth, and the weights are 100 times as large.",
            zh="乘以 10000：梯度只有百分之一，而权重是 100 倍。",
        ),
    )


def mistake_that_training_shows() -> Question:
    return predict(
        "mistake_that_training_shows",
        {"n_minus_1": False, "eps_outside": False, "mean_kept": True},
        why=Text(
            en="Without subtracting the mean, the network ends at about 10%, which is guessing.",
            zh="不减均值，网络最后只有 10% 左右，等于乱猜。",
        ),
    )
