"""The small extracts of trained models that are part of this package, see NOTICE.txt beside them."""

from importlib.resources import as_file, files

import numpy as np


def load_arrays(file: str) -> dict[str, np.ndarray]:
    """All arrays of a file, by name."""
    with as_file(files("blocklab_course") / "data" / file) as path, np.load(path) as arrays:
        return dict(arrays)
