"""Every picture's module makes its panel, and whoever calls it may replace any of the controls."""

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
import torch

from blocklab import lessons
from blocklab.digits import load_digits
from blocklab.language import Text
from blocklab.lessons import LESSONS
from blocklab.panel import Choice, Guess, Panel, Slider, Toggle
from blocklab.real_models.reading import stored_reading
from blocklab.timing.measured_bytes import from_recording, shipped_recording

ROOMS = Path(lessons.__file__).parent
OTHERWISE = {
    "start_here.idle_slider",  # the lesson writes it out, so that a reader sees how a panel is made
    "start_here.lesson_map",  # a LinkedPicture: nothing in it moves
}
SCORES = {("BatchNorm", 2): [60.0, 70.0], ("LayerNorm", 2): [90.0, 95.0]}
ARGUMENTS = {  # of the pictures whose data their lesson brings
    "norm_axes.dimmed_digit": lambda: [load_digits()[0][:8].unsqueeze(1) / 16],
    "small_batches.accuracy_by_batch": lambda: [{Text(en="net", zh="网络"): SCORES}],
    "layer_norm.trained_scales": lambda: [[torch.linspace(0.2, 1.8, 8), torch.linspace(0.5, 1.5, 8)]],
    "positional_encoding.learned_positions": lambda: [torch.eye(160, 32) + 0.5],
    "attention.attention_map": lambda: [stored_reading()],
    "transformer_layers.sentence_through_layers": lambda: [stored_reading()],
    "cuda_timing.against_the_roof": lambda: [from_recording(shipped_recording()), None],
    "cuda_timing.aligned_widths": lambda: [shipped_recording()],
}


def draws(file: Path) -> bool:
    """Whether a module holds a picture: a function of its own name."""
    body = ast.parse(file.read_text("utf-8")).body
    return any(isinstance(part, ast.FunctionDef) and part.name == file.stem for part in body)


PICTURES = [
    f"{lesson.room}.{module.name}"
    for lesson in LESSONS
    for module in iter_modules([str(ROOMS / lesson.room)])
    if not module.ispkg and draws(ROOMS / lesson.room / f"{module.name}.py")
]


def made(picture: str, **own) -> Panel:
    """The panel that the picture's module makes of the lesson's data."""
    module = import_module(f"blocklab.lessons.{picture}")
    arguments = ARGUMENTS[picture]() if picture in ARGUMENTS else []
    return module.panel(*arguments, **own)


def elsewhere(control):
    """A control of the same kind that begins at another value; a guess with another right answer."""
    if isinstance(control, Guess):
        wrong = next(value for number, value in enumerate(control.options.values()) if not control.judge(number))
        return Guess(control.options, right=wrong, told=control.told)
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
