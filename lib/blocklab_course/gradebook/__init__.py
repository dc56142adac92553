"""Which mistakes a class makes, from the verdicts in its notebooks: `python -P -m blocklab_course.gradebook FOLDER`."""
