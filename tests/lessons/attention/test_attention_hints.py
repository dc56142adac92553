"""A hint sends to the section that teaches its mistake, and its one line is the line that is wrong."""

import pytest

from blocklab_course import check
from blocklab_course.lessons.catalog import EXERCISES

HIDE = "masked_fill(~mask, -torch.inf)"


@pytest.mark.parametrize(
    ("exercise", "mistake", "section", "line"),
    [
        ("causal_mask", "inverted", "One mask, two polarities", "arange"),
        ("causal_mask", "upper-triangle", "Poke one token", "arange"),
        ("causal_mask", "ones-and-zeros", "What you will meet elsewhere", "dtype=torch.bool"),
        ("attention", "scale-missing", "Why √d?", "** 0.5"),
        ("attention", "scaled-by-keys", "Why √d?", "** 0.5"),
        ("attention", "scaled-by-first-axis", "Why √d?", "** 0.5"),
        ("attention", "softmax-over-axis-zero", "By hand", "softmax(-1)"),
        ("attention", "softmax-over-queries", "By hand", "softmax(-1)"),
        ("attention", "masked-with-zero", "By hand", HIDE),
        ("attention", "mask-always-wanted", "By hand", "if mask is not None:"),
        ("attention", "all-axes-of-the-key-turned", "By hand", "key.mT"),
        ("attention", "axes-one-and-two-turned", "By hand", "key.mT"),
        ("split_heads", "view-alone", "Heads", "unflatten"),
        ("attention", "mask-inverted", "One mask, two polarities", HIDE),
        ("attention", "mask-transposed", "Poke one token", HIDE),
        ("attention", "keys-for-values", "By hand", "weights @ value"),
    ],
)
def test_each_mistake_has_its_section_and_its_line(exercise, mistake, section, line):
    wrong = EXERCISES[exercise].variant(EXERCISES[exercise].mistake(mistake))
    check(exercise, wrong)
    verdict = check(exercise, wrong)
    assert verdict.mistake == mistake
    assert f"09_attention · {section}" in str(verdict)
    assert line in verdict.hint_line
