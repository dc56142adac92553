"""Draw the pictures of the READMEs and of the start page in `pic/`: `python -m authoring.figures FOLDER`."""

import sys
from pathlib import Path

from PIL import Image

from blocklab_course import begin
from blocklab_course.i18n import LANGUAGES, Text
from blocklab_course.lessons.attention import poke_one_token
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.start_here.lesson_map import SIZE, lesson_map
from blocklab_course.panel import Panel
from blocklab_course.panel.palette import MOVED, QUIET, TRUE

from .animation import HOLD, SECONDS, animate
from .lesson_panels import PROJECT, run_panels
from .logo import LOGO

PUSHED = Text(
    en="Tokens are pushed one by one; the outputs that see them turn orange, and the causal mask appears",
    zh="逐个推动词元，看得见它的输出变成橙色，因果掩码随之显现",
)
MAP = Text(
    en="A Transformer layer, and the path through the lessons about its parts",
    zh="一个 Transformer 层，以及讲解各部分的课程路线",
)

THUMBNAILS = {  # the picture of each lesson: a panel, and the values of its controls
    "start_here": ("idle_slider", {"scale": 1.0}),
    "why_normalize": ("signals_through_layers", {}),
    "norm_axes": ("axis_painter", {}),
    "ema_momentum": ("drifting_mean", {}),
    "small_batches": ("saturating_batch", {}),
    "layer_norm": ("trained_scales", {"trained": True}),
    "rms_norm": ("circle_and_sphere", {}),
    "activations_and_gates": ("activation_curves", {}),
    "swiglu_width": ("rounding_tiles", {}),
    "attention": ("poke_one_token", {"token": 5, "mask": "causal"}),
    "positional_encoding": ("position_table", {}),
    "rotary_positions": ("two_clocks", {}),
    "transformer_layers": ("sentence_through_layers", {}),
    "kv_cache": ("one_step", {}),
    "cuda_timing": ("guess_then_bytes", {}),
    "your_model": ("wrong_block", {}),
}


BADGES = {  # name → label, value, colour
    "licence": ("license", "MIT", TRUE),
    "languages": ("languages", "English 中文", MOVED),
    "gpu": ("GPU", "not needed", TRUE),
}


def draw(folder: Path) -> None:
    """Write all pictures, and print the paths."""
    for language in LANGUAGES:
        begin(language)
        tokens = [{"token": token, "mask": "causal"} for token in range(poke_one_token.LENGTH)]
        panel = poke_one_token.panel()
        _write(folder / f"attention_{language}.svg", animate(panel, tokens, str(PUSHED)))
        _write_webp(folder / f"attention_{language}.webp", panel, tokens)
        the_map = Panel(lesson_map, size=SIZE)
        _write(folder / f"lesson_map_{language}.svg", animate(the_map, [{}], str(MAP)))
    for lesson in LESSONS:
        name, values = THUMBNAILS[lesson.package]
        panels = run_panels(PROJECT.sources / f"{lesson.name}.py")
        panel = next(panel for (_cell, language), panel in panels.items() if language == "en" and panel.name == name)
        _write(folder / "lessons" / f"{lesson.package}.svg", animate(panel, [values], "", letters=False))

    _write(folder / "logo.svg", f"{LOGO}\n")
    for name, badge in BADGES.items():
        _write(folder / "badges" / f"{name}.svg", render_badge(*badge))


def render_badge(label: str, value: str, colour: str) -> str:
    """A badge with a label on grey and a value on a colour."""
    left, right = (14 + sum(13 if letter > "\u2e80" else 6.6 for letter in text) for text in (label, value))
    font = 'font-family="Verdana,DejaVu Sans,Noto Sans CJK SC,sans-serif" font-size="11"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.0f}" height="20" role="img">'
        f"<title>{label}: {value}</title>"
        f'<clipPath id="r"><rect width="{left + right:.0f}" height="20" rx="3"/></clipPath><g clip-path="url(#r)">'
        f'<rect width="{left:.1f}" height="20" fill="{QUIET}"/>'
        f'<rect x="{left:.1f}" width="{right:.1f}" height="20" fill="{colour}"/></g>'
        f'<g fill="#fff" text-anchor="middle" {font}><text x="{left / 2:.1f}" y="14">{label}</text>'
        f'<text x="{left + right / 2:.1f}" y="14">{value}</text></g></svg>\n'
    )


def _write_webp(path: Path, panel: Panel, frames: list[dict]) -> None:
    """Write an animation for viewers that do not show SVG."""
    images = []
    for values in frames:
        panel.move(**values)
        images.append(Image.fromarray(panel.canvas.still(1)).convert("RGB"))
    durations = [round(1000 * SECONDS)] * len(images)
    durations[-1] *= 1 + HOLD
    images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0, lossless=True)
    print(path)


def _write(path: Path, svg: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(svg, "utf-8")
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(f"usage: python -m authoring.figures FOLDER (which must exist), got {sys.argv[1:]}")
    draw(Path(sys.argv[1]))
