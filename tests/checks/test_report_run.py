"""`report --run`: every notebook runs in a process of its own, and ends with it, whatever its code does."""

import csv
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from blocklab.checks.__main__ import main
from blocklab.checks.verdict import MIME
from checks.saved_notebooks import cell, hand_in, notebook, verdict

pytestmark = [pytest.mark.usefixtures("english_again"), pytest.mark.slow]


def showing(data: dict) -> str:
    """Code that gives a verdict without the time that importing torch takes."""
    return f"display({{{MIME!r}: {data!r}}}, raw=True)"


def code(*sources: str, kernel: str = "python3", **more: object) -> dict:
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel}}
    return new_notebook(cells=[new_code_cell(source) for source in sources], metadata=metadata) | more


SOLVED, WRONG = verdict("swish", passed=True), verdict("swish", "a-mistake")
