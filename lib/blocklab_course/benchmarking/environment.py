"""What a number of microseconds has to carry with it: which device, which versions, which clock, which day."""

import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

# The largest last-level cache of a common machine, for systems that do not say how large theirs is.
DEFAULT_CACHE_BYTES = 64 * 2**20


def describe(device: torch.device | str = "cpu", threads: int = 1) -> dict[str, str]:
    """Device, versions, cache, CPU threads and date, as words: the provenance of a measurement on this device."""
    device = torch.device(device)
    on_gpu = device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(device) if on_gpu else _processor_name(),
        "torch": torch.__version__,
        "triton": _installed_version("triton"),
        "cuda": str(torch.version.cuda) if on_gpu else "none",
        "driver": (_nvidia_smi("driver_version", device) or "not read") if on_gpu else "none",
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "threads": str(threads),
        "malloc": os.environ.get("GLIBC_TUNABLES", "not tuned"),
        "cache": f"{cache_bytes(device) / 2**20:g} MiB",
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def cache_bytes(device: torch.device | str) -> int:
    """The size of the largest cache before memory: a GPU's L2, a CPU's last level, or 64 MiB where nobody says."""
    device = torch.device(device)
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).L2_cache_size
    sizes = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")  # Linux: "32768K"
    known = [int(text[:-1]) * 2**10 for size in sizes if (text := size.read_text().strip()).endswith("K")]
    return max(known, default=DEFAULT_CACHE_BYTES)


def half_dtype(device: torch.device | str) -> torch.dtype:
    """bfloat16; float16 on a GPU before sm_80, which emulates bfloat16, and where torch.compile does not compile it."""
    old = torch.device(device).type == "cuda" and torch.cuda.get_device_capability(device) < (8, 0)
    return torch.float16 if old else torch.bfloat16


def sm_clock(device: torch.device | str) -> int | None:
    """The clock of a GPU's multiprocessors now, in MHz; None on a CPU and where nvidia-smi does not say. Only read."""
    device = torch.device(device)
    said = _nvidia_smi("clocks.sm", device) if device.type == "cuda" else None
    return int(said) if said and said.isdecimal() else None


def _nvidia_smi(what: str, device: torch.device) -> str | None:
    # By its own name: CUDA_VISIBLE_DEVICES may count otherwise than nvidia-smi.
    name = f"--id=GPU-{torch.cuda.get_device_properties(device).uuid}"
    try:
        done = subprocess.run(
            ["nvidia-smi", name, f"--query-gpu={what}", "--format=csv,noheader,nounits"],
            capture_output=True,
            encoding="utf-8",
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _processor_name() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
