"""How a stroke looks, as CSS."""

from functools import lru_cache

from matplotlib.colors import to_hex, to_rgba

from blocklab_course.panel import palette

Colour = tuple[float, float, float, float]

NAMES = {
    palette.INK: "ink",
    palette.PAPER: "paper",
    palette.QUIET: "quiet",
    palette.STILL: "still",
    palette.MOVED: "moved",
    palette.POKED: "poked",
    palette.TRUE: "true",
    **{colour: f"group-{number}" for number, colour in enumerate(palette.GROUPS)},
    "#000000": "ink",  # matplotlib's own colour of axes and their words
}
"""Colours that a dark page shows in another way, and what the page calls them."""

SHADES = {palette.shade(colour, light): (colour, light) for colour in NAMES for light in palette.SHADES}
"""The colour and the light that a shade is of."""


def style(fill: Colour | None, line: Colour | None, pen: str, smooth: bool = True) -> str:
    """A face and an outline, either of which may be None. How the line is drawn is what `pen` says."""
    said = [f"fill:{colour(fill)}" + opacity("fill", fill) if fill else "fill:none"]
    if line:
        said.append(f"stroke:{colour(line)}{opacity('stroke', line)};{pen}")
    return ";".join(said + ["shape-rendering:crispEdges"] * (not smooth))


def can_merge(style: str) -> bool:
    """Whether two lines of this style may as well be one: it has no face, and hides what is under it."""
    return style.startswith("fill:none") and "opacity" not in style


def stroke_style(width: float, dashes: tuple[float, ...] | None, cap: str, join: str) -> str:
    """The width, where a dash pattern starts, its lengths: in tenths of a CSS pixel."""
    said = [f"stroke-width:{width:.4g}"]
    if dashes:
        start, *lengths = (f"{length:.4g}" for length in dashes)
        said.append(f"stroke-dasharray:{' '.join(lengths)}" + (f";stroke-dashoffset:{start}" if dashes[0] else ""))
    if cap != "butt":
        said.append(f"stroke-linecap:{'square' if cap == 'projecting' else cap}")
    if join != "miter":
        said.append(f"stroke-linejoin:{join}")
    return ";".join(said)


@lru_cache(1000)
def colour(rgba: Colour) -> str:
    said = to_hex(rgba)
    if said in NAMES:
        return f"var(--bl-{NAMES[said]},{said})"
    if said in SHADES:
        whole, light = SHADES[said]
        return f"color-mix(in srgb,{colour(to_rgba(whole))},#000 {100 * (1 - light):.0f}%)"
    return said


def opacity(what: str, rgba: Colour) -> str:
    return f";{what}-opacity:{rgba[3]:.3g}" if rgba[3] < 1 else ""
