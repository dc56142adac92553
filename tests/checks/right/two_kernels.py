import torch

RIGHT = {
    "bytes_in_two_kernels": {
        "a formula": 2 * (1 + 1 + 2 + 1),
        "a float": 10.0,
        "a tensor": torch.tensor(10),
    }
}
ADVISED = {}
