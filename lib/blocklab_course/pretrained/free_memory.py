"""How much memory is left for a large model: the machine's, or what a container may still take."""

import re
from pathlib import Path

from blocklab_course.i18n import Text

TOO_LITTLE_MEMORY = Text(
    en="{network} wants {wanted:.0f} GB of free memory; {free:.1f} GB are there.",
    zh="{network} 需要 {wanted:.0f} GB 可用内存，现在只有 {free:.1f} GB。",
)
CONTAINER = Path("/sys/fs/cgroup")  # in a container of Linux, its own


class TooLittleMemory(MemoryError):
    """Said before a network is read: a machine without memory may end the program in the middle of it."""


def check_memory(network: str, wanted: float) -> None:
    """Refuse, with TooLittleMemory, to go on where fewer GB are free than a network wants."""
    if said := shortage_message(network, wanted, free_memory()):
        raise TooLittleMemory(said)


def shortage_message(network: str, wanted: float, free: float) -> str | None:
    """What is told where fewer bytes are free than the GB that a network wants."""
    return TOO_LITTLE_MEMORY.format(network=network, wanted=wanted, free=free / 1e9) if free < wanted * 1e9 else None


def free_memory() -> float:
    """Bytes, infinitely many where nothing tells."""
    return min(_free_on_machine(), _free_in_container())


def _free_on_machine() -> float:
    try:
        import psutil  # which comes with Jupyter
    except ModuleNotFoundError:
        return float("inf")
    return psutil.virtual_memory().available


def _free_in_container() -> float:
    """The limit less what is taken. Files kept at hand count as free: they make room."""
    try:
        limit, taken = (int((CONTAINER / f"memory.{name}").read_text("ascii")) for name in ("max", "current"))
        files = re.search(r"^inactive_file (\d+)$", (CONTAINER / "memory.stat").read_text("ascii"), re.MULTILINE)
        return limit - taken + int(files[1])
    except (OSError, ValueError, TypeError):  # no container, no limit ("max"), or told in another way
        return float("inf")
