"""The learner's folder is found from a copy of a lesson, on a JupyterHub and on Colab, and nowhere else."""

import os
import sys

import pytest

from blocklab_course import check
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.workspace.folder import workspace_folder
from blocklab_course.workspace.predictions import count_predictions, record
from blocklab_course.workspace.solutions import load


@pytest.mark.parametrize("language", ["en", "zh"])
def test_copy_is_in_the_learners_folder(mine, monkeypatch, language):
    monkeypatch.chdir(mine / language)
    assert workspace_folder() == mine


def test_hub_uses_the_lessons_folder(tmp_path, monkeypatch):
    (tmp_path / "notebooks" / "zh").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "notebooks" / "zh")
    monkeypatch.setenv("JUPYTERHUB_USER", "eve")
    assert workspace_folder() == tmp_path / "notebooks"


def test_colab_uses_the_sessions_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "google.colab", object())
    assert workspace_folder() == tmp_path / "my"


@pytest.mark.parametrize("place", ["notebooks/en", "my-before-1/en", "my", "my/other", "en", "my/en/deeper"])
def test_nothing_is_saved_elsewhere(tmp_path, monkeypatch, place):
    (tmp_path / place).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / place)
    assert workspace_folder() is None
    record("blocklab_course.lessons.positional_encoding.clocks", "44", True)
    verdict = check("gelu", EXERCISES["gelu"].reference)
    assert verdict
    assert not any("save" in message for message in verdict.messages)
    assert (count_predictions(), load("swish")) == ((0, 0), None)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.skipif(os.name == "nt", reason="Windows does not delete the working folder of a process")
def test_deleted_folder_is_ignored(tmp_path, monkeypatch):
    gone = tmp_path / "my" / "en"
    gone.mkdir(parents=True)
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert workspace_folder() is None
    monkeypatch.chdir(tmp_path)
