"""The lesson swiglu_width: how wide a gated network is."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=40,
    exercises=("round_up", "hidden_width"),
    saves=("round_up", "hidden_width"),
    diagram="feed-forward",
)
