"""The memory that is free is the machine's, or what a container leaves."""

import sys

import pytest

from blocklab_course.i18n import use_language
from blocklab_course.pretrained import free_memory as module
from blocklab_course.pretrained import load_smollm2, smollm2
from blocklab_course.pretrained.free_memory import TooLittleMemory, free_memory

ENDLESS = float("inf")


@pytest.fixture
def container(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CONTAINER", tmp_path)
    monkeypatch.setattr(module, "_free_on_machine", lambda: 8e9)

    def limit(most, current="700000000", stat="anon 5\ninactive_file 200000000\nslab 3\n"):
        for name, text in (("max", most), ("current", current), ("stat", stat)):
            (tmp_path / f"memory.{name}").write_text(text)

    return limit


@pytest.mark.parametrize(
    ("files", "free"),
    [
        (("2000000000\n",), 1.5e9),
        (("max\n",), 8e9),
        (("90000000000\n",), 8e9),
        (("2000000000\n", "700000000", "anon 5\n"), 8e9),
        (("2000000000\n", "", ""), 8e9),
    ],
)
def test_a_container_may_leave_less_than_the_machine_has(files, free, container):
    container(*files)
    assert free_memory() == free


@pytest.mark.usefixtures("container")
def test_without_a_container_it_is_the_machines():
    assert free_memory() == 8e9


def test_the_machine_tells_through_psutil_if_it_is_there(monkeypatch):
    pytest.importorskip("psutil")
    assert 1e6 < module._free_on_machine() < 1e15
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert module._free_on_machine() == ENDLESS


def test_a_large_network_is_not_read_where_memory_is_short(monkeypatch):
    monkeypatch.setattr(module, "free_memory", lambda: 1.4e9)
    monkeypatch.setattr(smollm2, "package_file", lambda *names: names)
    monkeypatch.setattr(smollm2, "GgufFile", pytest.fail)
    with pytest.raises(TooLittleMemory, match=r"^SmolLM2 wants 2 GB of free memory; 1\.4 GB are there\.$") as caught:
        load_smollm2()
    assert isinstance(caught.value, MemoryError)
    with use_language("zh"), pytest.raises(TooLittleMemory, match=r"^SmolLM2 需要 2 GB 可用内存，现在只有 1\.4 GB。$"):
        load_smollm2()
