"""The lesson positional_encoding: sinusoids, clocks and rotations."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=60,
    exercises=("positions_per_turn", "sinusoidal_encoding", "shift_matrix"),
    effort={"positions_per_turn": (3, 2), "sinusoidal_encoding": (10, 2), "shift_matrix": (10, 3)},
    saves=("sinusoidal_encoding",),
    data=("minilm_l6_positions.npz",),
    diagram="positions",
)
