"""The lesson transformer_layers: encoder and decoder layers, and where their norms stand."""
