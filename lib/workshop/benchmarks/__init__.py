"""Speed, as ratios of two arms in one run: `make bench`."""
