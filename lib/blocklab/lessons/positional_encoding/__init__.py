"""The lesson positional_encoding: sinusoids, clocks and rotations. Its pictures and its exercises."""
