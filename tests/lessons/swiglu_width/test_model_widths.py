"""The table of real models: every row says what Meta's rule makes of it, misses included."""

import csv
from importlib.resources import files

import pytest

from blocklab.feed_forward import hidden_width

COLUMNS = "model,d_model,hidden,multiple_of,multiplier,arguments,rule,reproduced,source,note"
with (files("blocklab_course") / "data" / "model_widths.csv").open(encoding="utf-8", newline="") as table:
    ROWS = list(csv.DictReader(table))


def test_44_models_of_which_the_rule_finds_21():
    assert ",".join(ROWS[0]) == COLUMNS
    assert len({row["model"] for row in ROWS}) == len(ROWS) == 44
    assert [row["reproduced"] for row in ROWS].count("yes") == 21
    assert [row["reproduced"] for row in ROWS].count("no") == 23
    assert all(row["source"] for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["model"])
def test_the_rule(row):
    multiplier = float(row["multiplier"]) if row["multiplier"] else None
    rule = hidden_width(int(row["d_model"]), int(row["multiple_of"]), multiplier)
    assert rule == int(row["rule"])
    assert row["reproduced"] == ("yes" if rule == int(row["hidden"]) else "no")


def test_no_row_is_tuned_to_fit():
    # arguments that nobody published are Meta's defaults; and the rule finds every model whose arguments are published
    assert {row["arguments"] for row in ROWS} == {"published", "Meta's defaults"}
    for row in ROWS:
        if row["arguments"] == "published":
            assert row["reproduced"] == "yes"
        else:
            assert (row["multiple_of"], row["multiplier"]) == ("256", "")


WELL_KNOWN = {  # hits and misses, copied a second time from another place
    "LLaMA-1 7B": (4096, 11008, "yes"),
    "Llama-2 70B": (8192, 28672, "yes"),
    "Llama-3 / 3.1 8B": (4096, 14336, "yes"),
    "CodeLlama 34B": (8192, 22016, "yes"),
    "Llama-3.1 405B": (16384, 53248, "yes"),
    "Mistral 7B": (4096, 14336, "no"),
    "OpenLLaMA 3B": (3200, 8640, "no"),
    "Qwen3 8B": (4096, 12288, "no"),
    "Gemma 7B (GeGLU)": (3072, 24576, "no"),
    "DeepSeek-V3 (dense layers)": (7168, 18432, "no"),
}


@pytest.mark.parametrize("model", WELL_KNOWN)
def test_well_known_models(model):
    (row,) = [row for row in ROWS if row["model"] == model]
    assert (int(row["d_model"]), int(row["hidden"]), row["reproduced"]) == WELL_KNOWN[model]
