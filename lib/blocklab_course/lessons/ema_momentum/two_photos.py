"""The flower and the palace, to be looked at and as EfficientNet wants them."""

from base64 import b64encode
from io import BytesIO

import torch
from IPython.display import display
from PIL import Image
from torch import Tensor

from blocklab_course.i18n import Text
from blocklab_course.pretrained.efficientnet_lite0 import prepare_picture
from blocklab_course.pretrained.photos import photo

NAMES = "flower", "palace"
HEIGHT = 150  # pixels of the strip that is shown
COLOURS = 128  # enough for a look, in a third of the bytes
SHOWN = Text(en="a flower and a palace", zh="一朵花和一座宫殿")
CREDIT = Text(
    en="Photos: vultilion (flower) and danielbuechele (palace), Flickr, CC BY 2.0, here made smaller",
    zh="照片：vultilion（花）、danielbuechele（宫殿），Flickr，CC BY 2.0，这里缩小了",
)


def prepared() -> Tensor:
    """Both as the network was trained to see them, (2, 3, 224, 224)."""
    return torch.cat([prepare_picture(photo(name)) for name in NAMES])


def show() -> None:
    """Show both side by side, and print whose they are."""
    strip = Image.fromarray(torch.cat([photo(name) for name in NAMES], 1).numpy())
    strip = strip.resize((round(strip.width * HEIGHT / strip.height), HEIGHT)).quantize(COLOURS)
    out = BytesIO()
    strip.save(out, "png", optimize=True)
    display({"image/png": b64encode(out.getvalue()).decode(), "text/plain": str(SHOWN)}, raw=True)
    print(CREDIT)
