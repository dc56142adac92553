"""Free memory of the machine, or within a container's limit."""

import sys

import pytest

from blocklab_course.i18n import use_language
from blocklab_course.pretrained import free_memory as module
from blocklab_course.pretrained import load_smollm2, smollm2
from blocklab_course.pretrained.free_memory import TooLittleMemory, free_memory


@pytest.fixture
def container(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CGROUP", tmp_path)
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
    ],
)
def test_free_memory_in_container(files, free, container):
    container(*files)
    assert free_memory() == free


@pytest.mark.usefixtures("container")
def test_free_memory_without_container():
    assert free_memory() == 8e9


def test_free_memory_comes_from_psutil(monkeypatch):
    pytest.importorskip("psutil")
    assert 1e6 < module._free_on_machine() < 1e15
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert module._free_on_machine() == float("inf")


def test_smollm2_is_not_loaded_without_memory(monkeypatch):
    monkeypatch.setattr(module, "free_memory", lambda: 1.4e9)
    monkeypatch.setattr(smollm2, "package_file", lambda *names: names)
    monkeypatch.setattr(smollm2, "GgufFile", pytest.fail)
    with pytest.raises(TooLittleMemory, match=r"^SmolLM2 needs 2 GB .* only 1\.4 GB are available\.$") as caught:
        load_smollm2()
    assert isinstance(caught.value, MemoryError)
    with use_language("zh"), pytest.raises(TooLittleMemory, match=r"^SmolLM2 需要 2 GB 可用内存，现在只有 1\.4 GB。$"):
        load_smollm2()
