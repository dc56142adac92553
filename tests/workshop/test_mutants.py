"""Every mutant of `make mutants` still changes a line that is there, and names tests that are there."""

import ast
import tomllib

from workshop.mutants.__main__ import MUTANTS, ROOT, mutated

ROWS = tomllib.loads(MUTANTS.read_text("utf-8"))["mutant"]


def test_the_text_to_replace_occurs_exactly_once():
    wrong = []
    for row in ROWS:
        try:
            ast.parse(mutated((ROOT / "lib" / row["file"]).read_text("utf-8"), row))
        except (OSError, ValueError, SyntaxError) as error:
            wrong.append(f"{row['file']}: {error}")
    assert wrong == []


def test_each_changes_something():
    assert [row for row in ROWS if row["old"] == row["new"]] == []


def test_the_tests_that_must_notice_are_there():
    patterns = {pattern for row in ROWS for pattern in row["tests"]}
    assert [pattern for pattern in sorted(patterns) if not any(ROOT.glob(f"tests/{pattern}"))] == []
    assert all(row["tests"] for row in ROWS)
