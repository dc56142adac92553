"""Run the benchmarks, each in its own process: `python -m authoring.benchmarks [--tiny] [NAME ...]`."""

import argparse
import os
import subprocess
import sys

AGAINST_TORCH = ("normalization", "kernels", "attention")
BENCHMARKS = (*AGAINST_TORCH, "verdicts", "strokes", "panel", "chat")
# glibc's malloc returns large blocks to the system as soon as they are freed. Getting fresh pages for every result
# would then take longer than the functions to compare.
KEEP_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=4294967295:glibc.malloc.trim_threshold=8589934592"}


def run(name: str, tiny: bool) -> bool:
    """Run one benchmark; return whether it succeeded. It prints missed goals, which may be the machine's fault."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | (KEEP_PAGES if name in AGAINST_TORCH else {})
    code = f"from authoring.benchmarks.{name} import TINY, main; main({'**TINY' if tiny else ''})"
    print(f"--- {name}", flush=True)
    return subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m authoring.benchmarks", description="Ratios within one run.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--tiny", action="store_true", help="small sizes, to check that the benchmarks run")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    if failed := [name for name in arguments.names or BENCHMARKS if not run(name, arguments.tiny)]:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
