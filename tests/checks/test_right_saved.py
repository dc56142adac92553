"""Right solutions, as different as learners write them, are kept, unless they are torch's, ours or not to be found."""

from pathlib import Path

import pytest
from right import RIGHT

from blocklab_course.lessons.catalog import EXERCISES, SAVED_EXERCISES
from blocklab_course.workspace.solutions import save

OTHERS = ("which was not written here", "the source of `Statistics` cannot be found")  # a named tuple has no body


@pytest.mark.parametrize("name", SAVED_EXERCISES)
def test_right_solutions_are_saved(name, tmp_path, monkeypatch):
    folder = tmp_path / "my" / "en"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(
        "blocklab_course.workspace.source_code.is_beside_notebooks", lambda file: "right" in Path(file).parts
    )
    told = {label: save(EXERCISES[name], solution)[0] for label, solution in RIGHT[name].items()}
    refused = {label: said for label, said in told.items() if not said.startswith("Kept as")}
    assert {label: said for label, said in refused.items() if not said.removesuffix(".").endswith(OTHERS)} == {}
    assert len(refused) < len(told)
