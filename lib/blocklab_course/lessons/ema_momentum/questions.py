"""The lesson's questions outside of figures."""

from blocklab_course.i18n import Text
from blocklab_course.panel.question import Question, predict


def flower_beside_palace() -> Question:
    return predict(
        "flower_beside_palace",
        {
            Text(en="a daisy again", zh="又变回雏菊"): False,
            Text(en="still a tennis ball", zh="还是网球"): False,
            Text(en="something else", zh="别的东西"): True,
        },
        why=Text(
            en="The palace changes the mean and the variance of the batch, so the flower becomes corn.",
            zh="多了宫殿，小批量的均值和方差都变了，花就成了玉米。",
        ),
    )


def still_a_daisy() -> Question:
    return predict(
        "still_a_daisy",
        {
            Text(en="with both", zh="两个都行"): False,
            Text(en="only with 0.1", zh="只有 0.1"): False,
            Text(en="only with 0.99", zh="只有 0.99"): False,
            Text(en="with neither", zh="都不行"): True,
        },
        why=Text(
            en="0.1 leaves 35% of the memory, and 0.99 leaves nothing of it.",
            zh="取 0.1，记忆只剩 35%；取 0.99，什么也没剩下。",
        ),
    )
