"""Two bundled photos, a flower and a palace."""

from importlib.resources import as_file, files

import numpy as np
import torch
from PIL import Image
from torch import Tensor


def photo(name: str) -> Tensor:
    """Load the photo "flower" or "palace": (H, W, 3), 0 to 255.

    Source: vultilion (flower) and danielbuechele (palace), Flickr, CC BY 2.0
    """
    with as_file(files("blocklab_course") / "data" / f"{name}.jpg") as path, Image.open(path) as picture:
        return torch.from_numpy(np.array(picture))
