import math

import torch

RIGHT = {
    "positions_per_turn": {
        "a formula": 2 * math.pi * 10000 ** (2 / 4),
        "a tensor": torch.tensor(200 * math.pi),
        "a whole number": 628,
        "whole positions for a whole turn": 629,
    }
}
ADVISED = {}
