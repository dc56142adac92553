"""A hint sends to the section that teaches its mistake, and its one line is the line that is wrong."""

import pytest

from blocklab.lessons import EXERCISES, check


@pytest.mark.parametrize(
    ("exercise", "mistake", "section", "line"),
    [
        ("pre_norm", "post-norm", "By hand", "x + given"),
        ("pre_norm", "no-norm", "By hand", "sublayer(norm(x))"),
        ("sandwich_layer", "names-as-in-llama", "What you will meet elsewhere", "h = x + "),
        ("sandwich_layer", "only-after", "What you will meet elsewhere", "h = x + "),
        ("sandwich_layer", "residual-normalized", "By hand", "h = x + "),
        ("sandwich_layer", "second-residual-from-the-start", "By hand", "y = h + "),
        ("post_norm_layer", "attention-missing", "By hand", "y = norm2("),
    ],
)
def test_each_mistake_has_its_section_and_its_line(exercise, mistake, section, line):
    wrong = EXERCISES[exercise].variant(EXERCISES[exercise].mistake(mistake))
    check(exercise, wrong)
    verdict = check(exercise, wrong)
    assert verdict.mistake == mistake
    assert f"11_transformer_layers · {section}" in str(verdict)
    assert line in verdict.line
