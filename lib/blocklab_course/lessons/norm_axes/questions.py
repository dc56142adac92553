"""The lesson's questions without a figure."""

from blocklab_course.i18n import Text
from blocklab_course.panel.question import Question, predict


def one_mean_for_a_sentence() -> Question:
    return predict(
        "one_mean_for_a_sentence",
        {
            Text(en="the music is still nearest, with another cosine", zh="还是讲音乐的那句，只是相似度变了"): False,
            Text(en="a different sentence is nearest", zh="最近的换成了另一句"): True,
            Text(en="nothing: there is an error", zh="答不出来，会报错"): False,
        },
        why=Text(
            en="The news is nearest now: all four cosines are 0.99 or more, and nothing raises an error.",
            zh="最近的成了讲新闻的那句：四句的余弦相似度都在 0.99 以上，也没有报错。",
        ),
    )
