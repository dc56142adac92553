"""The lesson swiglu_width: how wide a gated network is."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=55,
    side_trip=True,
    exercises=("round_up", "hidden_width"),
    effort={"round_up": (4, 2), "hidden_width": (8, 2)},
    saves=("round_up", "hidden_width"),
    diagram="feed-forward",
)
