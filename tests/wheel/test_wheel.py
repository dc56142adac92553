"""The installed wheel draws Chinese (its files: tests/project/test_wheel_contents.py). Run by `make colab`."""

from pathlib import Path

import pytest

import blocklab

if Path(__file__).resolve().parents[2] / "lib" in Path(blocklab.__file__).parents:
    pytest.skip("expected the package from its wheel, got the source tree; run: make colab", allow_module_level=True)


def test_wheel_draws_chinese(tmp_path):
    from matplotlib.figure import Figure

    from blocklab_course import begin

    begin("zh")
    figure = Figure()
    figure.suptitle("哪些数共用一个均值？")
    figure.savefig(tmp_path / "figure.png")  # a missing glyph would warn, and warnings are errors
