import math

import torch

from blocklab.feed_forward import hidden_width, round_up


def multiplied(d_model, multiple_of=256, multiplier=None, *, share):
    return round_up(int(share(d_model) * (1 if multiplier is None else multiplier)), multiple_of)


def multiplied_first(d_model, multiple_of=256, multiplier=None):
    return round_up(int(2 * int(4 * d_model * (1 if multiplier is None else multiplier)) / 3), multiple_of)


def times_none(d_model, multiple_of=256, multiplier=None):
    hidden = int(2 * 4 * d_model / 3) * multiplier
    return multiple_of * ((int(hidden) + multiple_of - 1) // multiple_of)


def times_none_at_once(d_model, multiple_of=256, multiplier=None):
    return math.ceil(int(multiplier * (8 * d_model / 3)) / multiple_of) * multiple_of


def from_one_tile(n, multiple_of):
    width = multiple_of
    while width < n:
        width += multiple_of
    return width


def rounded_before_and_after(d_model, multiple_of=256, multiplier=None):
    width = round_up(8 * d_model // 3, multiple_of)
    return width if multiplier is None else round_up(int(width * multiplier), multiple_of)


WRONG = {
    "round_up": {
        "no brackets": (lambda n, multiple_of: n + multiple_of - 1 // multiple_of * multiple_of, {"brackets-missing"}),
        "nearly one added": (lambda n, multiple_of: int(n / multiple_of + 0.9999) * multiple_of, {None}),
        "nearly a half added": (lambda n, multiple_of: round(n / multiple_of + 0.499) * multiple_of, {None}),
        "in float32": (lambda n, multiple_of: int(torch.tensor(n / multiple_of).ceil()) * multiple_of, {None}),
        "one tile exactly": (lambda n, multiple_of: 2 * n if n == multiple_of else round_up(n, multiple_of), {None}),
        "nothing for a large one": (lambda n, multiple_of: round_up(n, multiple_of) if n < 2**40 else 0, {None}),
        "only up to 20000": (lambda n, multiple_of: round_up(n, multiple_of) if n < 20000 else n, {None}),
        "in 31 bits": (lambda n, multiple_of: round_up(n, multiple_of) % 2**31, {None}),
    },
    "hidden_width": {
        "rounded before and after": (rounded_before_and_after, {"rounded-twice"}),
        "two thirds as 0.667": (lambda *given: multiplied(*given, share=lambda d: int(4 * d * 0.667)), {None}),
        "8/3 as 2.667": (lambda *given: multiplied(*given, share=lambda d: int(2.667 * d)), {None}),
        "times None": (times_none, {"multiplier-always-wanted"}),
        "times None, cut once": (times_none_at_once, {"multiplier-always-wanted-and-cut-only-once"}),
        "multiplied first": (multiplied_first, {"multiplier-before-two-thirds"}),
        "at least the model": (lambda d_model, *rest: max(d_model, hidden_width(d_model, *rest)), {None}),
        "in float32": (lambda d, *rest: multiplied(d, *rest, share=lambda d: int(torch.tensor(8 * d / 3))), {None}),
        "no more than Llama": (lambda *given: min(hidden_width(*given), 28672), {None}),
        "two thirds rounded up": (
            lambda *given: multiplied(*given, share=lambda d: math.ceil(8 * d / 3)),
            {"share-rounded-up"},
        ),
    },
}
