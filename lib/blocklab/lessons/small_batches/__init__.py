"""The lesson small_batches: what a batch of few samples does to BatchNorm. Its pictures and its exercises."""
