"""The installed wheel has every file that the lessons need: `make colab`."""

from importlib.resources import files
from pathlib import Path

import pytest

import blocklab

if Path(__file__).resolve().parents[2] / "lib" in Path(blocklab.__file__).parents:
    pytest.skip("expected the package from its wheel, got the source tree; run: make colab", allow_module_level=True)


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "data/BlocklabSansSC.otf",
        "data/OFL.txt",
        "data/model_widths.csv",
        "data/rotary_bases.csv",
        "data/rotary_beyond_128.csv",
        "data/digits.npz",
        "data/flower.jpg",
        "data/palace.jpg",
        "data/minilm_l6_layernorm.npz",
        "data/minilm_l6_positions.npz",
        "data/minilm_l6_reading.npz",
        "data/smollm2_135m_rmsnorm.npz",
        "data/NOTICE.txt",
        "data/APACHE-2.0.txt",
    ],
)
def test_wheel_has_data_file(name):
    assert files("blocklab_course").joinpath(name).is_file()


def test_wheel_draws_chinese(tmp_path):
    from matplotlib.figure import Figure

    from blocklab_course import begin

    begin("zh")
    figure = Figure()
    figure.suptitle("哪些数共用一个均值？")
    figure.savefig(tmp_path / "figure.png")  # a missing glyph would warn, and warnings are errors
