"""The lesson start_here: the slider that does nothing, the map of lessons, and what this machine has."""
