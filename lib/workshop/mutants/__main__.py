"""Break the functions by hand-listed mutants, one at a time, and see the tests turn red: `make mutants`.

Each mutant of `mutants.toml` names a file of the package, a piece of text that occurs in it once, what to put there,
and the tests that must notice. The source tree is not touched: every mutant lives in a copy of its own.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[3]
MUTANTS = Path(__file__).with_name("mutants.toml")
FAILED = 1  # pytest's exit status when a test failed; anything else but 0 means that it did not get that far


def mutated(source: str, mutant: dict) -> str:
    """The source with the mutant's change. Raises ValueError unless the text to replace occurs exactly once."""
    found = source.count(mutant["old"])
    if found != 1:
        raise ValueError(f"{mutant['file']} wants {mutant['old']!r} exactly once, got it {found} times")
    return source.replace(mutant["old"], mutant["new"])


def named(mutant: dict) -> str:
    """What the mistake is, in words or as the change itself."""
    return mutant.get("what") or " → ".join(" ".join(mutant[side].split()) for side in ("old", "new"))


def fate(mutant: dict) -> str:
    """What became of it: killed, SURVIVED, or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "lib", copy / "lib", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        file = copy / "lib" / mutant["file"]
        try:
            file.write_text(mutated(file.read_text("utf-8"), mutant), "utf-8")
        except ValueError as error:
            return f"OUT OF DATE: {error}"
        tests = [str(path) for pattern in mutant["tests"] for path in sorted(ROOT.glob(f"tests/{pattern}"))]
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(copy / "lib"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
    if run.returncode == 0:
        return "SURVIVED"
    return "killed" if run.returncode == FAILED else f"BROKEN: {(run.stdout + run.stderr).strip().splitlines()[-1]}"


def main() -> int:
    mutants = tomllib.loads(MUTANTS.read_text("utf-8"))["mutant"]
    wanted = sys.argv[1:]
    mutants = [m for m in mutants if not wanted or Path(m["file"]).name in wanted]
    alive = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, end in zip(mutants, pool.map(fate, mutants), strict=True):
            alive += end != "killed"
            print(f"{end:10}{mutant['file']}: {named(mutant)}", flush=True)
    print(f"{len(mutants) - alive} of {len(mutants)} mutants killed")
    return alive > 0


if __name__ == "__main__":
    sys.exit(main())
