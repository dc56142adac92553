"""The lesson rotary_positions: rotated queries and keys, and what becomes of them beyond the trained length."""
