"""The benchmarks of lesson 14: measure them on this machine and write a recording with its provenance."""

import datetime
import functools
import gc
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

HIDDEN = (11008, 10912, 10920, 10922, 10923, 10924, 10944)  # the first is the reference
FEWER_ROWS_FROM = 16384  # a matrix this wide fills a GPU with a quarter of the rows


class CannotRecord(Exception):
    """There is no GPU to measure, or no place for the file."""


@dataclass(frozen=True)
class Plan:
    """What to measure, and the time limit in seconds."""

    device: torch.device
    sizes: tuple[tuple[torch.dtype, int], ...]  # of the norms and swiglu: a type and a width
    rows: int
    rounds: int
    compiled: bool
    matmul: tuple[int, int]  # rows and model width of the matrix products
    seconds: float


def make_plan(cpu: bool = False, quick: bool = False, minutes: float = 8) -> Plan:
    """The plan for this machine, with the most important sizes first, in case the time runs out.

    Raises CannotRecord where a GPU is to be measured and there is none.
    """
    if cpu:
        widths = (1024,) if quick else (4096, 1024, 4097, 16384)
        rounds = 3 if quick else 11
        matmul = (64, 256) if quick else (512, 512)
        sizes = tuple((dtype, width) for dtype in (torch.float32, torch.bfloat16) for width in widths)
        return Plan(torch.device("cpu"), sizes, 2048, rounds, not quick, matmul, 60 * minutes)
    if not torch.cuda.is_available():
        raise CannotRecord(
            f"record: no CUDA device found: this machine has no NVIDIA GPU, or torch {torch.__version__} was built "
            "without CUDA. `record --cpu` times what runs on the CPU."
        )
    widths = (4096, 16384, 1024, 8192, 32768, 65536, 2048, 4097, 4100, 4104)
    if quick:
        widths = (4096, 1024, 16384, 4097)
    rounds = 10 if quick else 20
    gpu = torch.device("cuda", torch.cuda.current_device())
    first, *others = ((environment.half_dtype(gpu), width) for width in widths)
    sizes = (first, (torch.float32, widths[0]), *others)  # float32 early: the lesson's panel starts with it
    return Plan(gpu, sizes, 32768, rounds, True, (8192, 4096), 60 * minutes)


def record(plan: Plan, path: Path, command: str, say: Callable[[str], None] = print) -> None:
    """Run the plan and write a new file, with one call of `say` per measurement.

    An implementation is timed only if it is accurate. The peaks are measured again beside every measurement, because
    shared memory is not always equally fast. The file names what was left out, and why.

    Raises CannotRecord if the file exists.
    """
    if path.exists():
        raise CannotRecord(f"record: expected a new file, but {path} exists")
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
                writer.left_out(name, f"time limit of {plan.seconds / 60:g} minutes reached")
                continue
            try:
                for row in work():
                    writer.row(row)
                    say(_summary(row))
            except RuntimeError as error:  # such as out of memory
                writer.left_out(name, f"{type(error).__name__}: {error}")
                say(f"{name}: left out, {type(error).__name__}")
            if plan.device.type == "cuda":
                gc.collect()  # autograd graphs hold on to their tensors
                torch.cuda.empty_cache()


def default_path(device: torch.device) -> Path:
    """A name such as timings-nvidia-h200-2026-12-24-1530.csv, in the current folder."""
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
        torch.compiler.reset()  # torch stops compiling a function after eight shapes
    torch.manual_seed(0)

    def inputs() -> list[Tensor]:
        return operation.inputs(rows, width, dtype, plan.device, direction)

    functions, errors = _accurate_implementations(operation, direction, inputs(), writer)
    if not functions:
        return
    moved = bytes_moved(operation.name, (rows, width), dtype, direction)
    result = measure(functions, inputs, direction, moved=moved, rounds=plan.rounds)
    yield from rows_from_result(result, errors, op=operation.name, rows=rows, width=width, dtype=_dtype_name(dtype))


def _accurate_implementations(
    operation: Operation, direction: str, inputs: list[Tensor], writer: Writer
) -> tuple[dict[str, Function], dict[str, float]]:
    """The implementations accurate enough to be timed, and the largest relative error of each one."""
    functions, errors, reference = {}, {}, None
    for name, function in operation.for_direction(direction).items():
        what = f"{name}, {operation.name} {direction} {tuple(inputs[0].shape)}"
        try:
            found = relative_errors(function, operation.exact, inputs, direction)
        except Exception as error:  # a compiler or another package may raise anything; go on with the next one
            writer.left_out(what, f"{type(error).__name__}: {error}")
            continue
        reference = found if reference is None else reference
        errors[name] = max(found)
        if is_accurate(found, reference, inputs[0].dtype, error_ratio_limit(name)):
            functions[name] = function
        else:
            limit = f"{error_ratio_limit(name)} times {max(reference):.3g}"
            writer.left_out(what, f"relative error {max(found):.3g}, more than {limit}")
    return functions, errors


def _matmul_rows(plan: Plan, role: str, product: Product) -> Iterator[TimedRow]:
    rows, d = plan.matmul
    dtype = plan.sizes[0][0]

    def inputs() -> list[Tensor]:
        pairs = [shape for hidden in HIDDEN for shape in product.shapes(rows, d, hidden)]
        return [torch.randn(shape, dtype=dtype, device=plan.device) for shape in pairs]

    functions = {
        str(hidden): lambda *all, i=i: product.compute(*all[2 * i : 2 * i + 2]) for i, hidden in enumerate(HIDDEN)
    }
    flops = {str(hidden): 2 * rows * d * hidden for hidden in HIDDEN}
    result = measure(functions, inputs, flops=flops, rounds=plan.rounds)
    width = {str(hidden): hidden for hidden in HIDDEN}
    yield from rows_from_result(
        result, {}, op=MATMUL, role=role, implementation="torch", rows=rows, width=width, dtype=_dtype_name(dtype)
    )


def _dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _summary(row: TimedRow) -> str:
    texts = row.texts()
    share = texts["share_of_copy_roof"] or texts["share_of_matmul_roof"]
    what = "{op} {direction} {rows} x {width} {dtype}".format(**texts)
    return f"{what:65}{row.implementation:9}{texts['median_us']:>9} us{texts['ratio']:>9}{share:>9} {row.mark}"
