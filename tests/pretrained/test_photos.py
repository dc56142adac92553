"""The photos that come with the package are those of scikit-learn."""

import pytest
import torch

from blocklab_course.pretrained.photos import photo

HAS = {"flower": "flower.jpg", "palace": "china.jpg"}


@pytest.mark.parametrize("name", HAS)
def test_they_are_those_of_scikit_learn(name):
    theirs = pytest.importorskip("sklearn.datasets").load_sample_image(HAS[name])
    assert torch.equal(photo(name), torch.from_numpy(theirs.copy()))
