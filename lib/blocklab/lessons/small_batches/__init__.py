"""The lesson small_batches: what a batch of few samples does to BatchNorm."""
