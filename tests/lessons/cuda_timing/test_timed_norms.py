from itertools import cycle

import torch

from blocklab import normalization
from blocklab_course.lessons.cuda_timing.timed_norms import show_times, timed_by, your_norms

GAIN, BIAS = torch.tensor([1.0, 2, 3, 4]), torch.tensor([4.0, 3, 2, 1])  # (d,)
INPUTS = torch.tensor([[1.0, 5, 2, 4]]), torch.tensor([[2.0, 0, 3, 9]])  # (N, d) each


def test_a_kept_function_takes_one_input_after_the_other():
    kept = {"layer_norm": normalization.layer_norm, "rms_norm": normalization.rms_norm}
    norms = your_norms(kept, cycle(INPUTS), GAIN, BIAS)
    assert list(norms) == ["your layer_norm", "your rms_norm"]
    torch.testing.assert_close(norms["your layer_norm"](), normalization.layer_norm(INPUTS[0], (4,), GAIN, BIAS))
    torch.testing.assert_close(norms["your rms_norm"](), normalization.rms_norm(INPUTS[1], (4,), GAIN))


def test_what_is_not_kept_is_told_and_not_timed(capsys):
    norms = your_norms({"layer_norm": None, "rms_norm": normalization.rms_norm}, cycle(INPUTS), GAIN, BIAS)
    show_times(norms, lambda layer: len(layer()) / 4)
    assert capsys.readouterr().out.splitlines() == [
        "3 readings of each layer, lowest – highest",
        "your layer_norm    not kept yet",
        "your rms_norm    250.000 ms – 250.000 ms",
    ]


def test_layers_take_turns_and_show_their_lowest_and_highest_reading(capsys):
    readings = iter([4, 10, 6, 12, 5, 11])
    show_times({"one": len, "other": max}, lambda layer: next(readings) / 1000)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "one                4.000 ms – 6.000 ms",
        "other             10.000 ms – 12.000 ms",
    ]


def test_whose_watch_it_was():
    assert str(timed_by(len, len)) == "Timed by your function"
    assert str(timed_by(len, max)) == "Timed by the solution"
