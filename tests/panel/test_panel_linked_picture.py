import re
from base64 import b64decode
from io import BytesIO

from PIL import Image

from blocklab_course.panel import LinkedPicture


def half(figure):
    """A picture that is black on the left and white on the right."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, 2), ylim=(0, 1))
    axes.fill_between([0, 1], 0, 1, color="black")
    return lambda: 'black & "white"'


PICTURE = LinkedPicture(half, (4, 2), [((0.5, 0.25, 0.4, 0.5), "a&b.ipynb", '"b"')])


def test_output_has_text_png_and_html():
    data, metadata = PICTURE._repr_mimebundle_()
    assert data["text/plain"] == 'black & "white"'
    assert metadata["image/png"] == {"width": 400, "height": 200}
    image = Image.open(BytesIO(b64decode(data["image/png"]))).convert("L")
    assert image.size == (800, 400)
    assert image.getpixel((200, 200)) == 0
    assert image.getpixel((600, 200)) == 255
    assert data["image/png"] in data["text/html"]


def test_link_position_and_target():
    html = PICTURE.html()
    assert re.search(r"<div[^>]*position: relative; max-width: 400px", html)
    link = re.search(r"<a [^>]*></a>", html)[0]
    assert "left: 50.00%; top: 25.00%; width: 40.00%; height: 50.00%" in link
    assert 'href="a&amp;b.ipynb"' in link
    assert 'aria-label="&quot;b&quot;"' in link
    assert 'alt="black &amp; &quot;white&quot;"' in html
