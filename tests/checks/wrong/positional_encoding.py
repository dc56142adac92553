import functools

import torch

from blocklab.positional_encoding import shift_matrix, sinusoidal_encoding


def of_a_table(rows):
    return lambda length, d_model, base=10000.0: sinusoidal_encoding(rows, d_model, base)[:length]


def remembered(function, key):
    """A cache whose key leaves an argument out."""
    seen = {}

    def look_up(size, d_model, base=10000.0):
        place = key(size, d_model, base)
        if place not in seen:
            seen[place] = function(size, d_model, base)
        return seen[place].clone()

    return look_up


def longest_so_far():
    seen = {}

    def look_up(length, d_model, base=10000.0):
        if len(seen.get((d_model, base), ())) < length:
            seen[d_model, base] = sinusoidal_encoding(length, d_model, base)
        return seen[d_model, base]

    return look_up


def at(change):
    """The right rows, but those of other positions."""

    def table(length, d_model, base=10000.0):
        rows = sinusoidal_encoding(20000, d_model, base)
        return rows[change(torch.arange(length)).long()]

    return table


def shift_of_a_table(offset, d_model, base=10000.0):
    row = sinusoidal_encoding(2048, d_model, base)[abs(offset)]
    sin, cos = row[0::2] * (1 if offset >= 0 else -1), row[1::2]
    return torch.block_diag(*torch.stack([cos, sin, -sin, cos], -1).view(-1, 2, 2))


def limited(offset, d_model, base=10000.0):
    return shift_matrix(max(-1000, min(1000, offset)), d_model, base)


def squeezed(length, d_model, base=10000.0):
    return sinusoidal_encoding(length, d_model, base).squeeze()


def one_of_two_bases(length, d_model, base=10000.0):
    return sinusoidal_encoding(length, d_model, 10000.0 if base > 1000 else 100.0)


def at_most_eight_columns(length, d_model, base=10000.0):
    return sinusoidal_encoding(length, d_model, base) if d_model <= 8 else torch.zeros(length, d_model)


WRONG = {
    "sinusoidal_encoding": {
        **{f"a table of {rows}": (of_a_table(rows), {"wrong-shape"}) for rows in (512, 1024, 2048, 4096, 5000, 8192)},
        "a cache without the base": (remembered(sinusoidal_encoding, lambda *given: given[:2]), {None}),
        "a cache without the width": (remembered(sinusoidal_encoding, lambda *given: given[::2]), {"wrong-shape"}),
        "the longest table so far": (longest_so_far(), {"wrong-shape"}),
        "positions in int8": (at(lambda k: k.to(torch.int8) % 128), {None}),
        "positions in float16": (at(lambda k: k.half()), {None}),
        "positions up to 1024": (at(lambda k: k.clamp(max=1024)), {None}),
        "positions begin again": (at(lambda k: k % 4096), {None}),
        "squeezed": (squeezed, {"wrong-shape"}),
        "one of two bases": (one_of_two_bases, {None}),
        "at most eight columns": (at_most_eight_columns, {None}),
    },
    "shift_matrix": {
        "the identity": (lambda offset, d_model, base=10000.0: torch.eye(d_model), {"nothing-moves"}),
        "of a table": (shift_of_a_table, {"raises"}),
        "limited": (limited, {None}),
        "begins again": (lambda offset, *rest: shift_matrix(offset % 512, *rest), {None}),
        "a cache without the base": (remembered(shift_matrix, lambda *given: given[:2]), {None}),
        "a cache of offsets": (remembered(shift_matrix, lambda *given: given[0]), {"wrong-shape"}),
        "steps multiplied": (lambda offset, *rest: shift_matrix(1, *rest) * offset, {None}),
        "wrapped in a batch": (functools.partial(lambda *given: shift_matrix(*given)[None]), {"wrong-shape"}),
    },
}
