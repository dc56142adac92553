"""Run the cells of one notebook and write down its verdicts as they come: `python -m blocklab.checks.notebook_process`.

FOLDER holds `cells.json`, a list of sources, and gets `answers.jsonl`; SECONDS is how long a cell may take.
"""

import json
import sys
from pathlib import Path
from typing import TextIO

from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from .verdict import MIME

CELLS, ANSWERS = "cells.json", "answers.jsonl"
MOST_VERDICTS, LONGEST_VERDICT = 1000, 10_000  # no lesson has a tenth of it; a notebook may print them without end


class _Listener(NotebookClient):
    """Keeps no outputs, which may be endless, and no widgets: a verdict is written down when it comes."""

    def __init__(self, answers: TextIO, **options):
        super().__init__(**options)
        self._answers = answers
        self._left = MOST_VERDICTS

    def output(self, _outs, msg, _display_id, cell_index):
        data = msg["content"].get("data", {})
        if MIME in data and self._left:
            line = json.dumps(["verdict", cell_index, data[MIME]])
            if len(line) <= LONGEST_VERDICT:
                print(line, file=self._answers, flush=True)
                self._left -= 1

    def handle_comm_msg(self, *_message):
        pass


def main(folder: Path, seconds: int) -> None:
    sources = json.loads(folder.joinpath(CELLS).read_text("utf-8"))
    with folder.joinpath(ANSWERS).open("w", encoding="utf-8") as answers:
        client = _Listener(
            answers,
            nb=new_notebook(cells=[new_code_cell(source) for source in sources]),
            kernel_name="python3",  # whatever the student's machine called it
            timeout=seconds,
            interrupt_on_timeout=True,
            allow_errors=True,
            store_widget_state=False,
            record_timing=False,
        )
        try:
            client.execute()
        except DeadKernelError:
            return  # no word of an end: that is what it means
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        else:
            why = None
        print(json.dumps(["ended", why]), file=answers)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
