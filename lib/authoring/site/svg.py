"""Turn a drawing into an SVG, which a page shows before its panel loads and without JavaScript."""

from html import escape
from math import ceil
from zlib import crc32

from blocklab_course.panel.canvas import Canvas
from blocklab_course.panel.display_list import DisplayList, Drawing
from blocklab_course.panel.live_view import smallest_font

from .states_compress import relative_path, smaller_image

SMALLEST_LETTER = 9  # px, as in panel.js: a narrower page scrolls the picture sideways


def picture(canvas: Canvas, label: str, prefix: str) -> str:
    """What a canvas shows, as wide as the page allows; `label` is for screen readers."""
    width, height = (round(side) for side in canvas.figure.bbox.size)
    least = ceil(width * SMALLEST_LETTER / smallest_font(canvas.figure))
    sizes = f"display:block;width:100%;height:auto;min-width:{least}px;max-width:{max(width, least)}px"
    about = f' role="img" aria-label="{escape(label)}" style="{sizes}"'
    return svg(canvas.strokes(), canvas.records, width, height, about, prefix)


def svg(drawing: Drawing, records: DisplayList, width: int, height: int, about: str = "", prefix: str = "") -> str:
    """Width and height in CSS pixels. `about`: further attributes; `prefix` keeps the ids of several pictures apart."""
    slots = iter(drawing.moving)
    strokes = [n for stroke in records[drawing.rest][1] for n in ([stroke] if stroke else next(slots))]
    sheet = Sheet(records, 10 * height, prefix)
    shown = "".join(map(sheet.element, strokes))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"{about}'
    return (
        f'{head} viewBox="0 0 {10 * width} {10 * height}"><defs>{"".join(sheet.defined.values())}</defs>{shown}</svg>'
    )


class Sheet:
    """Turns records into elements, and collects the definitions that several of them share."""

    def __init__(self, records: DisplayList, height: int, prefix: str):
        self._records, self._height, self._prefix = records, height, prefix
        self.defined: dict[int, str] = {}

    def is_text(self, number: int) -> bool:
        return self._records[number][0] == "text"

    def element(self, number: int) -> str:
        kind, *record = self._records[number]
        clip = record[0 if kind == "image" else 1]
        inner = getattr(self, f"_{kind}")(*record)
        return f'<g clip-path="{self._url(clip)}">{inner}</g>' if clip else inner

    def _path(self, style: int, _clip: int, d: str, hatch: int = 0) -> str:
        css, d = self._css(style), relative_path(d)
        if not hatch:
            return f'<path d="{d}" style="{css}"/>'
        face, edge = (f'<path d="{d}" style="{css};{without}:none"/>' for without in ("stroke", "fill"))
        return f'{face}<path d="{d}" fill="{self._url(hatch)}"/>{edge}'

    def _marks(self, style: int, _clip: int, d: str, places: tuple[int, ...]) -> str:
        marks = (f'<path d="M{x} {y}{d}"/>' for x, y in zip(places[::2], places[1::2], strict=True))
        return f'<g style="{self._css(style)}">{"".join(marks)}</g>'

    def _text(self, style: int, _clip: int, transform: str, letters: tuple[int, ...], said: str) -> str:
        placed = zip(letters[::3], letters[1::3], letters[2::3], strict=True)
        d = "".join(f"M{x} {y}{self._records[glyph][1]}" for glyph, x, y in placed)
        return f'<path data-says="{escape(said)}" transform="{transform}" d="{d}" style="{self._css(style)}"/>'

    def _tint(self, style: int, clip: int, x: int, y: int, width: int, height: int, smooth: int, url: str) -> str:
        opacity = self._image(clip, x, y, width, height, smooth, url)
        number = crc32(opacity.encode())
        name = f"{self._prefix}{number}"
        self.defined[number] = f'<mask id="{name}">{opacity}</mask>'
        place = f'x="{x}" y="{y}" width="{width}" height="{height}"'
        return f'<rect {place} style="{self._css(style)}" mask="url(#{name})"/>'

    def _image(self, _clip: int, x: int, y: int, width: int, height: int, smooth: int, url: str) -> str:
        look = f'preserveAspectRatio="none" style="image-rendering:{"auto" if smooth else "pixelated"}"'
        return f'<image x="{x}" y="{y}" width="{width}" height="{height}" {look} href="{smaller_image(url)}"/>'

    def _css(self, style: int) -> str:
        return self._records[style][1]

    def _url(self, number: int) -> str:
        """A reference to a clip or a hatch."""
        name = f"{self._prefix}{number}"
        if number not in self.defined:
            kind, *about = self._records[number]
            self.defined[number] = getattr(self, f"_{kind}")(name, *about)
        return f"url(#{name})"

    def _clip(self, name: str, *shape: int | str) -> str:
        if len(shape) == 1:
            window = f'<path d="{shape[0]}"/>'
        else:
            window = '<rect x="{}" y="{}" width="{}" height="{}"/>'.format(*shape)
        return f'<clipPath id="{name}">{window}</clipPath>'

    def _hatch(self, name: str, d: str, size: int, css: str) -> str:
        tile = f'id="{name}" y="{self._height}" width="{size}" height="{size}" patternUnits="userSpaceOnUse"'
        return f'<pattern {tile}><path d="{d}" style="{css}"/></pattern>'
