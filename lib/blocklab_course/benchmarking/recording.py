"""Recordings: timings in a CSV file whose header comments give device, versions and date."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import UnionType

from blocklab_course.benchmarking.measurement import Result, Spread
from blocklab_course.benchmarking.products import PRODUCTS

FOLDER = Path(__file__).parents[1] / "data" / "timings"

PROVENANCE = (
    *("device", "torch", "triton", "cuda", "driver", "python", "system", "threads", "malloc", "cache", "date"),
    *("copy_roof_GBs", "matmul_roof_TFLOPs", "command"),
)
MATMUL = "matmul"
# How the column `op` names a matrix product.
_OP_OF = {role: f"{MATMUL}, hidden is {role}: {product.formula}" for role, product in PRODUCTS.items()}
_ROLE_OF = {op: role for role, op in _OP_OF.items()}


@dataclass(frozen=True)
class TimedRow:
    """The timing of one implementation at one size. Fields are columns, in order; None is an empty cell.

    role: for a matrix product, which of its axes is the hidden width (a key of `products.PRODUCTS`); stored in `op`.
    """

    op: str
    implementation: str
    direction: str
    rows: int
    width: int
    dtype: str
    median_us: float
    p20_us: float
    p80_us: float
    compared_with: str
    ratio: float
    ratio_p20: float
    ratio_p80: float
    noise_p20: float
    noise_p80: float
    bytes: int | None = None
    GBs: float | None = None
    share_of_copy_roof: float | None = None
    flops: int | None = None
    TFLOPs: float | None = None
    share_of_matmul_roof: float | None = None
    error: float | None = None
    first_arm_error: float | None = None
    clock_before_MHz: int | None = None
    clock_after_MHz: int | None = None
    mark: str = ""
    what_was_timed: str = ""
    role: str | None = None

    @property
    def microseconds(self) -> Spread:
        return Spread(self.median_us, self.p20_us, self.p80_us)

    def texts(self) -> dict[str, str]:
        """The text of each column: five digits of a float, an empty string for None."""
        texts = {column: _text(getattr(self, column)) for column in COLUMNS}
        return texts | {"op": _OP_OF.get(self.role, self.op)}

    @classmethod
    def of_texts(cls, texts: Mapping[str, str]) -> "TimedRow":
        """The inverse of `texts`."""
        values = {column: _value(texts[column], kind) for column, kind in COLUMNS.items()}
        role = _ROLE_OF.get(texts["op"])
        return cls(**values) if role is None else cls(**values | {"op": MATMUL, "role": role})


COLUMNS = {field.name: field.type for field in fields(TimedRow) if field.name != "role"}


@dataclass(frozen=True)
class Recording:
    """The content of one file: provenance, what was left out and why, and rows."""

    provenance: Mapping[str, str]
    left_out: list[str]
    rows: list[TimedRow]


def rows_from_result(result: Result, errors: Mapping[str, float], **shared) -> Iterator[TimedRow]:
    """Convert a measurement to rows.

    errors: the largest relative error of each implementation. shared: other columns, each with one value for all rows
    or a dict of values by implementation.
    """
    first = result.timings[0].name
    before, after = result.clocks
    for timing in result.timings:
        own = {key: value[timing.name] if isinstance(value, dict) else value for key, value in shared.items()}
        bandwidth, speed = timing.bandwidth, timing.speed
        measured = {
            "implementation": timing.name,
            "direction": result.direction,
            **{f"{key}_us": 1e6 * seconds for key, seconds in timing.time._asdict().items()},
            "compared_with": first,
            **dict(zip(("ratio", "ratio_p20", "ratio_p80"), timing.ratio, strict=True)),
            "noise_p20": result.noise.ratio.p20,
            "noise_p80": result.noise.ratio.p80,
            "bytes": timing.moved,
            "GBs": _scale(bandwidth, 1e-9),
            "share_of_copy_roof": _scale(bandwidth, 1 / result.peaks.copy),
            "flops": timing.flops,
            "TFLOPs": _scale(speed, 1e-12),
            "share_of_matmul_roof": _scale(speed, 1 / result.peaks.matmul),
            "error": errors.get(timing.name),
            "first_arm_error": errors.get(first),
            "clock_before_MHz": before,
            "clock_after_MHz": after,
            "mark": timing.mark,
            "what_was_timed": timing.method,
        }
        yield TimedRow(**measured | own)


class Writer:
    """Writes a recording line by line, so that an interrupted run keeps what it has measured.

    Raises FileExistsError rather than overwriting a recording.
    """

    def __init__(self, path: Path, provenance: Mapping[str, str]):
        missing = [key for key in PROVENANCE if not provenance.get(key)]
        if missing:
            raise ValueError(f"expected provenance with {', '.join(missing)}")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("x", encoding="utf-8", newline="")
        for key in PROVENANCE:
            print(f"# {key}: {provenance[key]}", file=self._file)
        self._csv = csv.DictWriter(self._file, COLUMNS, lineterminator="\n")
        self._csv.writeheader()
        self._file.flush()

    def row(self, row: TimedRow) -> None:
        self._csv.writerow(row.texts())
        self._file.flush()

    def left_out(self, what: str, why: str) -> None:
        print(f"# left out: {what}: {' '.join(why.split())}", file=self._file, flush=True)

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_) -> None:
        self._file.close()


def read(path: Path) -> Recording:
    """Read a recording. Raises ValueError if its provenance or columns are incomplete."""
    lines = path.read_text("utf-8").splitlines()
    comments = [line[2:].partition(": ")[::2] for line in lines if line.startswith("# ")]
    provenance = {key: value for key, value in comments if key != "left out"}
    missing = [key for key in PROVENANCE if not provenance.get(key)]
    if missing:
        raise ValueError(f"{path.name}: expected header lines '# KEY: …' for {', '.join(missing)}")
    table = csv.DictReader(line for line in lines if not line.startswith("# "))
    if tuple(table.fieldnames or ()) != tuple(COLUMNS):
        raise ValueError(f"{path.name}: expected columns {', '.join(COLUMNS)}, got {table.fieldnames}")
    rows = [TimedRow.of_texts(row) for row in table]
    return Recording(provenance, [value for key, value in comments if key == "left out"], rows)


def read_recordings(folder: Path = FOLDER) -> list[Recording]:
    """All recordings in a folder, by default those that come with the package."""
    return [read(path) for path in sorted(folder.glob("*.csv"))]


def _value(text: str, kind: type | UnionType) -> str | float | int | None:
    """Parse the text of a column of this type."""
    if kind is str:
        return text
    if text == "" and kind in (int | None, float | None):
        return None
    return int(text) if kind in (int, int | None) else float(text)


def _text(value: str | float | None) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return "" if value is None else str(value)


def _scale(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
