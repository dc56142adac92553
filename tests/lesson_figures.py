"""The figures in the lesson packages, and their panels with cheap data."""

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import torch

from blocklab_course import lessons
from blocklab_course.benchmarking.measured_bytes import from_recording, shipped_recording
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.panel import Panel
from blocklab_course.pretrained.trace import stored_trace
from lesson_functions import function_of

LESSONS_FOLDER = Path(lessons.__file__).parent
WITHOUT_PANEL = {
    "start_here.idle_slider",  # its panel is made in the lesson's notebook
    "start_here.lesson_map",  # a LinkedPicture
}
ARGUMENTS = {  # of figures that get their data from the lesson's notebook
    "why_normalize.signals_through_layers": lambda: [function_of("01_why_normalize", "network")],
    "layer_norm.trained_scales": lambda: [[torch.linspace(0.2, 1.8, 8), torch.linspace(0.5, 1.5, 8)]],
    "positional_encoding.learned_positions": lambda: [torch.eye(160, 32) + 0.5],
    "attention.attention_map": lambda: [stored_trace()],
    "transformer_layers.sentence_through_layers": lambda: [stored_trace()],
    "cuda_timing.against_the_roof": lambda: [from_recording(shipped_recording()), None],
    "cuda_timing.aligned_widths": lambda: [shipped_recording()],
}


def is_figure(file: Path) -> bool:
    """Whether a module has a function of its own name, which draws a figure."""
    body = ast.parse(file.read_text("utf-8")).body
    return any(isinstance(part, ast.FunctionDef) and part.name == file.stem for part in body)


FIGURES = [
    f"{lesson.package}.{module.name}"
    for lesson in LESSONS
    for module in iter_modules([str(LESSONS_FOLDER / lesson.package)])
    if not module.ispkg and is_figure(LESSONS_FOLDER / lesson.package / f"{module.name}.py")
]


def make_panel(figure: str, **controls) -> Panel:
    module = import_module(f"blocklab_course.lessons.{figure}")
    arguments = ARGUMENTS[figure]() if figure in ARGUMENTS else []
    return module.panel(*arguments, **controls)
