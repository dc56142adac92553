"""The provenance of a measurement: device, versions, clock and date."""

import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

# As large as the last-level cache of any common machine, for systems that don't report theirs.
DEFAULT_CACHE_BYTES = 64 * 2**20


def describe(device: torch.device | str = "cpu", threads: int = 1) -> dict[str, str]:
    """Device, versions, cache, CPU threads and date, as text."""
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
    """The size of the last cache before memory: a GPU's L2, a CPU's last level, or 64 MiB if unknown."""
    device = torch.device(device)
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).L2_cache_size
    sizes = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")  # Linux: "32768K"
    known = [int(text[:-1]) * 2**10 for size in sizes if (text := size.read_text().strip()).endswith("K")]
    return max(known, default=DEFAULT_CACHE_BYTES)


def half_dtype(device: torch.device | str) -> torch.dtype:
    """bfloat16, or float16 on GPUs before sm_80, which emulate bfloat16 and for which torch.compile rejects it."""
    old = torch.device(device).type == "cuda" and torch.cuda.get_device_capability(device) < (8, 0)
    return torch.float16 if old else torch.bfloat16


def sm_clock(device: torch.device | str) -> int | None:
    """The current clock of a GPU's multiprocessors in MHz; None on a CPU or if nvidia-smi doesn't report it."""
    device = torch.device(device)
    clock = _nvidia_smi("clocks.sm", device) if device.type == "cuda" else None
    return int(clock) if clock and clock.isdecimal() else None


def _nvidia_smi(what: str, device: torch.device) -> str | None:
    # By UUID: with CUDA_VISIBLE_DEVICES, torch and nvidia-smi number the devices differently.
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
