"""Checks that name the mistake: `check("layer_norm", my_layer_norm)`.

An exercise is compared with the reference on inputs chosen to tell mistakes apart. What differs is then compared with
every known wrong variant of the exercise's table, alone and up to three at a time.
"""

from .engine import check
from .tables import EXERCISES
from .verdict import Verdict

__all__ = ["EXERCISES", "Verdict", "check"]
