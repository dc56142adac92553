"""Blocklab: the building blocks of a Transformer, written to be read and tested against torch."""

__version__ = "0.1.0"
