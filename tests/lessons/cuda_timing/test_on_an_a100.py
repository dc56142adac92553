import re

from blocklab_course.lessons.cuda_timing.on_an_a100 import LAYER_NORM, RMS_NORM, megabytes, show_fusing, show_mean


def test_both_norms_of_a_pair_move_the_same_bytes(capsys):
    show_mean()
    pairs = [tuple(map(float, re.findall(r"[\d.]+", line))) for line in capsys.readouterr().out.splitlines()]
    # 4096 rows of float32 against 2048 rows of bfloat16, each read and written: a fourth of the width
    assert [time for _, time, _ in pairs] == [LAYER_NORM[width] for width in (1024, 2048, 4096, 8192)]
    assert [time for _, _, time in pairs] == [RMS_NORM[width] for width in (4096, 8192, 16384, 32768)]
    assert [moved for moved, *_ in pairs] == [34, 67, 134, 268]


def test_the_last_line_tells_the_speeds_of_the_widest_rows(capsys):
    show_fusing()
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == len(RMS_NORM)
    assert "step by step 1.26 · 10¹², one kernel 1.47 · 10¹²" in last
    # 36 bytes for 2048 rows of 32768 numbers, in µs, are 10^6 bytes a second by the MB
    assert megabytes("rms_norm", 32768, "llama") == 36 * 2048 * 32768 / 1e6
