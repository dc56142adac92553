"""The lesson start_here: the map of lessons, a slider, and whether everything runs here."""
