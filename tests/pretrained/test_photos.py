"""The bundled photos match scikit-learn's."""

import pytest
import torch

from blocklab_course.pretrained.photos import photo

FILES = {"flower": "flower.jpg", "palace": "china.jpg"}


@pytest.mark.parametrize("name", FILES)
def test_photos_match_scikit_learn(name):
    theirs = pytest.importorskip("sklearn.datasets").load_sample_image(FILES[name])
    assert torch.equal(photo(name), torch.from_numpy(theirs.copy()))
