"""How much memory is free for a large model, on this machine or within its container's limit."""

import re
from pathlib import Path

from blocklab_course.i18n import Text

TOO_LITTLE_MEMORY = Text(
    en="{network} needs {wanted:.0f} GB of free memory, but only {free:.1f} GB are available.",
    zh="{network} 需要 {wanted:.0f} GB 可用内存，现在只有 {free:.1f} GB。",
)
CGROUP = Path("/sys/fs/cgroup")  # in a Linux container, the container's own


class TooLittleMemory(MemoryError):
    """Raised before a network is loaded: running out of memory halfway may kill the process."""


def check_memory(network: str, wanted: float) -> None:
    """Raise TooLittleMemory if fewer GB are free than a network needs."""
    if message := shortage_message(network, wanted, free_memory()):
        raise TooLittleMemory(message)


def shortage_message(network: str, wanted: float, free: float) -> str | None:
    """The message for a network that needs more GB than there are free bytes, else None."""
    return TOO_LITTLE_MEMORY.format(network=network, wanted=wanted, free=free / 1e9) if free < wanted * 1e9 else None


def free_memory() -> float:
    """Free bytes; infinity if unknown."""
    return min(_free_on_machine(), _free_in_container())


def _free_on_machine() -> float:
    try:
        import psutil  # comes with Jupyter
    except ModuleNotFoundError:
        return float("inf")
    return psutil.virtual_memory().available


def _free_in_container() -> float:
    """The limit minus usage. The file cache counts as free, because it is reclaimed."""
    try:
        limit, used = (int((CGROUP / f"memory.{name}").read_text("ascii")) for name in ("max", "current"))
        files = re.search(r"^inactive_file (\d+)$", (CGROUP / "memory.stat").read_text("ascii"), re.MULTILINE)
        return limit - used + int(files[1])
    except (OSError, ValueError, TypeError):  # no container, no limit ("max"), or another format
        return float("inf")
