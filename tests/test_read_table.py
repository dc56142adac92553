"""The tables in `data/` have the same columns in every row, without comments."""

from pathlib import Path

import pytest

import blocklab_course
from blocklab_course.tables import read_table

TABLES = sorted(file.stem for file in (Path(blocklab_course.__file__).parent / "data").glob("*.csv"))


def test_finds_tables():
    assert len(TABLES) >= 3


@pytest.mark.parametrize("name", TABLES)
def test_rows_have_all_columns_and_no_comments(name):
    found = read_table(name)
    assert len(found) > 3
    assert all(row.keys() == found[0].keys() and None not in row.values() for row in found)
    assert not any(value.startswith("#") for row in found for value in row.values())
