"""Measure everything that lesson 14 shows, on this machine, into one file with its provenance."""

import datetime
import functools
import gc
import math
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from blocklab_course.benchmarking import environment
from blocklab_course.benchmarking.accuracy import is_accurate, relative_errors
from blocklab_course.benchmarking.calls import DIRECTIONS, Function
from blocklab_course.benchmarking.implementations import Operation, error_ratio_limit, operations
from blocklab_course.benchmarking.measurement import measure, measure_peaks
from blocklab_course.benchmarking.memory_traffic import bytes_moved
from blocklab_course.benchmarking.products import PRODUCTS, Product
from blocklab_course.benchmarking.recording import MATMUL, TimedRow, Writer, rows_from_result

HIDDEN = (11008, 10912, 10920, 10922, 10923, 10924, 10944)  # the first is compared with
FEWER_ROWS_FROM = 16384  # so wide a matrix fills a GPU with a quarter of the rows


class CannotRecord(Exception):
    """The recorder cannot start; the message says what it wanted and what came."""


@dataclass(frozen=True)
class Plan:
    """What is recorded, and how long at most."""

    device: torch.device
    sizes: tuple[tuple[torch.dtype, int], ...]  # of the norms and swiglu: a type and a width
    rows: int
    rounds: int
    compiled: bool
    matmul: tuple[int, int]  # rows and model width of the matrix products
    seconds: float


def make_plan(cpu: bool = False, quick: bool = False, minutes: float = 8) -> Plan:
    """The sizes in the order of their weight: where time runs out, the last are missing.

    Raises Refused if a GPU is wanted and there is none, and for minutes that are no time.
    """
    if not 0 < minutes < math.inf:
        raise CannotRecord(f"record wants minutes to be a number above 0, got {minutes}")
    if cpu:
        widths = (1024,) if quick else (4096, 1024, 4097, 16384)
        rounds = 3 if quick else 11
        matmul = (64, 256) if quick else (512, 512)
        sizes = tuple((dtype, width) for dtype in (torch.float32, torch.bfloat16) for width in widths)
        return Plan(torch.device("cpu"), sizes, 2048, rounds, not quick, matmul, 60 * minutes)
    if not torch.cuda.is_available():
        raise CannotRecord(
            "record wants a CUDA device, got none: this machine has no NVIDIA GPU, or its PyTorch no CUDA "
            f"(torch {torch.__version__}). `record --cpu` times what runs on the CPU."
        )
    widths = (4096, 16384, 1024, 8192, 32768, 65536, 2048, 4097, 4100, 4104)
    if quick:
        widths = (4096, 1024, 16384, 4097)
    rounds = 10 if quick else 20
    gpu = torch.device("cuda", torch.cuda.current_device())
    first, *others = ((environment.half_dtype(gpu), width) for width in widths)
    sizes = (first, (torch.float32, widths[0]), *others)  # float32 early: the lesson's panel begins with it
    return Plan(gpu, sizes, 32768, rounds, True, (8192, 4096), 60 * minutes)


def record(plan: Plan, path: Path, command: str, say: Callable[[str], None] = print) -> None:
    """Measure what the plan asks for into a new file; one line is said for every measurement.

    Every arm has to be accurate before it is timed, and beside every measurement the peaks are measured anew: memory
    that others use too is not always as fast. What fails, or finds no time, is named in the file with its reason.

    Raises Refused, before anything is measured, for a path where no new file can be.
    """
    check_output_path(path)
    start = time.monotonic()
    peaks = measure_peaks(plan.device, plan.rounds)
    provenance = environment.describe(plan.device) | {
        "copy_roof_GBs": f"{peaks.copy / 1e9:.5g}",
        "matmul_roof_TFLOPs": f"{peaks.matmul / 1e12:.5g}",
        "command": command,
    }
    say(f"{provenance['device']}: copy {provenance['copy_roof_GBs']} GB/s, "
        f"matrix product {provenance['matmul_roof_TFLOPs']} TFLOP/s, into {path}")  # fmt: skip
    with Writer(path, provenance) as writer:
        for name, work in _measurements(plan, writer):
            if time.monotonic() - start > plan.seconds:
                writer.left_out(name, f"{plan.seconds / 60:g} minutes were over")
                continue
            try:
                for row in work():
                    writer.row(row)
                    say(_summary(row))
            except RuntimeError as error:  # such as too little memory
                writer.left_out(name, f"{type(error).__name__}: {error}")
                say(f"{name}: left out, {type(error).__name__}")
            if plan.device.type == "cuda":
                gc.collect()  # graphs of autograd hold on to their tensors
                torch.cuda.empty_cache()


