"""The style of a stroke as CSS."""

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
    "#000000": "ink",  # matplotlib's default for axes and text
}
"""Colours that a dark page replaces, and the names of their CSS variables."""

SHADES = {palette.shade(colour, light): (colour, light) for colour in NAMES for light in palette.SHADES}
"""The colour and the amount of light of each shade."""


def style(fill: Colour | None, line: Colour | None, pen: str, smooth: bool = True) -> str:
    """Return the CSS of a face and an outline, either may be None; `pen` comes from `stroke_style`."""
    css = [f"fill:{colour(fill)}" + opacity("fill", fill) if fill else "fill:none"]
    if line:
        css.append(f"stroke:{colour(line)}{opacity('stroke', line)};{pen}")
    return ";".join(css + ["shape-rendering:crispEdges"] * (not smooth))


def can_merge(style: str) -> bool:
    """Return whether lines of this style can be merged into one path: it has no face and is opaque."""
    return style.startswith("fill:none") and "opacity" not in style


def stroke_style(width: float, dashes: tuple[float, ...] | None, cap: str, join: str) -> str:
    """Return the CSS of a line; width and dashes (offset first) in tenths of a CSS pixel."""
    css = [f"stroke-width:{width:.4g}"]
    if dashes:
        start, *lengths = (f"{length:.4g}" for length in dashes)
        css.append(f"stroke-dasharray:{' '.join(lengths)}" + (f";stroke-dashoffset:{start}" if dashes[0] else ""))
    if cap != "butt":
        css.append(f"stroke-linecap:{'square' if cap == 'projecting' else cap}")
    if join != "miter":
        css.append(f"stroke-linejoin:{join}")
    return ";".join(css)


@lru_cache(1000)
def colour(rgba: Colour) -> str:
    css = to_hex(rgba)
    if css in NAMES:
        return f"var(--bl-{NAMES[css]},{css})"
    if css in SHADES:
        whole, light = SHADES[css]
        return f"color-mix(in srgb,{colour(to_rgba(whole))},#000 {100 * (1 - light):.0f}%)"
    return css


def opacity(what: str, rgba: Colour) -> str:
    return f";{what}-opacity:{rgba[3]:.3g}" if rgba[3] < 1 else ""
