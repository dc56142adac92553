"""How much memory is left for a large model: the machine's, or what a container may still take."""

import re
from pathlib import Path

CONTAINER = Path("/sys/fs/cgroup")  # in a container of Linux, its own


def free_memory() -> float:
    """Bytes, infinitely many where nothing tells."""
    return min(_of_the_machine(), _of_the_container())


def _of_the_machine() -> float:
    try:
        import psutil  # which comes with Jupyter
    except ModuleNotFoundError:
        return float("inf")
    return psutil.virtual_memory().available


def _of_the_container() -> float:
    """The limit less what is taken. Files kept at hand count as free: they make room."""
    try:
        limit, taken = (int((CONTAINER / f"memory.{name}").read_text("ascii")) for name in ("max", "current"))
        files = re.search(r"^inactive_file (\d+)$", (CONTAINER / "memory.stat").read_text("ascii"), re.MULTILINE)
        return limit - taken + int(files[1])
    except (OSError, ValueError, TypeError):  # no container, no limit ("max"), or told in another way
        return float("inf")
