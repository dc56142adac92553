"""Report which mistakes a class makes, from its notebooks: `python -P -m blocklab_course.gradebook FOLDER`."""
