"""`python -m blocklab_course.progress`: the progress page in the terminal."""

import argparse
import sys
from pathlib import Path

from blocklab_course import i18n
from blocklab_course.i18n import Text
from blocklab_course.workspace.folder import FOLDER_NAME, workspace_folder

from .collect import collect
from .page import ProgressPage

NO_FOLDER = Text(
    en="expected a folder `my` with your copies of the lessons in {folder}",
    zh="progress 需要装有课程副本的文件夹 `my`，而 {folder} 里没有",
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m blocklab_course.progress", description="Show your progress.")
    parser.add_argument("folder", type=Path, nargs="?", help="your copies of the lessons (default: my/ here)")
    parser.add_argument("--language", choices=i18n.LANGUAGES, default="en")
    options = parser.parse_args(arguments)
    i18n.set_language(options.language)
    folder = options.folder or workspace_folder() or Path.cwd() / FOLDER_NAME
    if not folder.is_dir():
        print(NO_FOLDER.format(folder=folder.parent), file=sys.stderr)
        return 2
    print(ProgressPage(collect(folder.absolute())))
    return 0


if __name__ == "__main__":
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if the shell closed it
        stream.reconfigure(errors="backslashreplace")  # the terminal may not support all characters
    sys.exit(main())
