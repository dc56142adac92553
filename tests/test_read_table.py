"""The tables in `data/`: rows by column, without the lines that say where the numbers are from."""

from pathlib import Path

import pytest

import blocklab
from blocklab_course.tables import read_table

TABLES = sorted(file.stem for file in (Path(blocklab.__file__).parent / "data").glob("*.csv"))


@pytest.mark.parametrize("name", TABLES)
def test_every_row_has_every_column_and_no_line_of_remarks_is_one(name):
    found = read_table(name)
    assert len(found) > 3
    assert all(row.keys() == found[0].keys() and None not in row.values() for row in found)
    assert not any(value.startswith("#") for row in found for value in row.values())
