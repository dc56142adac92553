"""Which misconception does the class share? Read the verdicts that checks left in students' notebooks."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from blocklab.language import Text

from .tables import EXERCISES
from .verdict import MIME, marked

SOLVED, NOT_BEGUN, UNKNOWN = "✓", "…", "?"
NOT_WRITTEN = "not-written-yet"

TITLE = Text(en="Exercises of the class", zh="全班练习情况")
STUDENT = Text(en="student", zh="学生")
SHARED = Text(en="What the class shares", zh="全班常见的错误")
LEGEND = {
    SOLVED: Text(en="solved", zh="已完成"),
    NOT_BEGUN: Text(en="not begun", zh="还没写"),
    UNKNOWN: Text(en="a mistake that no table knows", zh="检查器不认识的错误"),
    "": Text(en="empty: no check was run", zh="空白：没有运行检查"),
}
COUNT = Text(en="{count} of {total}", zh="{count}/{total}")
UNREADABLE = Text(en="could not be read: {why}", zh="无法读取：{why}")
NO_FOLDER = Text(
    en="report wants a folder with notebooks, got {folder}", zh="report 需要一个装有笔记本的文件夹，得到的是 {folder}"
)
EMPTY = Text(en="There is no notebook in {folder}.", zh="{folder} 里没有笔记本。")


@dataclass(frozen=True)
class Report:
    """The last verdict of every student on every exercise; `faults` are the notebooks that could not be read."""

    cells: dict[str, dict[str, str]]  # student → exercise → mark
    faults: dict[str, str]

    @property
    def exercises(self) -> list[str]:
        """The exercises that anybody has tried, in the order of the lessons; unknown ones last."""
        tried = {name for row in self.cells.values() for name in row}
        return [name for name in EXERCISES if name in tried] + sorted(tried - EXERCISES.keys())

    def shared(self) -> list[tuple[str, str, int]]:
        """The mistakes that stand at an exercise, the most frequent first: (exercise, mistake, how many students)."""
        counts = Counter(
            (exercise, mistake)
            for row in self.cells.values()
            for exercise, mark in row.items()
            if mark not in (SOLVED, NOT_BEGUN)
            for mistake in mark.split("+")
        )
        return [(*key, count) for key, count in counts.most_common()]


def read(folder: Path) -> Report:
    """Collect the verdicts of all notebooks below a folder, without running anything.

    A student is a notebook's path without its ending; where each has a folder of their own, the folder's name.
    """
    if not folder.is_dir():
        raise ValueError(NO_FOLDER.format(folder=folder))
    cells, faults = {}, {}
    for path in sorted(folder.rglob("*.ipynb")):
        inside = path.relative_to(folder)
        if ".ipynb_checkpoints" in inside.parts:
            continue
        try:
            marks = {verdict["exercise"]: _mark(verdict) for verdict in verdicts(path)}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            faults[inside.as_posix()] = f"{type(error).__name__}: {error}"
            continue
        student = inside.parts[0] if len(inside.parts) > 1 else inside.stem
        cells.setdefault(student, {}).update(marks)
    return Report(cells, faults)


def verdicts(path: Path) -> Iterator[dict]:
    """The verdicts saved in a notebook's outputs, in the order of its cells."""
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if MIME in output.get("data", {}):
                yield output["data"][MIME]


def _mark(verdict: dict) -> str:
    if verdict["passed"]:
        return SOLVED
    if verdict["mistake"] == NOT_WRITTEN:
        return NOT_BEGUN
    return str(verdict["mistake"] or UNKNOWN)


def as_csv(report: Report) -> str:
    """The table, students by exercises."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([str(STUDENT), *report.exercises])
    for student, row in report.cells.items():
        writer.writerow([_plain(student), *(_plain(row.get(name, "")) for name in report.exercises)])
    return text.getvalue()


def _plain(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def as_html(report: Report) -> str:
    """One page: what the class shares, each mistake with its hint, then the table."""
    parts = [f"<h1>{TITLE}</h1>"]
    if report.shared():
        items = "".join(_item(*entry, len(report.cells)) for entry in report.shared())
        parts.append(f"<h2>{SHARED}</h2><ul>{items}</ul>")
    head = "".join(f"<th>{escape(name)}</th>" for name in report.exercises)
    rows = "".join(_row(student, row, report.exercises) for student, row in report.cells.items())
    legend = " · ".join(f"{mark} {meaning}".strip() for mark, meaning in LEGEND.items())
    parts.append(f"<p>{legend}</p><table><tr><th>{STUDENT}</th>{head}</tr>{rows}</table>")
    parts += [f"<p>{escape(name)}: {escape(UNREADABLE.format(why=why))}</p>" for name, why in report.faults.items()]
    return f'<!doctype html><meta charset="utf-8"><title>{TITLE}</title><style>{_STYLE}</style>{"".join(parts)}'


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}"
    "body{color:#222;background:#fff}"
    "table{border-collapse:collapse}th,td{border:1px solid #bbb;padding:.3rem .6rem;text-align:left;vertical-align:top}"
    "th{background:#eee}td.solved{background:#e3f1e3}td.wrong{background:#fbe6d8}code{background:#f3f3f3}"
)


def _item(exercise: str, mistake: str, count: int, total: int) -> str:
    known = {row.id: row.hint for row in EXERCISES[exercise].mistakes} if exercise in EXERCISES else {}
    hint = f"<br>{marked(str(known[mistake]))}" if mistake in known else ""
    share = COUNT.format(count=count, total=total)
    return f"<li><strong>{share}</strong> <code>{escape(exercise)}</code> · {escape(mistake)}{hint}</li>"


def _row(student: str, row: dict[str, str], exercises: list[str]) -> str:
    marks = (row.get(name, "") for name in exercises)
    kinds = {SOLVED: "solved", NOT_BEGUN: "", "": ""}
    cells = "".join(f'<td class="{kinds.get(mark, "wrong")}">{escape(mark.replace("+", " + "))}</td>' for mark in marks)
    return f"<tr><th>{escape(student)}</th>{cells}</tr>"
