"""Run the cells of one notebook and log their outputs of one MIME type: `notebook_process.py FOLDER SECONDS`.

FOLDER holds `job.json` with the sources and the type, and receives `results.jsonl`. SECONDS is the time limit of a
cell. The script imports nothing from the package, because importing torch takes time and the notebook may not need it.
"""

import json
import sys
from pathlib import Path
from typing import TextIO

from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

JOB, RESULTS = "job.json", "results.jsonl"
MAX_RESULTS, MAX_RESULT_LENGTH = 1000, 10_000  # count, and characters of one; a notebook may display endlessly


class _Listener(NotebookClient):
    """Stores neither outputs, which may be endless, nor widgets; writes each wanted output at once."""

    def __init__(self, mime_type: str, results: TextIO, **options):
        super().__init__(**options)
        self._mime_type, self._results, self._left = mime_type, results, MAX_RESULTS

    def output(self, _outs, msg, _display_id, cell_index):
        data = msg["content"].get("data", {})
        if self._mime_type in data and self._left:
            line = json.dumps(["shown", cell_index, data[self._mime_type]])
            if len(line) <= MAX_RESULT_LENGTH:
                print(line, file=self._results, flush=True)
                self._left -= 1

    async def _async_handle_timeout(self, timeout, cell=None):
        index = next(index for index, each in enumerate(self.nb.cells) if each is cell)
        print(json.dumps(["stopped", index]), file=self._results, flush=True)
        return await super()._async_handle_timeout(timeout, cell)

    def handle_comm_msg(self, *_message):
        pass


def main(folder: Path, seconds: int) -> None:
    job = json.loads(folder.joinpath(JOB).read_text("utf-8"))
    with folder.joinpath(RESULTS).open("w", encoding="utf-8") as results:
        client = _Listener(
            job["mime_type"],
            results,
            nb=new_notebook(cells=[new_code_cell(source) for source in job["sources"]]),
            kernel_name="python3",  # the student's kernel may have another name
            timeout=seconds,
            interrupt_on_timeout=True,
            allow_errors=True,
            store_widget_state=False,
            record_timing=False,
        )
        try:
            client.execute()
        except DeadKernelError:
            return  # without "ended", the caller knows that the kernel died
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        else:
            why = None
        print(json.dumps(["ended", why]), file=results)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
