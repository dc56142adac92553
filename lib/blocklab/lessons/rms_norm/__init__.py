"""The lesson rms_norm: RMSNorm on the circle and in trained models."""
