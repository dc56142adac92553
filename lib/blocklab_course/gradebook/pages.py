"""The class report as an HTML page and as CSV."""

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

TITLE = Text(en="Class report", zh="全班练习情况")
STUDENT = Text(en="student", zh="学生")
COMMON_MISTAKES = Text(en="Common mistakes", zh="全班常见的错误")
SINGLE_MISTAKES = Text(en="Mistakes made by only one student: {count}", zh="只有一名学生犯的错误：{count} 个")
CLAIMED = Text(en="By student, according to their files", zh="每名学生的情况（取自学生的文件）")
RAN = Text(en="By student", zh="每名学生的情况")
PROBLEMS = Text(en="Not read or not run", zh="无法读取或运行的内容")
REMARKS = Text(en="Remarks", zh="备注")
ALL_CLAIMED = Text(
    en="No code was run for this report: the verdicts come from the students' files, which can be edited. Add `--run` "
    "to run the notebooks here.",
    zh="这份报告没有运行任何代码：结论都取自学生的文件，而文件是可以改动的。加上 `--run`，就会在这里运行笔记本。",
)
SOME_CLAIMED = Text(
    en="The notebooks were run here. A verdict in parentheses does not come from the run but from the student's file, "
    "which can be edited.",
    zh="笔记本在这里运行过。带括号的结论不是运行得到的，只是学生文件里的记录，而文件是可以改动的。",
)
LEGEND = {
    SOLVED: Text(en="solved", zh="已完成"),
    "1": Text(en="a mistake, numbered as in the list above", zh="错误，数字是上面列表中的编号"),
    UNKNOWN: Text(en="an unknown mistake", zh="检查器不认识的错误"),
    NOT_BEGUN: Text(en="not begun", zh="还没写"),
    "": Text(en="empty: no check was run", zh="空白：没有运行检查"),
}
COUNT = Text(en="{count} of {total}", zh="{count}/{total}")


def render_csv(report: Report) -> str:
    """The table, students by exercises, with claimed verdicts in parentheses if the notebooks were run."""
    text = io.StringIO()
    rows = [[str(STUDENT), *report.exercises]]
    for student, row in report.cells.items():
        grades = (_grade_or_claim(report, student, name, row.get(name, "")) for name in report.exercises)
        rows.append([student, *grades])
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)  # some spreadsheets also split at semicolons
    writer.writerows([spreadsheet_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def render_html(report: Report) -> str:
    """The page: common mistakes with their hints, the table, and what could not be read."""
    numbers = {(exercise, mistake): number for number, (exercise, mistake, _) in enumerate(report.common_mistakes(), 1)}
    source, heading = (ALL_CLAIMED, CLAIMED) if report.ran is None else (SOME_CLAIMED, RAN)
    parts = [f"<h1>{TITLE}</h1><p>{to_html(str(source))}</p>", _mistake_list(report)]
    if report.cells:
        parts += [f"<h2>{heading}</h2>", _legend(bool(numbers)), _table(report, numbers)]
    parts += [
        _notes(REMARKS, report.remarks),
        _notes(PROBLEMS, report.problem_lines),
    ]
    return (
        f'<!doctype html><html lang="{get_language()}"><meta charset="utf-8"><title>{TITLE}</title>'
        f"<style>{_STYLE}</style>{''.join(parts)}</html>"
    )


def _mistake_list(report: Report) -> str:
    """The numbered list of mistakes: those of several students, then, folded, the others."""
    items = [_item(*entry, len(report.cells)) for entry in report.common_mistakes()]
    several = sum(count > 1 for _, _, count in report.common_mistakes())
    shared, alone = items[:several], items[several:]
    summary = f"<summary>{SINGLE_MISTAKES.format(count=len(alone))}</summary>"
    parts = [
        (shared, f"<h2>{COMMON_MISTAKES}</h2><ol>{''.join(shared)}</ol>"),
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


def _cell(report: Report, student: str, exercise: str, grade: str, numbers: dict[tuple[str, str], int]) -> str:
    if grade in ("", SOLVED, NOT_BEGUN):
        kind = "solved" if grade == SOLVED else "open"
        return f'<td class="{kind}">{_grade_or_claim(report, student, exercise, grade)}</td>'
    several = dict.fromkeys(grade.split("+"))
    names = (UNKNOWN if mistake == UNKNOWN else str(numbers[exercise, mistake]) for mistake in several)
    shown = _grade_or_claim(report, student, exercise, "+".join(names))
    return f'<td class="wrong" title="{_escape(grade)}">{shown}</td>'


def _grade_or_claim(report: Report, student: str, exercise: str, grade: str) -> str:
    return f"({grade})" if grade and report.is_claimed(student, exercise) else grade


def _legend(mistakes: bool) -> str:
    shown = (
        f"{grade} {meaning}".strip() for grade, meaning in LEGEND.items() if mistakes or grade not in ("1", UNKNOWN)
    )
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
