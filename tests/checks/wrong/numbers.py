import math

import torch

WRONG = {
    "scale": {"text": ("0.003", {"wrong-kind"}), "four numbers": (torch.full((4,), 3e-3), {"wrong-kind"})}
    | {str(s): (s, {"too-large"}) for s in (1e6, 1.0, 0.01, 0.004)}
    | {str(s): (s, {"too-small"}) for s in (0.003, 0.001, 1e-4, 1e-6)}
    | {str(s): (s, {"negative"}) for s in (-1e-6, -0.001, -1.0)},
    "positions_per_turn": {
        "text": ("6283", {"wrong-kind"}),
        "two digits": (6300, {None}),
        "multiplied": (0.00628, {"multiplied"}),
        "pair 2": (628, {"counted-from-one"}),
    },
    "turned_product": {
        "text": ("-3.922", {"wrong-kind"}),
        "one digit": (-3.9, {None}),
        "the first features": (2 * math.cos(5) * 3 * math.cos(1), {"first-features-alone"}),
        "ω by the formula, two digits": (5.98, {"frequency-of-the-formula"}),
        "degrees": (5.985, {"in-degrees"}),
        "a sign slipped": (6 * (math.cos(5) * math.cos(1) - math.sin(5) * math.sin(1)), {"positions-added"}),
        "turned the other way": (6 * math.cos(-8), {"frequency-forgotten"}),
        "both pairs": ((5.0, 1.0), {"wrong-kind"}),
        "√d of the picture": (6 * math.cos(4) / math.sqrt(8), {"divided-by-root-8"}),
        "the query's length": (2 * math.cos(4), {"querys-length-alone"}),
        "the key's length, two digits": (-1.96, {"keys-length-alone"}),
        "no sign": (3.922, {"sign-lost"}),
        "ω for turns": (6 * math.cos(2 * math.pi * 4), {"not-turned"}),
    },
    "bytes_in_two_kernels": {"text": ("10", {"wrong-kind"}), "nearly": (10.5, {None})},
    "half_size": {
        "two digits and one off": (0.0019, {"too-large"}),
        "between two digits": (0.00175, {"too-small"}),
        "read off far to the right": (0.01, {"too-large"}),
    },
    "outputs_that_move": {
        "one number": (18, {"wrong-kind"}),
        "four numbers": ((27, 36, 9, 18), {"wrong-kind"}),
        "a text": ("27, 36, 9, 18, 4", {"wrong-kind"}),
        "means instead of numbers": ((4, 3, 12, 6, 27), {"means-counted"}),
        "means of one layer": ((4, 36, 9, 18, 4), {"batchnorm-means-counted"}),
        "all positions": ((27, 36, 9, 18, 27), {"layernorm-per-position-means-counted"}),
        "the group in every sample": ((27, 36, 9, 54, 4), {"group-norm-in-all-samples"}),
        "two channels, whose grids are forgotten": ((27, 36, 9, 2, 4), {"group-norm-channels-alone"}),
        "as with two samples": ((18, 36, 9, 18, 4), {"batch-norm-in-two-samples"}),
        "unknown": ((27, 35, 9, 18, 4), {None}),
    },
    "weight_by_hand": {
        "one digit": (0.8, {None}),
        "text": ("0.77", {"wrong-kind"}),
        "77 percent": (77, {"in-percent"}),
        "16.92": (16.92, {"exponential"}),
        "divided by d": (0.665, {"scaled-by-size"}),
        "divided by d, exactly": (torch.tensor([1.0, 0, 2]).softmax(0)[2], {"scaled-by-size"}),
        "the scores shared out": (2.83 / 4.24, {"scores-shared-out"}),
        "either, rounded": (0.67, {"scaled-by-size-or-scores-shared-out"}),
        "without the score of 0": (16.9 / (4.1 + 16.9), {"score-of-zero-left-out"}),
        "the second key": (1 / 22, {"second-key"}),
        "the second key, two digits": (0.05, {"second-key"}),
        "the first key, two digits": (0.19, {"first-key"}),
        "products not divided, two digits": (0.87, {"products-not-divided"}),
        **{
            f"{answer}": (answer, {"impossible-weight"})
            for answer in (1.2, 500.0, -0.3, 0, 1, math.nan, math.inf, -math.inf, torch.tensor(-2))
        },
        "of two keys": (16.9 / 17.9, {None}),
    },
    "root_mean_square": {"text": ("3.54", {"wrong-kind"})},
}
