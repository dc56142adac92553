"""The headings of the lesson that hints lead to."""

from blocklab_course.i18n import Text

TWO_CLOCKS = Text(en="Two clocks", zh="两组指针")
BY_HAND = Text(en="By hand", zh="动手算")
PAIRINGS = Text(en="Two pairings", zh="两种配对")
CARRIED_OVER = Text(en="Going further: weights for the other pairing", zh="选读：换一种配对，怎样重排权重")
