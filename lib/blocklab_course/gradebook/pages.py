"""The class report as a page and as a table for spreadsheets."""

import csv
import io
from html import escape
from itertools import groupby

from blocklab_course.checks.verdict import to_html
from blocklab_course.i18n import Text, get_language
from blocklab_course.lessons.catalog import EXERCISES

from .collect import Report, lesson_number
from .grades import NOT_BEGUN, SOLVED, UNKNOWN
from .sanitize import sanitize, spreadsheet_cell

TITLE = Text(en="Exercises of the class", zh="全班练习情况")
STUDENT = Text(en="student", zh="学生")
SHARED = Text(en="What the class shares", zh="全班常见的错误")
ALONE = Text(en="Mistakes of one student each: {count}", zh="只有一名学生犯的错误：{count} 个")
CLAIMED = Text(en="Student by student, as their files claim", zh="每名学生的情况（取自学生的文件）")
RAN = Text(en="Student by student", zh="每名学生的情况")
FAULTS = Text(en="What could not be read or run", zh="无法读取或运行的内容")
REMARKS = Text(en="Remarks", zh="备注")
ALL_CLAIMED = Text(
    en="Nothing ran for this report: each verdict is what the student's file claims, and a file can be edited. With "
    "`--run`, the notebooks run here.",
    zh="这份报告没有运行任何代码：结论都取自学生的文件，而文件是可以改动的。加上 `--run`，就会在这里运行笔记本。",
)
SOME_CLAIMED = Text(
    en="The notebooks ran here. A verdict in parentheses did not come from that: it is only what the student's file "
    "claims, and a file can be edited.",
    zh="笔记本在这里运行过。带括号的结论不是运行得到的，只是学生文件里的记录，而文件是可以改动的。",
)
LEGEND = {
    SOLVED: Text(en="solved", zh="已完成"),
    "1": Text(en="a mistake, by its number in the list above", zh="错误，数字是上面列表中的编号"),
    UNKNOWN: Text(en="a mistake that no table knows", zh="检查器不认识的错误"),
    NOT_BEGUN: Text(en="not begun", zh="还没写"),
    "": Text(en="empty: no check was run", zh="空白：没有运行检查"),
}
COUNT = Text(en="{count} of {total}", zh="{count}/{total}")


