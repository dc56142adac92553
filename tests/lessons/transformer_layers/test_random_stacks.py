"""Untrained stacks: what torch's layers give, the numbers that are said of each place, and those that are recorded."""

from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

from authoring.record_stacks import RECORDED
from blocklab.norm_placement import PLACES, NormPlacementLayer
from blocklab_course.lessons.transformer_layers.random_stacks import (
    DEEPEST,
    DEPTHS,
    HEADS,
    SEEDS,
    WIDTH,
    mean_cosine,
    measured,
    random_numbers,
)
from blocklab_course.lessons.transformer_layers.recorded_stacks import COLUMNS, KINDS, record, recorded, summed_up

pytestmark = pytest.mark.exhaustive


def one_stack(depth, norm_first, seed):
    """One stack of torch's layers, in float64: the gradients of W2, and the tokens after the last layer."""
    weights, tokens, head, targets = random_numbers()
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
    learned = [layer.linear2.weight for layer in layers] + [layer.self_attn.in_proj_weight for layer in layers]
    gradients = torch.autograd.grad(loss, learned)
    choosing = [gradient[: 2 * WIDTH].square().sum().sqrt().item() for gradient in gradients[depth:]]
    return [gradient.square().sum().sqrt().item() for gradient in gradients[:depth]], choosing, x.detach()


@pytest.mark.parametrize(("place", "norm_first"), [("pre", True), ("post", False)])
@pytest.mark.parametrize(("depth", "seed"), [(3, 0), (12, SEEDS - 1)])
def test_measured_is_what_torchs_layers_give(depth, place, norm_first, seed):
    gradients, choosing, x = one_stack(depth, norm_first, seed)
    seen = measured(depth, place)
    assert seen.gradient[:, seed].tolist() == pytest.approx(gradients, rel=1e-3)
    assert seen.choosing[:, seed].tolist() == pytest.approx(choosing, rel=2e-3)
    assert seen.rms[-1, seed] == pytest.approx(x.square().mean().sqrt().item(), rel=1e-4)
    cosines = [F.cosine_similarity(s[i], s[j], dim=0) for s in x for i in range(len(s)) for j in range(i)]
    assert seen.cosine[-1, seed] == pytest.approx(torch.stack(cosines).mean().item(), rel=1e-3)


def test_weights_are_drawn_as_in_nn_transformer():
    weights, *_ = random_numbers()
    torch.manual_seed(0)  # the deviation of 64 numbers is itself a little random
    torchs = nn.Transformer(WIDTH, HEADS, 1, 1, 4 * WIDTH, batch_first=True).encoder.layers[0].state_dict()
    for name, expected in torchs.items():
        assert weights[0][name].shape == (SEEDS, *expected.shape)
        assert weights[0][name].std(correction=0) == pytest.approx(expected.std(correction=0).item(), rel=0.15)


def test_to_measure_leaves_the_random_numbers_of_others_alone():
    random_numbers()
    torch.manual_seed(3)
    measured(3, "sandwich", "head")
    drawn = torch.rand(1)
    torch.manual_seed(3)
    assert torch.equal(drawn, torch.rand(1))


def test_mean_cosine_in_the_head():
    assert mean_cosine(torch.tensor([[3.0, 0.0], [5.0, 0.0], [0.0, 2.0]])) == pytest.approx(1 / 3)


SAID = {  # RMS after 6, 12 and 48 layers; the gradient of the first and the last layer of 48; the cosine after 48
    ("post", None): ((1, 1, 1), 0.63, 0.96, 1.000),
    ("pre", None): ((1.95, 2.71, 5.75), 0.88, 0.18, 0.854),
    ("parallel", None): ((1.95, 2.73, 5.79), 0.87, 0.18, 0.846),
    ("sandwich", None): ((3.56, 4.88, 9.55), 1.10, 0.19, 0.922),
    ("output", None): ((3.54, 4.88, 9.80), 7.03, 0.19, 0.876),
    ("output", "whole"): ((3.57, 4.86, 9.69), 1.11, 0.19, 0.901),
    ("output", "head"): ((3.57, 4.87, 9.72), 1.14, 0.19, 0.901),
}
RANGES = {"post": (0.13, 1.33), "pre": (0.81, 0.99), "output": (3.7, 11.3)}  # of the first gradient, over the seeds


