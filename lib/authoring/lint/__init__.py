"""Checks of the sources and of the built notebooks, run by `python -m authoring check`."""
