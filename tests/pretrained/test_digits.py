"""The bundled digits match scikit-learn's."""

import pytest
import torch

from blocklab_course.pretrained.digits import load_digits


def test_digits_and_labels():
    images, labels = load_digits()
    assert (images.shape, images.dtype) == ((1797, 8, 8), torch.float32)
    assert (labels.shape, labels.dtype) == ((1797,), torch.int64)
    assert labels.bincount().tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert [images.min(), images.max()] == [0, 16]
    assert labels[:10].tolist() == list(range(10))


def test_digits_match_scikit_learn():
    theirs = pytest.importorskip("sklearn.datasets").load_digits()
    images, labels = load_digits()
    assert torch.equal(images.double(), torch.from_numpy(theirs.images))
    assert labels.tolist() == theirs.target.tolist()
