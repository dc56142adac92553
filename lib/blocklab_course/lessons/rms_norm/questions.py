"""The questions that the lesson asks outside its figures."""

from blocklab_course.i18n import Text
from blocklab_course.panel.question import Question, predict


def still_paris() -> Question:
    return predict(
        "still_paris",
        {
            Text(en="still Paris", zh="仍然是 Paris"): True,
            Text(en="another city", zh="别的城市"): False,
            Text(en="no city at all", zh="根本不是城市"): False,
        },
        why=Text(
            en="It still says Paris, although all 61 norms now do something that the model was not trained with.",
            zh="它仍然说 Paris，尽管 61 处归一化都多做了一步，训练时并没有这一步。",
        ),
    )


def angles_by_chance() -> Question:
    return predict(
        "angles_by_chance",
        {"1°": False, "7°": True, "30°": False, "80°": False},
        why=Text(
            en="It is about 7°. With so many features, positive and negative ones cancel almost completely.",
            zh="大约 7°。特征这么多，正的和负的几乎全都抵消了。",
        ),
    )


def squares_in_float16() -> Question:
    return predict(
        "squares_in_float16",
        {
            Text(en="numbers close to 1", zh="1 附近的数"): False,
            Text(en="all four are 0", zh="四个都是 0"): True,
            Text(en="infinity", zh="无穷大"): False,
            "NaN": False,
        },
        why=Text(
            en="The squares are infinite in float16, and a number divided by infinity is 0.",
            zh="这些数的平方在 float16 里都是无穷大，而一个数除以无穷大等于 0。",
        ),
    )
