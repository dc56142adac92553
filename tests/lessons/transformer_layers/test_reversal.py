import pytest
import torch

from blocklab_course.lessons.transformer_layers.reversal import told

READ = torch.arange(1000).unsqueeze(1) * torch.tensor([1, 3, 7, 11, 13, 17, 19, 23]) // 7 % 10  # (N, L)


@pytest.mark.parametrize(("wrong", "told_as"), [(0, "over 95% right"), (400, "60% right"), (999, "under 5% right")])
def test_what_is_right_and_where_it_was_read(wrong, told_as):
    read = READ[:, :6]
    written = read.flip(1).clone()
    written[:wrong, 0] += 1
    told_all = told(read, written)
    assert told_all.startswith(f" 6 digits: {told_as}, places [")
    if not wrong:
        assert told_all.endswith("[5, 4, 3, 2, 1, 0]")


def test_no_more_than_six_places():
    assert told(READ, READ.flip(1)).endswith("[7, 6, 5, 4, 3, 2]")
