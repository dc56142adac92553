"""The lesson positional_encoding: sinusoids, clocks and rotations."""
