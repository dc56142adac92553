import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from blocklab_course.lessons.ema_momentum import two_photos


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