@pytest.mark.parametrize(("place", "qk_norm"), SAID)
def test_each_place_gives_the_numbers_that_are_said(place, qk_norm):
    seen = measured(DEEPEST, place, qk_norm)
    rms, first, last, cosine = SAID[place, qk_norm]
    assert [seen.rms[depth - 1].mean() for depth in (6, 12, 48)] == pytest.approx(rms, abs=0.0055)
    assert seen.gradient[0].mean() == pytest.approx(first, abs=0.0055)
    assert seen.gradient[-1].mean() == pytest.approx(last, abs=0.0055)
    assert seen.cosine[-1].mean() == pytest.approx(cosine, abs=6e-4)
    if qk_norm is None and place in RANGES:
        ends = seen.gradient[0].min(), seen.gradient[0].max()
        assert ends == pytest.approx(RANGES[place], abs=0.05 if place == "output" else 0.0055)


def test_the_lesson_says_what_post_norm_and_pre_norm_give():
    pre, post = measured(DEEPEST, "pre"), measured(DEEPEST, "post")
    assert (pre.cosine[11].mean(), post.cosine[11].mean()) == (
        pytest.approx(0.64, abs=5e-3),
        pytest.approx(0.97, abs=5e-3),
    )
    assert pre.choosing[-1].mean() == pytest.approx(0.007, rel=0.1)
    assert post.gradient[-1].mean() / pre.gradient[-1].mean() == pytest.approx(5, abs=0.5)
    shallow = measured(DEPTHS[0], "pre")
    assert shallow.gradient[-1].mean() == pytest.approx(0.59, abs=5e-3)


def test_where_tokens_are_alike_it_does_not_matter_which_of_them_attention_chooses():
    assert measured(DEEPEST, "post").choosing[-1].max() < 1e-7  # mostly rounding, so nothing but a bound is said
    for seed in range(SEEDS):
        _, choosing, _ = one_stack(DEEPEST, False, seed)
        assert choosing[-1] < 3e-8


