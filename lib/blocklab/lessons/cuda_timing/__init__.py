"""The lesson cuda_timing: how fast it is, and how a stopwatch lies."""
