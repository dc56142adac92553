"""What four norms reached: the right one, and three with a mistake each."""

from blocklab_course.i18n import Text

YOURS = Text(en="your function", zh="你的函数")
THE_PACKAGES = Text(en="the package's function", zh="课程自带的函数")
MISTAKES = (
    Text(en="divided by n − 1", zh="除以 n − 1"),
    Text(en="ε outside the root", zh="ε 在根号外"),
    Text(en="mean not subtracted", zh="没有减均值"),
)
REACHED = Text(en="{}: {:.0%}", zh="{}：{:.0%}")


def print_reached(reached: list[float], yours: bool) -> None:
    """Print each accuracy beside the name of its norm; yours: the right one is the learner's."""
    for name, share in zip((YOURS if yours else THE_PACKAGES, *MISTAKES), reached, strict=True):
        print(REACHED.format(name, share))
