"""The lesson why_normalize: signals through many layers, and standardizing by hand."""
