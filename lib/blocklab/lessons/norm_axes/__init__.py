"""The lesson norm_axes: which numbers share one mean."""
