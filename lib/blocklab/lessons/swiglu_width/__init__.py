"""The lesson swiglu_width: how wide a gated network is."""
