import math

import torch

RIGHT = {
    "positions_per_turn": {
        "a formula": 2 * math.pi * 10000 ** (2 * 3 / 8),
        "a tensor": torch.tensor(2000 * math.pi),
        "a whole number": 6283,
        "whole positions for a whole turn": 6284,
    }
}
ADVISED = {}
