"""The class report as an HTML page and as CSV."""

import csv
import io
from html import escape
from itertools import groupby

from blocklab_course.checks.verdict import to_html
from blocklab_course.i18n import Text, get_language
from blocklab_course.lessons.catalog import EXERCISES

from .collect import Report
from .grades import NOT_BEGUN, SOLVED
from .sanitize import sanitize, spreadsheet_cell

TITLE = Text(en="Class report", zh="全班练习情况")
STUDENT = Text(en="student", zh="学生")
MISTAKES = Text(en="Common mistakes", zh="全班常见的错误")
BY_STUDENT = Text(en="By student", zh="每名学生的情况")
REMARKS = Text(en="Remarks", zh="备注")
CLAIMED = Text(
    en="No code was run for this report: the verdicts come from the students' files, which can be edited. Add `--run` "
    "to run the notebooks here.",
    zh="这份报告没有运行任何代码：结论都取自学生的文件，而文件是可以改动的。加上 `--run`，就会在这里运行笔记本。",
)
RAN = Text(
    en="The notebooks were run for this report: it holds the verdicts of this run, not those in the students' files.",
    zh="这份报告运行过学生的笔记本：结论都来自这次运行，不取学生文件里的记录。",
)
LEGEND = Text(
    en="`✓` solved · `1` the first mistake above (`?`: an unknown one) · `…` not begun · empty: no check was run",
    zh="`✓` 已完成 · `1` 上面列表中的第一个错误，其中 `?` 是检查器不认识的错误 · `…` 还没写 · 空白：没有运行检查",
)
COUNT = Text(en="{count} of {total}", zh="{count}/{total}")


def render_csv(report: Report) -> str:
    """The table, students by exercises."""
    rows = [[student, *(row.get(name, "") for name in report.exercises)] for student, row in report.cells.items()]
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)  # some spreadsheets also split at semicolons
    writer.writerows([spreadsheet_cell(cell) for cell in row] for row in [[STUDENT, *report.exercises], *rows])
    return text.getvalue()


def render_html(report: Report) -> str:
    """The page: the mistakes with their hints, the most frequent first, the table, and what does not count."""
    items = [_mistake(*found, len(report.cells)) for found in report.common_mistakes()]
    mistakes = f"<h2>{MISTAKES}</h2><ol>{''.join(items)}</ol>" if items else ""
    table = f"<h2>{BY_STUDENT}</h2><p>{to_html(str(LEGEND))}</p>{_table(report)}" if report.cells else ""
    notes = "".join(f"<li>{_escape(line)}</li>" for line in report.notes)
    notes = f"<h2>{REMARKS}</h2><ul>{notes}</ul>" if notes else ""
    return (
        f'<!doctype html><html lang="{get_language()}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{TITLE}</title>'
        f"<style>{_STYLE}</style><h1>{TITLE}</h1><p>{to_html(str(RAN if report.ran else CLAIMED))}</p>"
        f"{mistakes}{table}{notes}</html>"
    )


def _mistake(exercise: str, mistake: str, count: int, total: int) -> str:
    hints = {row.id: to_html(str(row.hint)) for row in EXERCISES[exercise].mistakes}
    share = COUNT.format(count=count, total=total)
    hint = f"<br>{hints[mistake]}" if mistake in hints else ""
    return f"<li><strong>{share}</strong> <code>{exercise}</code> · {_escape(mistake)}{hint}</li>"


def _table(report: Report) -> str:
    numbers = {(exercise, mistake): str(n) for n, (exercise, mistake, _) in enumerate(report.common_mistakes(), 1)}
    by_lesson = groupby(report.exercises, lambda name: EXERCISES[name].lesson[:2])
    lessons = "".join(f'<th colspan="{len([*names])}">{number}</th>' for number, names in by_lesson)
    head = "".join(f"<th><span>{name}</span></th>" for name in report.exercises)
    rows = ""
    for student, row in report.cells.items():
        cells = "".join(_cell(row.get(name, ""), name, numbers) for name in report.exercises)
        rows += f'<tr><th scope="row">{_escape(student)}</th>{cells}</tr>'
    top = f'<tr><th rowspan="2" scope="col">{STUDENT}</th>{lessons}</tr><tr>{head}</tr>'
    return f'<div class="wide"><table><thead>{top}</thead>{rows}</table></div>'


def _cell(grade: str, exercise: str, numbers: dict[tuple[str, str], str]) -> str:
    if grade in ("", SOLVED, NOT_BEGUN):
        return f'<td class="{"solved" if grade == SOLVED else "open"}">{grade}</td>'
    shown = "+".join(numbers[exercise, mistake] for mistake in dict.fromkeys(grade.split("+")))
    return f'<td class="wrong" title="{_escape(grade)}">{shown}</td>'


def _escape(text: object) -> str:
    return escape(sanitize(text))


_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:2rem}"
    "h2{margin-top:2rem}p,ol,ul{max-width:60rem}li{margin:.5rem 0;overflow-wrap:anywhere}"
    ".wide{overflow-x:auto}table{border-collapse:collapse}code{background:#8882}"
    "th,td{border:1px solid #8888;padding:.3rem .5rem;text-align:center}"
    "th{background:linear-gradient(#8882,#8882),Canvas;font-weight:600;vertical-align:bottom}"
    "th[scope]{position:sticky;left:0;text-align:left;min-width:9rem;overflow-wrap:anywhere}"
    "th span{writing-mode:vertical-rl;transform:rotate(180deg);white-space:nowrap;font-weight:400}"
    "td.solved{background:#2a23}td.wrong{background:#e603}"
)
