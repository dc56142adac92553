"""A hint sends to the section that teaches its mistake, and its one line is the line that is wrong."""

import pytest
from torch import nn

from blocklab_course import check
from blocklab_course.lessons.catalog import EXERCISES


@pytest.mark.parametrize(
    ("exercise", "mistake", "section", "line"),
    [
        ("pre_norm", "post-norm", "By hand", "x + given"),
        ("pre_norm", "no-norm", "By hand", "sublayer(norm(x))"),
        ("sandwich_layer", "names-as-in-llama", "What you will meet elsewhere", "h = x + "),
        ("sandwich_layer", "middle-norms-swapped", "What you will meet elsewhere", "h = x + "),
        ("sandwich_layer", "after-the-second-sum", "What you will meet elsewhere", "y = h + "),
        ("sandwich_layer", "only-after", "What you will meet elsewhere", "h = x + "),
        ("sandwich_layer", "residual-normalized", "By hand", "h = x + "),
        ("sandwich_layer", "input-norm-twice", "What you will meet elsewhere", "y = h + "),
        ("sandwich_layer", "first-residual-normalized", "By hand", "h = x + "),
        ("sandwich_layer", "second-residual-normalized", "By hand", "y = h + "),
        ("sandwich_layer", "second-residual-from-the-start", "Exercise: a layer with four norms", "y = h + "),
        ("smollm2_layer", "results-handed-over", "By hand", "around(x, attention, norm1)"),
        ("smollm2_layer", "attention-missing", "Exercise: a layer with four norms", "around(x, swiglu, norm2)"),
        ("smollm2_layer", "added-again-to-attention", "By hand", "around(x, attention, norm1)"),
        ("smollm2_layer", "added-again-to-swiglu", "By hand", "around(x, swiglu, norm2)"),
        ("smollm2_layer", "norms-swapped", "By hand", "around(x, attention, norm1)"),
        ("smollm2_layer", "post-norm", "By hand", "around(x, attention, norm1)"),
        ("smollm2_layer", "second-x-normalized", "By hand", "around(x, swiglu, norm2)"),
        ("smollm2_layer", "swiglu-and-norm2-swapped", "By hand", "around(x, swiglu, norm2)"),
        ("post_norm_layer", "plain-sum-carried", "By hand", "h = norm1("),
        ("post_norm_layer", "norm2-missing", "By hand", "y = norm2("),
        ("post_norm_layer", "attention-missing", "By hand", "y = norm2("),
    ],
)
def test_each_mistake_has_its_section_and_its_line(exercise, mistake, section, line):
    wrong = EXERCISES[exercise].variant(EXERCISES[exercise].mistake(mistake))
    check(exercise, wrong)
    verdict = check(exercise, wrong)
    assert verdict.mistake == mistake
    assert f"12_transformer_layers · {section}" in str(verdict)
    assert line in verdict.hint_line


class NotBegun(nn.Module):
    """The exercise as it stands in the lesson: parts are missing, and `forward` ends in `...`."""

    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(8, 12)

    def forward(self, *_src):
        return ...


class PartsMissing(NotBegun):
    def forward(self, *src):
        return src[0]


def test_what_a_module_lacks_is_a_mistake_only_once_it_is_begun():
    assert check("encoder_layer", NotBegun()).mistake == "not-written-yet"
    assert check("encoder_layer", PartsMissing()).mistake == "state-dict-keys"
