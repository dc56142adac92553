"""The lessons that the browser tests run whole, with all their texts; of the others they keep what panels need."""

WHOLE = "00_start_here.ipynb", "02_norm_axes.ipynb"
