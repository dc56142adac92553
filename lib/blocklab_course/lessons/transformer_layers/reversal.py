"""What a network that writes digits backwards has written: how much of it is right, and which digits it looked at."""

from torch import Tensor

from blocklab_course.i18n import Text

NEARLY_ALL, HARDLY_ANY = Text(en="over 95% right", zh="全对的超过 95%"), Text(en="under 5% right", zh="全对的不到 5%")
SOME = Text(en="{:.0%} right", zh="全对的有 {:.0%}")
SEEN = Text(en="{:2} digits: {}, places {}", zh="{:2} 位：{}，位置 {}")
PLACES = 6  # as many as the network was trained on


def told(read: Tensor, written: Tensor) -> str:
    """read, written: (N, L). A place is the one of the digit read that is most often the same as the digit written.

    Shares between 5% and 95% alone are told as numbers: those near 0 and 1 hang on the draw.
    """
    right = (written == read.flip(1)).all(1).float().mean().item()
    places = (written[:, :, None] == read[:, None]).float().mean(0).argmax(-1).tolist()
    verdict = NEARLY_ALL if right > 0.95 else HARDLY_ANY if right < 0.05 else SOME.format(right)
    return SEEN.format(read.shape[1], verdict, places[:PLACES])
