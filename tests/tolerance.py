"""Tolerances by dtype."""

import torch

# A result computed in float32 or wider and rounded once. The relative part of the half types is half their machine
# epsilon, that one rounding, so a second one does not fit in; their absolute part is the error of the float32
# arithmetic before it. float32 itself errs by a few machine epsilons (1.2e-7) of the largest number summed; float64 has
# to agree with torch's float64 to 1e-12.
TOLERANCE = {
    torch.float64: {"rtol": 1e-12, "atol": 1e-12},
    torch.float32: {"rtol": 2e-6, "atol": 2e-6},
    torch.float16: {"rtol": 2.0**-11, "atol": 2e-6},
    torch.bfloat16: {"rtol": 2.0**-8, "atol": 2e-6},
}
