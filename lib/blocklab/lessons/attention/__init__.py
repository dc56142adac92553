"""The lesson attention: scaled dot-product attention and its masks. Its pictures and its exercises."""
