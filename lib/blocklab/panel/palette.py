"""The colours of all pictures, named by what they mean. They differ in lightness too, so print keeps the difference."""

INK = "#1f2933"
"""Text, outlines, axes."""

QUIET = "#7b8794"
"""Secondary text and whatever stood there before."""

STILL = "#dfe6ec"
"""What did not move."""

MOVED = "#f08a24"
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
