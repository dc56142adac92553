"""A recording: rows of timings in a CSV file, under lines that say where, with what and when they were measured."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from blocklab.timing.measurement import Result

FOLDER = Path(__file__).parents[1] / "data" / "timings"

PROVENANCE = (
    *("device", "torch", "triton", "cuda", "driver", "python", "system", "threads", "malloc", "cache", "date"),
    *("copy_roof_GBs", "matmul_roof_TFLOPs", "command"),
)
COLUMNS = (
    *("op", "implementation", "direction", "rows", "width", "dtype"),
    *("median_us", "p20_us", "p80_us", "compared_with", "ratio", "ratio_p20", "ratio_p80", "noise_p20", "noise_p80"),
    *("bytes", "GBs", "share_of_copy_roof", "flops", "TFLOPs", "share_of_matmul_roof"),
    *("error", "first_arm_error", "clock_before_MHz", "clock_after_MHz", "mark", "what_was_timed"),
)
TEXT = ("op", "implementation", "direction", "dtype", "compared_with", "mark", "what_was_timed")


@dataclass(frozen=True)
class Recording:
    """One file: its provenance, what was left out and why, and its rows, numbers as numbers, blanks as None."""

    provenance: Mapping[str, str]
    left_out: list[str]
    rows: list[dict]


def rows_of(result: Result, errors: Mapping[str, float], **shared) -> Iterator[dict]:
    """The rows of one measurement. shared: what they have in common or depends on the arm (a dict by its name).

    errors: the largest relative error of each arm, as the gate found it.
    """
    first = result.timings[0].name
    before, after = result.clocks
    for timing in result.timings:
        own = {key: value[timing.name] if isinstance(value, dict) else value for key, value in shared.items()}
        bandwidth, speed = timing.bandwidth, timing.speed
        yield {
            **dict.fromkeys(COLUMNS, ""),
            "implementation": timing.name,
            "direction": result.direction,
            **{f"{key}_us": _digits(1e6 * t) for key, t in timing.time._asdict().items()},
            "compared_with": first,
            **{f"ratio{end}": _digits(r) for end, r in zip(("", "_p20", "_p80"), timing.ratio, strict=True)},
            "noise_p20": _digits(result.noise.ratio.p20),
            "noise_p80": _digits(result.noise.ratio.p80),
            "bytes": _or_blank(timing.moved),
            "GBs": _digits(bandwidth, 1e-9),
            "share_of_copy_roof": _digits(bandwidth, 1 / result.roofs.copy),
            "flops": _or_blank(timing.flops),
            "TFLOPs": _digits(speed, 1e-12),
            "share_of_matmul_roof": _digits(speed, 1 / result.roofs.matmul),
            "error": _digits(errors.get(timing.name)),
            "first_arm_error": _digits(errors.get(first)),
            "clock_before_MHz": _or_blank(before),
            "clock_after_MHz": _or_blank(after),
            "mark": timing.mark,
            "what_was_timed": timing.how,
            **own,
        }


class Writer:
    """Writes a recording line by line, so that what was measured before an end too early is kept.

    Raises FileExistsError if the file is there: a recording is not overwritten.
    """

    def __init__(self, path: Path, provenance: Mapping[str, str]):
        missing = [key for key in PROVENANCE if not provenance.get(key)]
        if missing:
            raise ValueError(f"a recording wants to know {', '.join(missing)}")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("x", encoding="utf-8", newline="")
        for key in PROVENANCE:
            print(f"# {key}: {provenance[key]}", file=self._file)
        self._csv = csv.DictWriter(self._file, COLUMNS, lineterminator="\n")
        self._csv.writeheader()
        self._file.flush()

    def row(self, row: Mapping) -> None:
        self._csv.writerow(row)
        self._file.flush()

    def left_out(self, what: str, why: str) -> None:
        print(f"# left out: {what}: {' '.join(why.split())}", file=self._file, flush=True)

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_) -> None:
        self._file.close()


def read(path: Path) -> Recording:
    """The recording in a file. Raises ValueError if its provenance or its columns are not complete."""
    lines = path.read_text("utf-8").splitlines()
    comments = [line[2:].partition(": ")[::2] for line in lines if line.startswith("# ")]
    provenance = {key: value for key, value in comments if key != "left out"}
    missing = [key for key in PROVENANCE if not provenance.get(key)]
    if missing:
        raise ValueError(f"{path.name} wants lines '# {missing[0]}: …' at its head; missing: {', '.join(missing)}")
    table = csv.DictReader(line for line in lines if not line.startswith("# "))
    if tuple(table.fieldnames or ()) != COLUMNS:
        raise ValueError(f"{path.name} wants the columns {', '.join(COLUMNS)}, got {table.fieldnames}")
    rows = [{key: value if key in TEXT else _number(value) for key, value in row.items()} for row in table]
    return Recording(provenance, [value for key, value in comments if key == "left out"], rows)


def recordings(folder: Path = FOLDER) -> list[Recording]:
    """Every recording that comes with the package, or lies in a folder: an empty list where there is none."""
    return [read(path) for path in sorted(folder.glob("*.csv"))]


def _number(text: str) -> float | int | None:
    if text == "":
        return None
    return int(text) if text.isdecimal() else float(text)


def _digits(value: float | None, scale: float = 1.0) -> str:
    return "" if value is None else f"{value * scale:.5g}"


def _or_blank(value: int | None) -> int | str:
    return "" if value is None else value
