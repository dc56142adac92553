"""A static picture with links laid over it."""

from base64 import b64encode
from collections.abc import Callable
from html import escape

from matplotlib.figure import Figure

from blocklab_course.panel.canvas import DPI, Canvas, png

SCALE = 2  # pixels per CSS pixel, for sharp screens
FRAME = "position: relative; max-width: {width:.0f}px"
PLACE = "position: absolute; left: {:.2%}; top: {:.2%}; width: {:.2%}; height: {:.2%}; border-radius: 14px"

Link = tuple[tuple[float, float, float, float], str, str]


class LinkedPicture:
    """A static picture and the links on it.

    links: (left, top, width, height) as fractions of the picture, target, and the name for screen readers.
    """

    def __init__(self, picture: Callable[[Figure], Callable[[], str]], size: tuple[float, float], links: list[Link]):
        canvas = Canvas(size, SCALE)
        self.text = picture(canvas.figure)()
        self.png = b64encode(png(canvas.still(SCALE))).decode()
        self.size, self.links = size, links

    def html(self) -> str:
        """Return the picture with an empty link over each linked part."""
        image = f'<img src="data:image/png;base64,{self.png}" alt="{escape(self.text)}"'
        frame = f'<div style="{FRAME.format(width=self.size[0] * DPI)}">{image} style="width: 100%; display: block">'
        return frame + "".join(self._link(*link) for link in self.links) + "</div>"

    def _link(self, place: tuple[float, float, float, float], target: str, name: str) -> str:
        attributes = f'aria-label="{escape(name)}" title="{escape(name)}"'
        return f'<a href="{escape(target)}" {attributes} style="{PLACE.format(*place)}"></a>'

    def _repr_mimebundle_(self, **_options) -> tuple[dict, dict]:
        width, height = (round(inches * DPI) for inches in self.size)
        data = {"text/plain": self.text, "image/png": self.png, "text/html": self.html()}
        return data, {"image/png": {"width": width, "height": height}}
