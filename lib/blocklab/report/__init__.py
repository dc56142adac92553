"""Which mistakes a class makes: `python -P -m blocklab.report FOLDER`, from the verdicts in the students' notebooks."""
