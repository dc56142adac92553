import torch

WRONG = {
    "scale": {"text": ("0.001", {"wrong-kind"}), "four numbers": (torch.full((4,), 1e-3), {"wrong-kind"})},
    "positions_per_turn": {"text": ("628", {"wrong-kind"}), "two digits": (630, {None})},
    "bytes_in_two_kernels": {"text": ("10", {"wrong-kind"}), "nearly": (10.5, {None})},
    "half_size": {"two digits and one off": (0.0019, {None}), "between two digits": (0.00175, {None})},
    "root_mean_square": {"text": ("3.54", {"wrong-kind"})},
}
