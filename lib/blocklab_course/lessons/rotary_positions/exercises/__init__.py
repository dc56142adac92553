"""The exercises of rotary_positions, in the order of the lesson."""

from .permute_rows import PERMUTE_ROWS
from .rotary_embedding import ROTARY_EMBEDDING
from .turned_product import TURNED_PRODUCT

EXERCISES = (TURNED_PRODUCT, ROTARY_EMBEDDING, PERMUTE_ROWS)