def render_csv(report: Report) -> str:
    """The table, students by exercises. A verdict in parentheses is claimed where others ran."""
    text = io.StringIO()
    rows = [[str(STUDENT), *report.exercises]]
    for student, row in report.cells.items():
        marks = (_claim(report, student, name, row.get(name, "")) for name in report.exercises)
        rows.append([student, *marks])
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)  # a spreadsheet may part at semicolons, too
    writer.writerows([spreadsheet_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def render_html(report: Report) -> str:
    """One page: what the class shares, each mistake with its hint, then the table, then what could not be read."""
    numbers = {(exercise, mistake): number for number, (exercise, mistake, _) in enumerate(report.shared(), 1)}
    source, heading = (ALL_CLAIMED, CLAIMED) if report.ran is None else (SOME_CLAIMED, RAN)
    parts = [f"<h1>{TITLE}</h1><p>{to_html(str(source))}</p>", _mistakes(report)]
    if report.cells:
        parts += [f"<h2>{heading}</h2>", _legend(bool(numbers)), _table(report, numbers)]
    parts += [
        _notes(REMARKS, report.remarks),
        _notes(FAULTS, report.told_faults),
    ]
    return (
        f'<!doctype html><html lang="{get_language()}"><meta charset="utf-8"><title>{TITLE}</title>'
        f"<style>{_STYLE}</style>{''.join(parts)}</html>"
    )


def _mistakes(report: Report) -> str:
    """The numbered list: what several students did, then, folded, the rest."""
    items = [_item(*entry, len(report.cells)) for entry in report.shared()]
    several = sum(count > 1 for _, _, count in report.shared())
    shared, alone = items[:several], items[several:]
    summary = f"<summary>{ALONE.format(count=len(alone))}</summary>"
    parts = [
        (shared, f"<h2>{SHARED}</h2><ol>{''.join(shared)}</ol>"),
        (alone, f'<details>{summary}<ol start="{several + 1}">{"".join(alone)}</ol></details>'),
    ]
    return "".join(part for there, part in parts if there)


def _item(exercise: str, mistake: str, count: int, total: int) -> str:
    known = {row.id: row.hint for row in EXERCISES[exercise].mistakes} if exercise in EXERCISES else {}
    hint = f"<br>{to_html(str(known[mistake]))}" if mistake in known else ""
    share = COUNT.format(count=count, total=total)
    name = LEGEND[UNKNOWN] if mistake == UNKNOWN else sanitize(mistake)
    return f"<li><strong>{share}</strong> <code>{_escape(exercise)}</code> · {_escape(name)}{hint}</li>"


def _table(report: Report, numbers: dict[tuple[str, str], int]) -> str:
    lessons = "".join(
        f'<th colspan="{len(list(names))}">{number}</th>' for number, names in groupby(report.exercises, lesson_number)
    )
    head = "".join(f"<th><span>{_escape(name)}</span></th>" for name in report.exercises)
    rows = "".join(_row(report, student, numbers) for student in report.cells)
    return (
        f'<div class="wide"><table><thead><tr><th rowspan="2" scope="col">{STUDENT}</th>{lessons}</tr>'
        f"<tr>{head}</tr></thead>{rows}</table></div>"
    )


def _row(report: Report, student: str, numbers: dict[tuple[str, str], int]) -> str:
    row = report.cells[student]
    cells = "".join(_cell(report, student, name, row.get(name, ""), numbers) for name in report.exercises)
    return f'<tr><th scope="row">{_escape(student)}</th>{cells}</tr>'


def _cell(report: Report, student: str, exercise: str, mark: str, numbers: dict[tuple[str, str], int]) -> str:
    if mark in ("", SOLVED, NOT_BEGUN):
        kind = "solved" if mark == SOLVED else "open"
        return f'<td class="{kind}">{_claim(report, student, exercise, mark)}</td>'
    several = dict.fromkeys(mark.split("+"))
    names = (UNKNOWN if mistake == UNKNOWN else str(numbers[exercise, mistake]) for mistake in several)
    shown = _claim(report, student, exercise, "+".join(names))
    return f'<td class="wrong" title="{_escape(mark)}">{shown}</td>'


def _claim(report: Report, student: str, exercise: str, mark: str) -> str:
    return f"({mark})" if mark and report.claimed(student, exercise) else mark


def _legend(mistakes: bool) -> str:
    shown = (f"{mark} {meaning}".strip() for mark, meaning in LEGEND.items() if mistakes or mark not in ("1", UNKNOWN))
    return f"<p>{' · '.join(shown)}</p>"


def _notes(title: Text, lines: list[str]) -> str:
    items = "".join(f"<li>{_escape(line)}</li>" for line in lines)
    return f"<h2>{title}</h2><ul>{items}</ul>" if lines else ""


def _escape(text: object) -> str:
    return escape(sanitize(text))


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem;color:#222;background:#fff}"
    "h2{margin-top:2rem}p,ol,ul{max-width:60rem}li{margin:.5rem 0;overflow-wrap:anywhere}summary{cursor:pointer}"
    ".wide{overflow-x:auto}table{border-collapse:collapse}code{background:#f3f3f3}"
    "th,td{border:1px solid #bbb;padding:.3rem .5rem;text-align:center}"
    "th{background:#eee;font-weight:600;vertical-align:bottom}"
    "th[scope]{position:sticky;left:0;text-align:left;min-width:9rem;overflow-wrap:anywhere}"
    "th span{writing-mode:vertical-rl;transform:rotate(180deg);white-space:nowrap;font-weight:400}"
    "td.solved{background:#e3f1e3}td.wrong{background:#fbe6d8}"
)
