"""The exercises of lesson 15."""

from .generate import GENERATE
from .tokens_per_second import TOKENS_PER_SECOND

EXERCISES = (TOKENS_PER_SECOND, GENERATE)