def check_output_path(path: Path) -> None:
    """Raises Refused if there is something at the path, or no folder to write in."""
    if os.path.lexists(path):
        raise CannotRecord(f"record wants a file that does not exist yet, got {path}")
    folder = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CannotRecord(f"record wants a folder that it can write in, got {folder}")


def default_path(device: torch.device) -> Path:
    """Such as timings-nvidia-h200-2026-12-24-1530.csv, in the current folder."""
    name = re.sub(r"[^a-z0-9]+", "-", environment.describe(device)["device"].lower()).strip("-")
    return Path(f"timings-{name}-{datetime.datetime.now(datetime.UTC):%Y-%m-%d-%H%M}.csv")


def _measurements(plan: Plan, writer: Writer) -> Iterator[tuple[str, Callable[[], Iterator[TimedRow]]]]:
    for role, product in PRODUCTS.items():
        yield f"{MATMUL}, {role}: {product.formula}", functools.partial(_matmul_rows, plan, role, product)
    for dtype, width in plan.sizes:
        for operation in operations(plan.device, plan.compiled):
            for direction in DIRECTIONS:
                work = functools.partial(_operation_rows, plan, operation, dtype, width, direction, writer)
                yield f"{operation.name} {direction} {width} {_dtype_name(dtype)}", work


def _operation_rows(
    plan: Plan, operation: Operation, dtype: torch.dtype, width: int, direction: str, writer: Writer
) -> Iterator[TimedRow]:
    rows = plan.rows // 4 if width >= FEWER_ROWS_FROM else plan.rows
    if plan.compiled:
        torch.compiler.reset()  # else the ninth shape of a function is not compiled any more
    torch.manual_seed(0)

    def inputs() -> list[Tensor]:
        return operation.inputs(rows, width, dtype, plan.device, direction)

    arms, errors = _accurate_implementations(operation, direction, inputs(), writer)
    if not arms:
        return
    moved = bytes_moved(operation.name, (rows, width), dtype, direction)
    result = measure(arms, inputs, direction, moved=moved, rounds=plan.rounds)
    yield from rows_from_result(result, errors, op=operation.name, rows=rows, width=width, dtype=_dtype_name(dtype))


def _accurate_implementations(
    operation: Operation, direction: str, inputs: list[Tensor], writer: Writer
) -> tuple[dict[str, Function], dict[str, float]]:
    """The arms that are accurate enough to be timed, and the largest relative error of each."""
    arms, errors, compared = {}, {}, None
    for name, arm in operation.for_direction(direction).items():
        what = f"{name}, {operation.name} {direction} {tuple(inputs[0].shape)}"
        try:
            found = relative_errors(arm, operation.exact, inputs, direction)
        except Exception as error:  # whatever a compiler or another's package raises: the others go on
            writer.left_out(what, f"{type(error).__name__}: {error}")
            continue
        compared = found if compared is None else compared
        errors[name] = max(found)
        if is_accurate(found, compared, inputs[0].dtype, error_ratio_limit(name)):
            arms[name] = arm
        else:
            writer.left_out(
                what, f"relative error {max(found):.3g}, more than {error_ratio_limit(name)} times {max(compared):.3g}"
            )
    return arms, errors


def _matmul_rows(plan: Plan, role: str, product: Product) -> Iterator[TimedRow]:
    rows, d = plan.matmul
    dtype = plan.sizes[0][0]

    def inputs() -> list[Tensor]:
        pairs = [shape for hidden in HIDDEN for shape in product.shapes(rows, d, hidden)]
        return [torch.randn(shape, dtype=dtype, device=plan.device) for shape in pairs]

    arms = {str(hidden): lambda *all, i=i: product.compute(*all[2 * i : 2 * i + 2]) for i, hidden in enumerate(HIDDEN)}
    flops = {str(hidden): 2 * rows * d * hidden for hidden in HIDDEN}
    result = measure(arms, inputs, flops=flops, rounds=plan.rounds)
    width = {str(hidden): hidden for hidden in HIDDEN}
    yield from rows_from_result(
        result, {}, op=MATMUL, role=role, implementation="torch", rows=rows, width=width, dtype=_dtype_name(dtype)
    )


def _dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _summary(row: TimedRow) -> str:
    said = row.texts()
    share = said["share_of_copy_roof"] or said["share_of_matmul_roof"]
    what = "{op} {direction} {rows} x {width} {dtype}".format(**said)
    return f"{what:65}{row.implementation:9}{said['median_us']:>9} us{said['ratio']:>9}{share:>9} {row.mark}"
