import re

from blocklab_course.lessons.cuda_timing import attention_by_bytes
from blocklab_course.lessons.kv_cache import speeds
from blocklab_course.lessons.kv_cache.cache_size import CARD


def test_the_traffic_of_the_lesson(capsys):
    weights, cache = 2 * (8.03e9 - 128256 * 4096), 8192 * 131072
    speeds.show_traffic((1, 8, 32), weights, cache, shared=4)
    first, *_, one, eight, many = capsys.readouterr().out.splitlines()
    assert first == "each token: 19.3 · 10⁹ operations"  # 2 for each weight, and 4 for each byte of the cache
    assert one.split() == ["1", "15.01", "1.07", "4.8", "0.02"]
    assert eight.split() == ["8", "1.88", "1.07", "7.0", "0.16"]
    assert many.split() == ["32", "0.47", "1.07", "14.7", "0.62"]
    assert weights + 32 * cache < CARD < weights + 64 * cache


def test_an_h100_is_that_of_lesson_14():
    assert (attention_by_bytes.BANDWIDTH, attention_by_bytes.SPEED["bfloat16"]) == (speeds.READS, speeds.COMPUTES)


def test_the_fastest_lap_counts(monkeypatch):
    laps = iter((3.0, 2.0, 4.0, 2.5, 3.0))
    monkeypatch.setattr(speeds.CpuTimer, "seconds_per_call", lambda _: next(laps))
    assert speeds.fastest(lambda: None) == 2.0


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
