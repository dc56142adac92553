"""The lesson norm_axes: which numbers share one mean. Its pictures and its exercises."""
