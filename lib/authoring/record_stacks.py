"""`python -m authoring.record_stacks` measures the untrained stacks of lesson 12 and writes `data/norm_places.csv`."""

from pathlib import Path

from blocklab_course.lessons.transformer_layers.recorded_stacks import record

RECORDED = Path(__file__).parents[1] / "blocklab_course/data/norm_places.csv"

if __name__ == "__main__":
    record(RECORDED)
    print(RECORDED)
