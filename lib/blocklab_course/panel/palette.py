"""The colours of all pictures, named by meaning. They differ in lightness too, so that prints stay readable.

A dark theme replaces them: text becomes light, tints become dark. Use `fixed` for a colour that must not change because
its background does not.
"""

INK = "#1f2933"
"""Text, outlines, axes."""

PAPER = "#ffffff"
"""The background."""

QUIET = "#66727f"
"""Secondary text, and previous values."""

STILL = "#dfe6ec"
"""What did not move."""

MOVED = "#dd7610"
"""What moved."""

POKED = "#c2255c"
"""What the reader touched."""

TRUE = "#2f6fb0"
"""The right result, beside a wrong one."""

OTHER = TRUE
"""The second of two things compared, neither of them wrong; the first is MOVED."""

GROUPS = (
    "#7fb3e6",
    "#f6b26b",
    "#8fce9b",
    "#e39ac0",
    "#c9b6ec",
    "#f2dc6d",
    "#7fd3cf",
    "#e8a29a",
    "#b7c66f",
    "#a9bccb",
    "#d3b58d",
    "#9fe0b7",
)
"""One tint per group of values that share a mean; a number on each block identifies the group without colour."""

SHADES = 0.84, 0.7
"""The light on the front and the side of a solid whose top shows the full colour."""


def shade(colour: str, light: float) -> str:
    """Return a palette colour in less light, one of SHADES. It follows the colour in a dark theme."""
    return "#" + bytes(round(light * part) for part in bytes.fromhex(colour[1:])).hex()


def fixed(colour: str) -> str:
    """Return a palette colour that is the same in every theme: for drawing on a colour map or an image.

    It differs in one bit, so that the page can distinguish it from the colour that changes.
    """
    return f"#{int(colour[1:], 16) ^ 1:06x}"


INK_ON_COLOUR, PAPER_ON_COLOUR = fixed(INK), fixed(PAPER)
"""Text on a colour that is the same in every theme."""


def letters_on(colour: str) -> str:
    """Return a text colour that is readable on a palette colour in every theme."""
    return {MOVED: INK_ON_COLOUR, POKED: PAPER, TRUE: PAPER}.get(colour, INK)
