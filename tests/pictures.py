"""The pictures of the lessons' rooms, and their panels made cheaply."""

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import torch

from blocklab_course import lessons
from blocklab_course.benchmarking.measured_bytes import from_recording, shipped_recording
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.panel import Panel
from blocklab_course.pretrained.digits import load_digits
from blocklab_course.pretrained.trace import stored_trace
from lesson_functions import function_of

ROOMS = Path(lessons.__file__).parent
OTHERWISE = {
    "start_here.idle_slider",  # the lesson writes it out, so that a reader sees how a panel is made
    "start_here.lesson_map",  # a LinkedPicture: nothing in it moves
}
SCORES = {("BatchNorm", 2): [60.0, 70.0], ("LayerNorm", 2): [90.0, 95.0]}
ARGUMENTS = {  # of the pictures whose data their lesson brings
    "why_normalize.signals_through_layers": lambda: [function_of("01_why_normalize", "network")],
    "norm_axes.dimmed_digit": lambda: [load_digits()[0][:8].unsqueeze(1) / 16],
    "small_batches.accuracy_by_batch": lambda: [{"mlp": SCORES}],
    "layer_norm.trained_scales": lambda: [[torch.linspace(0.2, 1.8, 8), torch.linspace(0.5, 1.5, 8)]],
    "positional_encoding.learned_positions": lambda: [torch.eye(160, 32) + 0.5],
    "attention.attention_map": lambda: [stored_trace()],
    "transformer_layers.sentence_through_layers": lambda: [stored_trace()],
    "cuda_timing.against_the_roof": lambda: [from_recording(shipped_recording()), None],
    "cuda_timing.aligned_widths": lambda: [shipped_recording()],
}


def draws(file: Path) -> bool:
    """Whether a module holds a picture: a function of its own name."""
    body = ast.parse(file.read_text("utf-8")).body
    return any(isinstance(part, ast.FunctionDef) and part.name == file.stem for part in body)


PICTURES = [
    f"{lesson.package}.{module.name}"
    for lesson in LESSONS
    for module in iter_modules([str(ROOMS / lesson.package)])
    if not module.ispkg and draws(ROOMS / lesson.package / f"{module.name}.py")
]


def made(picture: str, **own) -> Panel:
    """The panel that the picture's module makes of the lesson's data."""
    module = import_module(f"blocklab_course.lessons.{picture}")
    arguments = ARGUMENTS[picture]() if picture in ARGUMENTS else []
    return module.panel(*arguments, **own)
