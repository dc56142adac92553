"""The question that the lesson asks outside its figures."""

from blocklab_course.i18n import Text
from blocklab_course.panel.question import Question, predict


def another_nearest_sentence() -> Question:
    return predict(
        "another_nearest_sentence",
        {
            "published": False,
            "large_eps": False,
            "without_gamma": True,
            Text(en="none of them", zh="都不会"): False,
        },
        why=Text(
            en="Only without_gamma does. The other two change the cosines by less than 0.01.",
            zh="只有 without_gamma。换上另外两个，余弦的变化都不到 0.01。",
        ),
    )
