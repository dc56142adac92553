"""Record the panels of a lesson for the site: an opening picture, and states that play without a kernel."""

from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import matplotlib

from authoring.lesson_panels import code_cells, run_panels
from blocklab_course.i18n import LANGUAGES, get_language, use_language
from blocklab_course.panel import Panel
from blocklab_course.session import set_language

from .data_script import data_script
from .states_encode import encode
from .states_select import select_states
from .svg import picture

UNSTEADY = "nbval-ignore-output"  # tag of a cell whose results vary: its text fits the picture in the notebook


class SitePanel(NamedTuple):
    """A panel or a picture of a lesson. `cell` counts the code cells of its source from 0.

    `stills` and `lines`: the opening state, by language. `script` and `narrow`: the files of the states, for wide pages
    and for phones, from the root of the site; None for a picture, or if there is no arrangement for phones. `small`: a
    picture as phones show it, by language.
    """

    name: str
    cell: int
    stills: dict[str, str]
    lines: dict[str, str]
    script: str | None
    narrow: str | None
    small: dict[str, str]


def record_lesson(source: Path, folder: Path) -> list[SitePanel]:
    """Run a lesson's cells, without their output, and write folder/states/LESSON/NAME.js for each panel."""
    with redirect_stdout(StringIO()), matplotlib.rc_context(), use_language(get_language()):  # restores the language
        made = run_panels(source, stills=True)
        found, names = [], Counter()
        for cell, (_code, tags, base) in enumerate(code_cells(source)):
            twins = {language: made[cell, language] for language in LANGUAGES if (cell, language) in made}
            if not twins or UNSTEADY in tags:
                continue
            name = twins["en"].name
            names[name] += 1
            name += f"_{names[name]}" if names[name] > 1 else ""
            found.append(_record(twins, name, cell, base, source.stem, folder))
        return found


def _record(twins: dict[str, Panel], name: str, cell: int, base: dict, lesson: str, folder: Path) -> SitePanel:
    """One panel, in all languages."""
    stills, lines = {}, {}
    for language, panel in twins.items():
        set_language(language)
        stills[language], lines[language] = picture(panel.canvas, panel.line, f"{name}-"), panel.line
    panel, script, narrow, small = twins["en"], None, None, {}
    if panel.controls:
        states = select_states(panel, base)
        script = _write(encode(twins, states), folder, f"{lesson}/{name}")
        if panel.narrow:
            for twin in twins.values():
                twin.arrange(narrow=True)
            narrow = _write(encode(twins, states), folder, f"{lesson}/{name}/narrow")
    elif panel.narrow:
        for language, twin in twins.items():
            set_language(language)
            twin.arrange(narrow=True)
            small[language] = picture(twin.canvas, twin.line, f"{name}-small-")
    return SitePanel(name, cell, stills, lines, script, narrow, small)


def _write(data: dict, folder: Path, key: str) -> str:
    path = f"states/{key}.js"
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data_script("blocklabStates", key, data), encoding="utf-8")
    return path
