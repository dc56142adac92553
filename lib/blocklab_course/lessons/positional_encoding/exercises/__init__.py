"""The exercises of positional_encoding, in the order of the lesson."""

from .positions_per_turn import POSITIONS_PER_TURN
from .sinusoidal_encoding import SHIFT_MATRIX, SINUSOIDAL_ENCODING

EXERCISES = (POSITIONS_PER_TURN, SINUSOIDAL_ENCODING, SHIFT_MATRIX)
