"""Every module with a figure makes its panel, and a caller can replace any of the controls."""

import pytest

from blocklab_course.panel import Choice, Panel, Prediction, Slider, Toggle
from pictures import ARGUMENTS, OTHERWISE, PICTURES, made


def elsewhere(control):
    """A control of the same kind with another initial value; a guess with another right answer."""
    if isinstance(control, Prediction):
        wrong = next(value for number, value in enumerate(control.options.values()) if not control.judge(number))
        return Prediction(control.options, right=wrong, explanation=control.explanation)
    value = next(value for value in control.ends() if value is not control.default and value != control.default)
    if isinstance(control, Slider):
        first, last = control.at(0), control.at(control.last)
        return Slider(first, last, control.step, value=value, label=control.label, log=control.log)
    if isinstance(control, Choice):
        return Choice(control.options, value, control.label)
    return Toggle(value, control.label)


def test_the_pictures_are_found():
    assert len(PICTURES) >= 30
    assert ARGUMENTS.keys() | OTHERWISE <= set(PICTURES)


@pytest.mark.exhaustive
@pytest.mark.parametrize("picture", [name for name in PICTURES if name not in OTHERWISE])
def test_the_module_makes_its_panel_and_every_control_can_be_replaced(picture):
    panel = made(picture)
    assert isinstance(panel, Panel)
    own = {name: elsewhere(control) for name, control in panel.controls.items()}
    other = made(picture, **own)
    assert other.size == panel.size
    assert list(other.controls) == list(own)
    assert list(other.values.items()) == [(name, own[name].default) for name in panel.values]
    assert [other.controls[name].right for name in own.keys() - panel.values.keys()] == [
        own[name].right for name in own.keys() - panel.values.keys()
    ]
    with pytest.raises(TypeError, match="no_such_control") as refused:
        made(picture, no_such_control=Toggle(True))
    assert [name for name in panel.values if name not in str(refused.value)] == []
    panel.close()
    other.close()
