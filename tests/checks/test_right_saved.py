"""Right solutions are saved, unless they are torch's or ours."""

from pathlib import Path

import pytest
from right import RIGHT

from blocklab_course.lessons.catalog import EXERCISES, SAVED_EXERCISES
from blocklab_course.workspace.solutions import save

NOT_OWN = "which was not written here"


@pytest.mark.parametrize("name", SAVED_EXERCISES)
def test_right_solutions_are_saved(name, tmp_path, monkeypatch):
    folder = tmp_path / "my" / "en"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(
        "blocklab_course.workspace.source_code.is_beside_notebooks", lambda file: "right" in Path(file).parts
    )
    results = {label: save(EXERCISES[name], solution) for label, solution in RIGHT[name].items()}
    assert all(message.startswith("Kept as") for saved, (message, *_) in results.values() if saved)
    refused = {label: message for label, (saved, (message, *_)) in results.items() if not saved}
    assert [label for label, message in refused.items() if not message.removesuffix(".").endswith(NOT_OWN)] == []
    assert len(refused) < len(results)
