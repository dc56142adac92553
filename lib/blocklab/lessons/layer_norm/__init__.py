"""The lesson layer_norm: LayerNorm to the last digit, forward and backward."""
