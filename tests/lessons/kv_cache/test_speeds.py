import re

from blocklab.lessons.kv_cache import speeds


def test_the_traffic_of_the_lesson():
    line = speeds.traffic(64, 2 * (8.03e9 - 128256 * 4096) / 64, 8192 * 131072, shared=4)
    assert line == "texts 64: a token reads  0.23 GB of weights, 64 operations a byte; 1.07 GB of cache, 4 a byte"


def test_times_are_ms_and_the_rest_is_words(capsys):
    speeds.show_speeds({False: 0.004, True: 0.002}, bandwidth=10e9)
    lines = capsys.readouterr().out.splitlines()
    assert [float(time) for line in lines for time in re.findall(r"([\d.]+) ms", line)] == [4.0, 2.0, 53.8]
    assert "about twice as fast" in lines[1]
    for ratio, words in (
        (0.9, "not faster"),
        (1.1, "hardly"),
        (1.5, "one and a half"),
        (3, "three times"),
        (9, "more than three"),
    ):
        speeds.show_speeds({False: ratio, True: 1.0}, bandwidth=1e9)
        assert words in capsys.readouterr().out
