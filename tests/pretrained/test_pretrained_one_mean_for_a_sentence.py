"""What lesson 02 says of MiniLM with one mean for a whole sentence."""

from real_packages import loaded

from blocklab.normalization import standardize
from blocklab_course.model_swap import messages
from blocklab_course.model_swap.networks import GUITAR
from blocklab_course.pretrained import load_minilm, patch_functions


def over_the_sentence(x, _normalized_shape, weight, bias, eps):
    return standardize(x, (-2, -1), eps) * weight + bias


def test_all_sentences_are_near_and_the_one_about_music_is_the_last():
    model = loaded(load_minilm)
    with patch_functions(model, layer_norm=over_the_sentence):
        guitar, *others = model.encode([GUITAR, *messages.SENTENCES])
    cosines = dict(zip(messages.SENTENCES, [guitar.dot(x).item() for x in others], strict=True))
    assert min(cosines.values()) > 0.99
    assert min(cosines, key=cosines.get) == "Someone makes music."
