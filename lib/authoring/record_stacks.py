"""Measure lesson 12's untrained stacks for `data/norm_places.csv`: `python -m authoring.record_stacks`."""

from pathlib import Path

from blocklab_course.lessons.transformer_layers.recorded_stacks import record

RECORDED = Path(__file__).parents[1] / "blocklab_course/data/norm_places.csv"

if __name__ == "__main__":
    record(RECORDED)
    print(RECORDED)
