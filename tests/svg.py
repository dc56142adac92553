"""A drawing as one SVG, the plain way: what a browser has to show for it."""

from html import escape

from blocklab.panel.records import Drawing, Records


def svg(drawing: Drawing, records: Records, width: int, height: int) -> str:
    """Width and height in CSS pixels."""
    holes = iter(drawing.moving)
    strokes = [n for stroke in records[drawing.rest][1] for n in ([stroke] if stroke else next(holes))]
    shown = "".join(element(number, records, 10 * height) for number in strokes)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    return f'{head} viewBox="0 0 {10 * width} {10 * height}">{shown}</svg>'


def element(number: int, records: Records, height: int) -> str:
    kind, *record = records[number]
    if kind == "image":
        clip, x, y, wide, high, smooth, url = record
        how = "auto" if smooth else "pixelated"
        looks = f'preserveAspectRatio="none" style="image-rendering:{how}"'
        inner = f'<image x="{x}" y="{y}" width="{wide}" height="{high}" {looks} href="{url}"/>'
        return clipped(inner, clip, number, records)
    style, clip, *record = record
    css = records[style][1]
    if kind == "path":
        d, *hatch = record
        inner = f'<path d="{d}" style="{css}"/>'
        if hatch:
            _, tile, size, ink = records[hatch[0]]
            pattern = f'<pattern id="h{number}" y="{height % size}" width="{size}" height="{size}"'
            inner = f'{pattern} patternUnits="userSpaceOnUse"><path d="{tile}" style="{ink}"/></pattern>' + inner
            inner += f'<path d="{d}" fill="url(#h{number})"/>'
    elif kind == "marks":
        d, places = record
        inner = "".join(
            f'<path d="M{x} {y}{d}" style="{css}"/>' for x, y in zip(places[::2], places[1::2], strict=True)
        )
    else:
        transform, letters, said = record
        d = "".join(
            f"M{x} {y}{records[glyph][1]}"
            for glyph, x, y in zip(letters[::3], letters[1::3], letters[2::3], strict=True)
        )
        inner = f'<path aria-label="{escape(said)}" transform="{transform}" d="{d}" style="{css}"/>'
    return clipped(inner, clip, number, records)


def clipped(inner: str, clip: int, number: int, records: Records) -> str:
    if not clip:
        return inner
    _, *shape = records[clip]
    if len(shape) == 1:
        window = f'<path d="{shape[0]}"/>'
    else:
        x, y, width, height = shape
        window = f'<rect x="{x}" y="{y}" width="{width}" height="{height}"/>'
    return f'<clipPath id="c{number}">{window}</clipPath><g clip-path="url(#c{number})">{inner}</g>'
