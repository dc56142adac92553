import math

import blocklab.feed_forward


def by_remainder(n, multiple_of):
    remainder = n % multiple_of
    return n if remainder == 0 else n + multiple_of - remainder


def one_by_one(n, multiple_of):
    while n % multiple_of:
        n += 1
    return n


def by_divmod(n, m):
    blocks, left = divmod(n, m)
    return (blocks + bool(left)) * m


def by_range(n, multiple_of):
    return next(width for width in range(n, n + multiple_of) if width % multiple_of == 0)


def meta(dim, multiple_of=256, ffn_dim_multiplier=None):
    hidden_dim = 4 * dim
    hidden_dim = int(2 * hidden_dim / 3)
    if ffn_dim_multiplier is not None:
        hidden_dim = int(ffn_dim_multiplier * hidden_dim)
    return multiple_of * ((hidden_dim + multiple_of - 1) // multiple_of)


def in_integers(d_model, multiple_of=256, multiplier=None):
    hidden = 8 * d_model // 3
    hidden = math.floor(hidden * (multiplier or 1))
    return -(-hidden // multiple_of) * multiple_of


def by_ceiling(d_model, multiple_of=256, multiplier=None):
    hidden = int(8 / 3 * d_model)
    if multiplier:
        hidden = int(hidden * multiplier)
    return math.ceil(hidden / multiple_of) * multiple_of


def with_a_default_of_one(d_model, multiple_of=256, multiplier=None):
    multiplier = 1.0 if multiplier is None else multiplier
    return blocklab.feed_forward.round_up(math.trunc(multiplier * ((d_model * 8) // 3)), multiple_of)


RIGHT = {
    "round_up": {
        "ours": blocklab.feed_forward.round_up,
        "by the remainder": by_remainder,
        "by divmod": by_divmod,
        "by a range": by_range,
        "one by one": one_by_one,
        "a lambda": lambda n, m: -(-n // m) * m,
        "the negative remainder": lambda n, multiple_of: n + (-n) % multiple_of,
    },
    "hidden_width": {
        "ours": blocklab.feed_forward.hidden_width,
        "Meta's": meta,
        "in integers": in_integers,
        "by the ceiling": by_ceiling,
        "a default of one": with_a_default_of_one,
    },
}
ADVISED = {
    "round_up": {
        "by the ceiling": (lambda n, multiple_of: math.ceil(n / multiple_of) * multiple_of, ("large-number",)),
        "whole blocks of a float": (lambda n, m: m * int((n + m - 1) / m), ("large-number", "below-zero")),
    }
}
