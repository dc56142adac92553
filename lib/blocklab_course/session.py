"""What every lesson calls first."""

import gc
from importlib.resources import as_file, files

from blocklab_course import i18n
from blocklab_course.dependencies import check_required
from blocklab_course.errors import UserFacingError
from blocklab_course.i18n import Text

CHINESE_FONT = "Blocklab Sans SC"
FONT_FILE = files("blocklab_course") / "data" / "BlocklabSansSC.otf"
FONT_MISSING = Text(
    en='This file is in English and brings no font for Chinese: write begin("en"), or open its Chinese twin.',
    zh='这个文件是英文版，没有带中文字体。请写 begin("en")，或者打开这一课的中文版文件。',
)


class MissingFont(UserFacingError):
    """A lesson as one file brings a font for its own language alone."""


def begin(chosen: str, panels: str = "live") -> None:
    """Set up a lesson in a language, "en" or "zh": texts, a font that has them, seed, number format, and who counts.

    panels: "plain" where the front end does not show living ones: the same pictures, with ipywidgets' own controls.

    Raises ValueError for another language or another kind of panels, MissingPackages, in one line with the command that
    helps, where the lessons need what this Python lacks, and MissingFont; all before anything is changed.
    """
    with i18n.use_language(chosen):
        check_required()
        if chosen == "zh" and not FONT_FILE.is_file():
            raise MissingFont(str(FONT_MISSING))
    # Here, for what was looked for is imported now; and a class report begins no lesson and shows no panel.
    import torch

    from blocklab_course.panel import backend
    from blocklab_course.panel.prediction import report_to

    from .workspace.predictions import record

    backend.check_backend(panels)
    set_language(chosen)
    backend.set_backend(panels)
    report_to(record)
    torch.manual_seed(0)
    torch.set_printoptions(precision=4, sci_mode=False, linewidth=100)
    # A panel answers within a few milliseconds: one thread starts faster than two, and objects that
    # stay alive anyway need no visit by the garbage collector while a slider moves. What an earlier
    # call has put aside may be garbage by now; of the first one's imports hardly anything is.
    torch.set_num_threads(1)
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
    gc.freeze()


def set_language(chosen: str) -> None:
    """Texts in a language, and in pictures a font that has its letters. Raises ValueError for another language."""
    import matplotlib

    i18n.set_language(chosen)
    matplotlib.rcParams["font.family"] = matplotlib.rcParamsDefault["font.family"]
    if chosen == "zh":
        use_chinese_font()
    matplotlib.rcParams["axes.unicode_minus"] = True


def use_chinese_font() -> None:
    """Let matplotlib draw Chinese with the font that the package brings, whatever the machine has.

    The Chinese font stands first: a text with a formula in it is drawn in the first font alone.
    """
    import matplotlib
    from matplotlib import font_manager

    if CHINESE_FONT not in font_manager.get_font_names():
        with as_file(FONT_FILE) as path:
            font_manager.fontManager.addfont(path)
    matplotlib.rcParams["font.family"] = [CHINESE_FONT, "DejaVu Sans"]
