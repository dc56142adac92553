"""The lesson ema_momentum: a moving average and its two meanings of momentum."""
