"""The lessons that the browser tests run whole, with all their texts; of the others they keep what panels need."""

WHOLE = "00_start_here", "02_norm_axes"
