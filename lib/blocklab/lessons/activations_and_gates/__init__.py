"""The lesson activations_and_gates: from ReLU to SwiGLU."""