def cosines_in_post_norm(drawn):
    """Mean cosines after 12 and 48 post-norm layers as wide as BERT's, which `drawn` initializes."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        x, found = torch.randn(1, 16, 768), []
        layer = nn.TransformerEncoderLayer(768, 12, 3072, 0.0, activation="gelu", batch_first=True)
        for _ in range(DEEPEST):
            for parameter in layer.parameters():
                if parameter.dim() > 1:
                    drawn(parameter)
            x = layer(x)
            found.append(mean_cosine(x).item())
    return found[11], found[-1]


def test_how_fast_tokens_become_alike_depends_on_the_first_weights():
    after_12, after_48 = cosines_in_post_norm(lambda parameter: nn.init.normal_(parameter, 0, 0.02))
    assert after_12 < 0.3
    assert after_48 == pytest.approx(0.9, abs=0.04)
    assert cosines_in_post_norm(nn.init.xavier_uniform_)[0] > 0.9


def last_given(place, seed=0):
    """RMS of what the last feed-forward network of 48 reads, and of what it gives."""
    weights, tokens, *_ = random_numbers()
    layer, given = NormPlacementLayer(place, WIDTH, HEADS, 4 * WIDTH), []
    layer.linear1.register_forward_pre_hook(lambda _, read: given.append(read[0]))
    layer.linear2.register_forward_hook(lambda _, read, y: given.append(y))
    x = tokens[seed]
    with torch.no_grad():
        for state in weights:
            layer.load_state_dict({name: value[seed] for name, value in state.items()}, strict=False)
            x = layer(x)
    return [y.square().mean().sqrt().item() for y in given[-2:]]


def test_the_norm_behind_f_divides_by_the_size_of_what_f_gives():
    of_all = {place: [last_given(place, seed) for seed in range(SEEDS)] for place in ("sandwich", "output")}
    sandwich = sum(y for _, y in of_all["sandwich"]) / SEEDS
    assert sandwich == pytest.approx(0.54, abs=0.0055)
    assert sum(y / x for x, y in of_all["output"]) / SEEDS == pytest.approx(sandwich, abs=0.02)
    pre, behind = recorded()["pre", False, DEEPEST], recorded()["sandwich", False, DEEPEST]
    reckoned = pre["gradient"][0, -1] * pre["rms"][0, -1] / behind["rms"][0, -1] / sandwich
    assert reckoned == pytest.approx(0.2, abs=5e-3)
    assert behind["gradient"][0, -1] == pytest.approx(0.19, abs=5e-3)


def first_and_last_gradient(sent_back):
    """Of W2, in one pre-norm stack of 48 layers; without what the sub-layers send back, x alone carries gradients."""
    weights, tokens, head, targets = random_numbers()
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True, norm_first=True)
    x, fed = tokens[0], []
    for state in weights:
        state = {name: value[0].clone() for name, value in state.items()}
        fed.append(state["linear2.weight"].requires_grad_())
        read = x if sent_back else x.detach()
        x = x + functional_call(layer, state, (read,)) - read
    scores = F.layer_norm(x, (WIDTH,)) @ head[0]
    loss = F.cross_entropy(scores.flatten(0, 1), targets[0].flatten())
    return [gradient.norm().item() for gradient in torch.autograd.grad(loss, (fed[0], fed[-1]))]


def test_the_first_gradient_is_large_by_what_later_sub_layers_send_back():
    first, last = first_and_last_gradient(sent_back=True)
    assert first > 4 * last
    alone, also_last = first_and_last_gradient(sent_back=False)
    assert also_last == pytest.approx(last, rel=1e-3)
    assert alone == pytest.approx(last, rel=0.25)


# What is recorded


def test_the_table_has_a_row_for_each_layer_of_each_stack():
    rows = RECORDED.read_text("utf-8").splitlines()
    assert rows[0].split(",") == list(COLUMNS)
    assert len(rows) == 1 + 2 * len(PLACES) * sum(DEPTHS)
    assert set(recorded()) == {(place, qk, depth) for place in PLACES for qk in (False, True) for depth in DEPTHS}
    for (_place, _qk_norm, depth), seen in recorded().items():
        assert all(numbers.shape == (3, depth) for numbers in seen.values())
        assert all((low <= mean + 1e-9).all() and (mean <= high + 1e-9).all() for mean, low, high in seen.values())


@pytest.mark.parametrize(
    ("place", "qk_norm", "depth"),
    [
        ("post", "", 24),
        ("pre", "", 12),
        ("output", "", 48),
        ("output", "whole", 24),
        ("sandwich", "", 6),
        ("parallel", "whole", 12),
        ("pre", "whole", 3),
    ],
)
def test_what_is_recorded_is_measured_again(place, qk_norm, depth):
    kept = recorded()[place, bool(qk_norm), depth]
    anew = summed_up(depth, place, qk_norm).T
    for number, kind in enumerate(KINDS):
        assert kept[kind] == pytest.approx(anew[3 * number : 3 * number + 3], rel=2e-3)


def test_to_record_is_to_write_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr("blocklab_course.lessons.transformer_layers.recorded_stacks.DEPTHS", (3, 6))
    record(tmp_path / "table.csv")
    written = (tmp_path / "table.csv").read_text("utf-8").splitlines()
    kept = [row for row in RECORDED.read_text("utf-8").splitlines() if row.split(",")[2] in ("depth", "3", "6")]
    assert [row.split(",")[:4] for row in written] == [row.split(",")[:4] for row in kept]
    for row, other in zip(written[1:], kept[1:], strict=True):
        assert [float(x) for x in row.split(",")[4:]] == pytest.approx(
            [float(x) for x in other.split(",")[4:]], rel=2e-3
        )


def test_a_stack_is_the_beginning_of_a_deeper_one():
    for shallow, deep in pairwise(DEPTHS):
        for kind in ("cosine", "rms"):
            for place in PLACES:
                kept = recorded()[place, False, deep][kind][:, :shallow]
                assert kept == pytest.approx(recorded()[place, False, shallow][kind], rel=2e-3)
