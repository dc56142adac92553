"""Mutation testing of the kernels: `python -m authoring.mutation_testing [MODULE ...]`.

mutmut changes one expression at a time and runs the module's tests. It skips decorated functions, and thus the Triton
kernels of `fused`: these have a short list of mutations by hand. Progress goes to stderr, the results to stdout.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE, TESTS = ROOT / "lib" / "blocklab", ROOT / "tests"
CONFIG = """
[tool.mutmut]
source_paths = ["blocklab"]
only_mutate = ["blocklab/{module}.py"]
pytest_add_cli_args = ["-k", "not compile", "-p", "no:cacheprovider"]
pytest_add_cli_args_test_selection = {tests}
"""
FUSED = [  # file, old, new
    ("layer_norm", "mean = total / WIDTH", "mean = total / BLOCK"),
    ("layer_norm", "tl.where(column < WIDTH, centered, 0)", "centered"),
    ("layer_norm", "tl.rsqrt(squares / WIDTH + eps)", "tl.rsqrt(squares / (WIDTH - 1) + eps)"),
    ("layer_norm", "result += tl.load(bias", "result -= tl.load(bias"),
    ("layer_norm", "tl.sum(g * h, 1, keep_dims=True)\n", "tl.sum(g, 1, keep_dims=True)\n"),
    ("layer_norm", "scale * (g - mean_g - h * mean_gh)", "scale * (g - h * mean_gh)"),
    ("layer_norm", "dbias += g", "dbias += g * slope"),
    ("layer_norm", "if not whole:", "if whole:"),
    ("layer_norm", "return dx, sums.sum(0)", "return dx, sums[0]"),
    ("rms_norm", "tl.rsqrt(squares / WIDTH + eps)", "1 / (tl.sqrt(squares / WIDTH) + eps)"),
    ("rms_norm", "row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  #", "row = tl.arange(0, ROWS)  #"),
    ("rms_norm", "tl.store(means_gh + row[:, None], sum_gh / WIDTH", "tl.store(means_gh + row[:, None], sum_gh"),
    ("rms_norm", "scale * (g - h * mean_gh)", "scale * g"),
    ("rms_norm", "g *= slope\n", "pass\n"),
    ("rms_norm", "sums += tl.program_id(0).to(tl.int64) * WIDTH + column", "sums += column"),
    ("swiglu", "a * tl.sigmoid(a) * b", "tl.sigmoid(a) * b"),
    ("swiglu", "d * b * s * (1 + a * (1 - s))", "d * b * s * (1 + a * s)"),
    ("swiglu", "tl.float64 if y.dtype == torch.float64 else tl.float32", "tl.float32"),
    ("tiles", "x if x.stride(1) == 1 else x.contiguous()", "x"),
    ("tiles", "None if parameter is None else parameter.contiguous()", "parameter"),
]


def copy_project(folder: Path) -> None:
    """Copy the package to the root of `folder`, where mutmut expects it, with the tests next to it."""
    for source in (PACKAGE, TESTS):
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)


def mutate(module: str, folder: Path) -> tuple[int, list[str]]:
    """The number of mutants of a module, and the survivors with their diffs."""
    copy_project(folder)
    patterns = f"kernels/test_{module.strip('_')}*.py", "kernels/test_wrong_inputs.py"
    tests = [f"tests/kernels/{path.name}" for pattern in patterns for path in sorted(TESTS.glob(pattern))]
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(CONFIG.format(module=module, tests=tests))

    def mutmut(*arguments: str, stdout=subprocess.PIPE) -> str:
        command = [sys.executable, "-m", "mutmut", *arguments]
        return subprocess.run(command, cwd=folder, check=True, stdout=stdout, text=True).stdout

    mutmut("run", stdout=sys.stderr)
    fates = dict(line.strip().split(": ") for line in mutmut("results", "--all", "true").splitlines() if ": " in line)
    alive = [name for name, fate in fates.items() if fate not in ("killed", "timeout")]
    return len(fates), [f"{fates[name]}: {mutmut('show', name)}" for name in alive]


def mutate_fused(folder: Path) -> tuple[int, list[str]]:
    """The same for the Triton kernels, in Triton's interpreter."""
    copy_project(folder)
    environment = os.environ | {"PYTHONPATH": str(folder), "TRITON_INTERPRET": "1"}
    alive = []
    for name, old, new in FUSED:
        file = folder / "blocklab" / "fused" / f"{name}.py"
        source = file.read_text("utf-8")
        if source.count(old) != 1:
            raise ValueError(f"expected {old!r} once in fused/{name}.py, found it {source.count(old)} times")
        file.write_text(source.replace(old, new), "utf-8")
        command = [sys.executable, "-m", "pytest", "-qx", "-k", "not compile", "tests/fused_interpreted"]
        status = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE).returncode
        file.write_text(source, "utf-8")
        if status != 1:  # pytest's status when a test fails
            alive.append(f"pytest returned {status}: fused/{name}.py\n- {old}\n+ {new}")
    return len(FUSED), alive


def main(modules: list[str]) -> None:
    if not modules:
        stems = sorted(path.stem for path in PACKAGE.glob("*.py"))
        modules = [*(name for name in stems if any(TESTS.glob(f"kernels/test_{name.strip('_')}*.py"))), "fused"]
    for module in modules:
        with tempfile.TemporaryDirectory() as folder:
            total, alive = mutate_fused(Path(folder)) if module == "fused" else mutate(module, Path(folder))
        killed = total - len(alive)
        for survivor in alive:
            print(survivor)
        print(f"{module:22}{total:6} mutants{killed:6} killed{len(alive):6} survived{killed / total:8.1%}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
