"""Run the cells of one notebook and write down what they show of one kind, as it comes: `notebook_process.py FOLDER S`.

FOLDER holds `order.json`, the sources and the kind, and gets `answers.jsonl`; S seconds is how long a cell may take.
Imports nothing of the package, so that no time goes into torch, which the notebook itself may never need.
"""

import json
import sys
from pathlib import Path
from typing import TextIO

from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

JOB, RESULTS = "order.json", "answers.jsonl"
MAX_RESULTS, MAX_RESULT_LENGTH = 1000, 10_000  # answers, and characters of one: a notebook may show them without end


class _Listener(NotebookClient):
    """Keeps no outputs, which may be endless, and no widgets: what is wanted is written down when it comes."""

    def __init__(self, kind: str, answers: TextIO, **options):
        super().__init__(**options)
        self._kind, self._answers, self._left = kind, answers, MAX_RESULTS

    def output(self, _outs, msg, _display_id, cell_index):
        data = msg["content"].get("data", {})
        if self._kind in data and self._left:
            line = json.dumps(["shown", cell_index, data[self._kind]])
            if len(line) <= MAX_RESULT_LENGTH:
                print(line, file=self._answers, flush=True)
                self._left -= 1

    async def _async_handle_timeout(self, timeout, cell=None):
        index = next(index for index, each in enumerate(self.nb.cells) if each is cell)
        print(json.dumps(["stopped", index]), file=self._answers, flush=True)
        return await super()._async_handle_timeout(timeout, cell)

    def handle_comm_msg(self, *_message):
        pass


def main(folder: Path, seconds: int) -> None:
    order = json.loads(folder.joinpath(JOB).read_text("utf-8"))
    with folder.joinpath(RESULTS).open("w", encoding="utf-8") as answers:
        client = _Listener(
            order["kind"],
            answers,
            nb=new_notebook(cells=[new_code_cell(source) for source in order["sources"]]),
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
