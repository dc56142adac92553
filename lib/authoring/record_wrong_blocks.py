"""Measure lesson 15's wrong blocks for `data/wrong_blocks.csv`: `python -m authoring.record_wrong_blocks`."""

from pathlib import Path

from blocklab_course.lessons.your_model.wrong_functions import record

RECORDED = Path(__file__).parents[1] / "blocklab_course/data/wrong_blocks.csv"

if __name__ == "__main__":
    record(RECORDED)
    print(RECORDED)
