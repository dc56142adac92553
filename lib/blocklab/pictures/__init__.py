"""What the lessons draw: each picture builds its artists once and returns the function that updates them."""
