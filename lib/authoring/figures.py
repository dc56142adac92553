"""Draw the still images of lesson figures in `pic/`: `python -m authoring.figures FOLDER`."""

import sys
from pathlib import Path

from blocklab_course import begin
from blocklab_course.i18n import LANGUAGES
from blocklab_course.lessons.norm_axes.poke_one_number import poke_one_number
from blocklab_course.lessons.positional_encoding.position_table import position_table
from blocklab_course.lessons.start_here.lesson_map import lesson_map
from blocklab_course.panel.canvas import Canvas, png

SCALE = 2  # pixels per CSS pixel, for sharp screens

STILLS = {
    "group_norm_paints": (
        poke_one_number,
        (10, 5),
        {"layer": "group 2", "samples": 2, "cell": 13, "push": 10, "paint": True},
    ),
    "lesson_map": (lesson_map, (10, 5.4), {}),
    "position_table": (
        position_table,
        (10, 5),
        {"length": 200, "d_model": 128, "base": 10000.0, "row": 60, "column": 40, "apart": False},
    ),
}
"""By name: the figure, its size in inches, and its control values."""


def draw(folder: Path) -> None:
    """Write NAME_LANGUAGE.png for every still and language, and print the paths."""
    for language in LANGUAGES:
        begin(language)
        for name, (picture, size, values) in STILLS.items():
            canvas = Canvas(size, SCALE)
            picture(canvas.figure)(**values)
            path = folder / f"{name}_{language}.png"
            path.write_bytes(png(canvas.still(SCALE)))
            print(path)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(f"usage: python -m authoring.figures FOLDER (which must exist), got {sys.argv[1:]}")
    draw(Path(sys.argv[1]))
