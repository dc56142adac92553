"""Fold the cells that a reader need not read: the set-up, the imports and the solutions.

Front ends go on to show something of a folded cell: JupyterLab its first line, Colab the title of the form. The build
therefore begins each with a title, so that what is shown gives no code away.
"""

from nbformat import NotebookNode

from blocklab_course.i18n import Text

FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}  # JupyterLab and Colab fold the cell's code
SETUP = Text(en="Set-up: run me first", zh="准备：请先运行这里")
IMPORTS = Text(en="Imports: run me next", zh="导入：接着运行这里")
SOLUTION = Text(en="Solution", zh="参考答案")
_TITLE = "#@title "  # Colab's form of a title


def fold(cell: NotebookNode, title: Text, language: str) -> None:
    """Fold a code cell under a title, which becomes its first line."""
    cell.metadata |= FOLDED
    cell.source = f"{_TITLE}{getattr(title, language)}\n{strip_title(cell.source)}"


def strip_title(source: str) -> str:
    """The code of a cell without its title."""
    return source.partition("\n")[2] if source.startswith(_TITLE) else source
