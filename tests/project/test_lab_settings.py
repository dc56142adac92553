"""`make lab` uses only settings that JupyterLab has, and a language pack that is installed."""

import json
import re
import sys
from pathlib import Path

import pytest
from jupyterlab_server.translation_utils import get_language_packs

from blocklab_course.i18n import LANGUAGES

FOLDER = Path(__file__).parents[2] / "lib" / "authoring" / "lab_settings"
SCHEMAS = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"


def read_settings(language: str) -> dict[str, dict]:
    return json.loads((FOLDER / language / "overrides.json").read_text("utf-8"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_jupyterlab_has_every_setting(language):
    for plugin, settings in read_settings(language).items():
        package, _, name = plugin.partition(":")
        schema = json.loads((SCHEMAS / package / f"{name}.json").read_text("utf-8"))
        for setting, value in settings.items():
            allowed = schema["properties"][setting].get("enum", [value])
            assert value in allowed, (plugin, setting)


def test_make_lab_serves_the_style_sheet():
    makefile = FOLDER.parents[2].joinpath("Makefile").read_text("utf-8")
    served = re.search(r"--LabApp.custom_css=True --ServerApp.tornado_settings=static_custom_path=(\S+)", makefile)
    assert FOLDER.parents[2].joinpath(served[1], "custom.css").is_file()


def test_menus_are_in_the_language_of_the_lessons():
    packs, _message = get_language_packs(display_locale="en")
    assert read_settings("zh")["@jupyterlab/translation-extension:plugin"]["locale"] in packs
    assert "@jupyterlab/translation-extension:plugin" not in read_settings("en")
