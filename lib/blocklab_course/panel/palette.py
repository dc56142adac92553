"""The colours of all pictures, named by what they mean. They differ in lightness too, so print keeps the difference.

In a dark theme a page shows others in their place: letters are light there, tints dark. What has to stay as it is,
because what lies under it stays, is `fixed`.
"""

INK = "#1f2933"
"""Text, outlines, axes."""

PAPER = "#ffffff"
"""What everything is drawn on."""

QUIET = "#66727f"
"""Secondary text and whatever stood there before."""

STILL = "#dfe6ec"
"""What did not move."""

MOVED = "#dd7610"
"""What moved."""

POKED = "#c2255c"
"""What the reader touched."""

TRUE = "#2f6fb0"
"""The right result, beside a wrong one."""

OTHER = TRUE
"""The second of two that are set side by side, neither of them wrong; the first is in MOVED."""

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
"""One tint per group of values that share a mean; a printed number on each block says the same without colour."""

SHADES = 0.84, 0.7
"""How much light falls on the front and on the side of a solid thing, whose top shows its colour."""


def shade(colour: str, light: float) -> str:
    """A colour of the palette in less light, one of SHADES. In a dark theme it follows the colour."""
    return "#" + bytes(round(light * part) for part in bytes.fromhex(colour[1:])).hex()


def fixed(colour: str) -> str:
    """A colour of the palette that is the same in every theme: for what lies on a colour map or an image.

    It is another number, so that it can be told from the one that changes, and no eye sees the difference.
    """
    return f"#{int(colour[1:], 16) ^ 1:06x}"


INK_ON_COLOUR, PAPER_ON_COLOUR = fixed(INK), fixed(PAPER)
"""Letters on a colour that is the same in every theme."""


def letters_on(colour: str) -> str:
    """The colour of letters on a face in a colour of the palette, so that they are read in every theme."""
    return {MOVED: INK_ON_COLOUR, POKED: PAPER, TRUE: PAPER}.get(colour, INK)
