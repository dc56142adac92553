"""The learner's folder: saved solutions, predictions, and safe reads and writes of its files."""
