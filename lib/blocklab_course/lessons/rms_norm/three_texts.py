"""The texts on which it is tried what a model loses with a direction."""

from blocklab_course.pretrained.prompts import ZEN

# Lewis Carroll, 1865
ALICE = "Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do"
# Charles Dickens, 1859
CITIES = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness"
THREE_TEXTS = {"Alice": ALICE, "Two Cities": CITIES, "Zen": ZEN}
