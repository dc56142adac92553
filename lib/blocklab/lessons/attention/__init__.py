"""The lesson attention: scaled dot-product attention and its masks."""
