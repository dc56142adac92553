"""What lies beside a learner's copies of the lessons, in `my/`."""

PREDICTIONS = "predictions.jsonl"
BLOCKS_FOLDER = "blocks"
