"""Set up a lesson."""

import gc
from importlib.resources import as_file, files
from typing import NamedTuple

from blocklab_course import i18n
from blocklab_course.dependencies import check_required
from blocklab_course.errors import UserFacingError
from blocklab_course.i18n import Text


class Font(NamedTuple):
    """The family of the figures' font, and its file in this package."""

    family: str
    file: str

    @property
    def path(self):
        return files("blocklab_course") / "data" / self.file


FONTS = {"en": Font("Blocklab Sans", "BlocklabSans.otf"), "zh": Font("Blocklab Sans SC", "BlocklabSansSC.otf")}
FALLBACK = "DejaVu Sans"
"""Draws the symbols that the fonts lack."""

FONT_MISSING = Text(
    en='This is the English file and has no Chinese font: use begin("en"), or open the Chinese version.',
    zh='这个文件是英文版，没有带中文字体。请写 begin("en")，或者打开这一课的中文版文件。',
)


class MissingFont(UserFacingError):
    """A single-file lesson in English has no font for Chinese."""


def begin(language: str, panels: str = "live") -> None:
    """Set up a lesson: language, font, random seed, number format, and saving of predictions.

    language: "en" or "zh". panels: "plain" shows figures with ipywidgets' controls, for front ends without anywidget.

    Raises ValueError, MissingPackages or MissingFont before anything is changed.
    """
    with i18n.use_language(language):
        check_required()
        if not FONTS[language].path.is_file():
            raise MissingFont(str(FONT_MISSING))
    # Import only now: the packages that these modules need are known to be installed.
    import torch

    from blocklab_course.panel import backend
    from blocklab_course.panel.prediction import set_listener

    from .workspace.predictions import record

    backend.check_backend(panels)
    set_language(language)
    backend.set_backend(panels)
    set_listener(record)
    torch.manual_seed(0)
    torch.set_printoptions(precision=4, sci_mode=False, linewidth=100)
    # A panel answers within milliseconds: one thread starts faster than two, and the garbage collector need not
    # look through the imported modules while a slider moves. Objects frozen by an earlier call may be garbage by now.
    torch.set_num_threads(1)
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
    gc.freeze()


def set_language(language: str) -> None:
    """Set the language of texts and the font of figures. Raises ValueError for an unknown language."""
    import matplotlib

    i18n.set_language(language)
    use_font(FONTS[language])
    matplotlib.rcParams["axes.unicode_minus"] = True


def use_font(font: Font) -> None:
    """Let matplotlib draw with a font of this package.

    It is the first font in the list because matplotlib draws a text with a formula in the first font only.
    """
    import matplotlib
    from matplotlib import font_manager

    if font.family not in font_manager.get_font_names():
        with as_file(font.path) as path:
            font_manager.fontManager.addfont(path)
    matplotlib.rcParams["font.family"] = [font.family, FALLBACK]
