"""What the lesson asks. At every step of an answer the best token is at least 0.1 ahead of the next, so that another
processor, which rounds otherwise, says the same."""

from blocklab_course.pretrained.prompts import QUESTION

FIRST = QUESTION
HAIKU = "Write a haiku about the moon."
IN_CHINESE = "法国的首都是哪里？"  # What is the capital of France?
LAST = "What is the capital of Japan?"
