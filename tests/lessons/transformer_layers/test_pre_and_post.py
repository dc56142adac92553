import re
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from blocklab.lessons.transformer_layers.pre_and_post import (
    DEEPEST,
    DEPTHS,
    HEADS,
    OPENING,
    SEEDS,
    WIDTH,
    draws,
    mean_cosine,
    measured,
    panel,
    pre_and_post,
)


def one_stack(depth, norm_first, seed):
    """One stack of torch's layers, in float64: the gradients of W2, and the tokens after the last layer."""
    _, weights, tokens, head, targets = draws(norm_first)
    layers = [
        nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True, norm_first=norm_first).double()
        for _ in range(depth)
    ]
    x = tokens[seed].double()
    for layer, state in zip(layers, weights, strict=False):
        layer.load_state_dict({name: value[seed] for name, value in state.items()}, strict=True)
        x = layer(x)
    y = F.layer_norm(x, (WIDTH,)) if norm_first else x
    loss = F.cross_entropy((y @ head[seed].double()).flatten(0, 1), targets[seed].flatten())
    gradients = torch.autograd.grad(loss, [layer.linear2.weight for layer in layers])
    return [gradient.square().sum().sqrt().item() for gradient in gradients], x.detach()


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize(("depth", "seed"), [(3, 0), (12, SEEDS - 1)])
def test_measured_is_what_torchs_layers_give(depth, norm_first, seed):
    gradients, x = one_stack(depth, norm_first, seed)
    seen = measured(depth, norm_first)
    assert seen.gradient[:, seed].tolist() == pytest.approx(gradients, rel=1e-3)
    assert seen.rms[-1, seed] == pytest.approx(x.square().mean().sqrt().item(), rel=1e-4)
    cosines = [F.cosine_similarity(s[i], s[j], dim=0) for s in x for i in range(len(s)) for j in range(i)]
    assert seen.cosine[-1, seed] == pytest.approx(torch.stack(cosines).mean().item(), rel=1e-3)


def test_weights_are_drawn_as_in_nn_transformer():
    _, weights, *_ = draws(False)
    torch.manual_seed(0)  # the deviation of 64 numbers is itself a little random
    torchs = nn.Transformer(WIDTH, HEADS, 1, 1, 4 * WIDTH, batch_first=True).encoder.layers[0].state_dict()
    drawn = weights[0]
    for name, expected in torchs.items():
        assert drawn[name].shape == (SEEDS, *expected.shape)
        assert drawn[name].std(correction=0) == pytest.approx(expected.std(correction=0).item(), rel=0.15)
    assert all(torch.equal(x, y) for name, x in drawn.items() for y in [draws(True)[1][0][name]])


def test_mean_cosine_in_the_head():
    assert mean_cosine(torch.tensor([[3.0, 0.0], [5.0, 0.0], [0.0, 2.0]])) == pytest.approx(1 / 3)


def test_the_lesson_says_what_is_seen(figure):
    update = pre_and_post(figure)
    first, *_, last = (update(depth=depth, gradients=True) for depth in DEPTHS)
    assert "at the last 0.59 and 0.75" in first
    assert "at the first layer 0.88 and 0.63, at the last 0.18 and 0.96" in last
    assert "RMS 5.8 and 1.0, mean cosine 0.85 and 1.00." in last
    assert measured(6, False).cosine[-1].mean() == pytest.approx(0.70, abs=0.005)
    post = measured(DEEPEST, False).gradient
    assert (post.min(), post.max()) == (pytest.approx(0.1, abs=0.03), pytest.approx(2, abs=0.03))
    lasts = [measured(depth, True).gradient[-1].mean() for depth in DEPTHS]
    assert all(0.68 < deeper / shallower < 0.78 for shallower, deeper in pairwise(lasts))
    assert all(0.8 < measured(depth, True).gradient[0].mean() < 1 for depth in DEPTHS)
    assert all(measured(depth, False).gradient[-1].mean() >= lasts[0] for depth in DEPTHS)


def test_a_stack_is_the_beginning_of_a_deeper_one():
    for norm_first in (True, False):
        shallow, deep = measured(DEPTHS[0], norm_first), measured(DEEPEST, norm_first)
        assert deep.rms[: DEPTHS[0]] == pytest.approx(shallow.rms, rel=1e-5)


@pytest.mark.parametrize("depth", [3, 12, 24])
def test_lines_bands_and_marks(figure, depth):
    pre_and_post(figure)(depth=depth, gradients=True)
    for axes, name in zip(figure.axes, ("cosine", "rms", "gradient"), strict=True):
        for place, norm_first in ((0, True), (1, False)):
            values = getattr(measured(depth, norm_first), name)
            line, dot = axes.lines[2 * place], axes.lines[2 * place + 1]
            assert line.get_ydata().tolist() == values.mean(1).tolist()
            assert dot.get_data() == ([depth], [values[-1].mean()])
            outline = axes.collections[place].get_paths()[0].vertices[:, 1]
            assert (outline.min(), outline.max()) == (values.min(), values.max())
            low, high = axes.get_ylim()
            assert low <= values.min() <= values.max() <= high
    trail = figure.axes[2].lines[4].get_data()
    assert list(trail[0]) == [d for d in DEPTHS if OPENING <= d < depth]


def test_the_right_guess_is_the_layer_whose_gradient_shrinks_at_each_doubling():
    shown = panel()
    guess, seen = shown.guess, {"first": [], "last": []}
    for depth in DEPTHS:
        shown.move(depth=depth, gradients=True)
        numbers = re.search(r"first layer ([\d.]+) and .* last ([\d.]+) and", shown.line).groups()
        for layer, number in zip(seen, numbers, strict=True):
            seen[layer].append(number)
    shrinking = {
        layer for layer, numbers in seen.items() if all(float(deeper) < float(one) for one, deeper in pairwise(numbers))
    }
    assert guess.right == shrinking
    told = str(guess.told)
    assert f"falls from {seen['last'][0]} to {seen['last'][-1]}" in told
    assert f"goes from {seen['first'][0]} to {seen['first'][-1]}" in told


def test_the_opening_shows_no_gradient_and_so_does_not_answer_the_question(figure):
    opening = panel()
    assert opening.values == {"depth": OPENING, "gradients": False}
    assert "radient" not in opening.line
    line = pre_and_post(figure)(**opening.values)
    assert line == opening.line
    right = figure.axes[2]
    assert [artist.get_visible() for artist in (*right.lines, *right.collections)] == [False] * 8
    assert right.texts[0].get_visible()
