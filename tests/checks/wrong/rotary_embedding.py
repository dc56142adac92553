import torch

from blocklab.positional_encoding import rotary_embedding


def turned_by(x, angles):
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def angles_of(positions, d, base):
    return positions[:, None] * base ** (-torch.arange(0, d, 2).double() / d)


def of_a_table(rows):
    def rotate(x, positions, base=10000.0):
        return turned_by(x, angles_of(torch.arange(rows), x.shape[-1], base)[positions]).to(x.dtype)

    return rotate


def at(change):
    return lambda x, positions, base=10000.0: rotary_embedding(x, change(positions), base)


def remembered(key):
    seen = {}

    def rotate(x, positions, base=10000.0):
        place = key(x, positions, base)
        if place not in seen:
            seen[place] = angles_of(positions, x.shape[-1], base)
        return turned_by(x, seen[place]).to(x.dtype)

    return rotate


def axis_of_that_length(x, positions, base=10000.0):
    if x.dim() == 4 and x.shape[1] == len(positions):
        return rotary_embedding(x.transpose(1, 2), positions, base).transpose(1, 2)
    return rotary_embedding(x, positions, base)


def in_mixed_types(x, positions, base=10000.0):
    """With float16 it gives float32."""
    return turned_by(x, positions[:, None] * base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1]))


def one_with_one_in_mixed_types(x, positions, base=10000.0):
    return turned_by(x, positions * base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1]))


def minus_twice(x, positions, base=10000.0):
    angles = angles_of(positions, x.shape[-1], base)
    a, b = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([a * cos - b * sin, b * cos - a * sin], -1).flatten(-2).to(x.dtype)


def halves(join):
    """Features i and i + d/2 as a pair, angles in float32 and no thought of the type."""

    def rotate(x, positions, base=10000.0):
        angles = positions[:, None] * base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
        a, b = x.chunk(2, -1)
        return join([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()])

    return rotate


def by_angles(angles):
    """The right rotation, by angles of its own."""

    def rotate(x, positions, base=10000.0):
        return turned_by(x, angles(positions, x.shape[-1], base)).to(x.dtype)

    return rotate


def joined(join):
    """The right numbers, put together in another way."""

    def rotate(x, positions, base=10000.0):
        angles = angles_of(positions, x.shape[-1], base)
        a, b = x[..., 0::2], x[..., 1::2]
        return join(a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()).to(x.dtype)

    return rotate


def second_taken_for_the_first(x, positions, base=10000.0):
    angles = angles_of(positions, x.shape[-1], base)
    b, a = x[..., 0::2], x[..., 1::2]
    return joined_in_turns(a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()).to(x.dtype)


def joined_in_turns(a, b):
    return torch.stack([a, b], -1).flatten(-2)


def rotate_half_of_every_second(x, positions, base=10000.0):
    """Published: the pairs are neighbours, and `cat` puts them back in halves."""
    angles = angles_of(positions, x.shape[-1], base).repeat_interleave(2, -1)
    partner = torch.cat([-x[..., 1::2], x[..., ::2]], -1)
    return (x * angles.cos() + partner * angles.sin()).to(x.dtype)


def in_the_type_of_x(x, positions, base=10000.0):
    """As in GPT-NeoX's code after `.bfloat16()`."""
    frequencies = 1.0 / base ** (torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    return turned_by(x, positions.to(x.dtype)[:, None] * frequencies)


def halves_in_the_type_of_x(x, positions, base=10000.0):
    frequencies = 1.0 / base ** (torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    angles = positions.to(x.dtype)[:, None] * frequencies
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


def of_positions_in(dtype):
    """Published, with float16."""

    def angles(positions, d, base):
        return positions.to(dtype)[:, None] * (1.0 / base ** (torch.arange(0, d, 2) / d))

    return by_angles(angles)


def of_everything_in(dtype):
    def angles(positions, d, base):
        return positions.to(dtype)[:, None] * (1.0 / base ** (torch.arange(0, d, 2, dtype=dtype) / d))

    return by_angles(angles)


def of_everything_but_the_cosine_in(dtype):
    def angles(positions, d, base):
        frequencies = (1.0 / base ** (torch.arange(0, d, 2) / d)).to(dtype)
        return torch.outer(positions.to(dtype), frequencies).float()

    return by_angles(angles)


def angles_rounded(x, positions, base=10000.0):
    return turned_by(x, angles_of(positions, x.shape[-1], base).to(x.dtype))


def positions_rounded(x, positions, base=10000.0):
    return turned_by(x, angles_of(positions.to(x.dtype).double(), x.shape[-1], base)).to(x.dtype)


def angles_in_bfloat16_only(x, positions, base=10000.0):
    return positions_rounded(x, positions, base) if x.dtype == torch.bfloat16 else rotary_embedding(x, positions, base)


def nothing_in_float16(x, positions, base=10000.0):
    y = rotary_embedding(x, positions, base)
    return y * 0 if x.dtype == torch.float16 else y


WRONG = {
    "rotary_embedding": {
        "a table of 512": (of_a_table(512), {"raises"}),
        "a table of 2048": (of_a_table(2048), {"raises"}),
        "a table of 8192": (of_a_table(8192), {"raises"}),
        "limited": (at(lambda positions: positions.clamp(max=2047)), {None}),
        "begins again": (at(lambda positions: positions % 4096), {None}),
        "sorted": (at(lambda positions: positions.sort().values), {None}),
        "counted from the first": (at(lambda positions: torch.arange(len(positions)) + positions[:1].sum()), {None}),
        "a cache without the base": (remembered(lambda x, k, base: (tuple(k.tolist()), x.shape[-1])), {None}),
        "a cache of lengths": (remembered(lambda x, k, base: (len(k), x.shape[-1], base)), {None}),
        "an axis of that length": (axis_of_that_length, {None}),
        "a minus in both features": (minus_twice, {"plus-missing"}),
        "in mixed types": (in_mixed_types, {"type-of-the-angles"}),
        "halves in mixed types": (halves(lambda ab: torch.cat(ab, -1)), {"pairs-of-halves+type-of-the-angles"}),
        "halves in turns": (
            halves(lambda ab: torch.stack(ab, -1).flatten(-2)),
            {"halves-put-between+type-of-the-angles"},
        ),
        "one with one": (
            by_angles(lambda k, d, base: k * base ** (-torch.arange(0, d, 2).double() / d)),
            {"one-with-one"},
        ),
        "one with one, in mixed types": (one_with_one_in_mixed_types, {"one-with-one-and-type"}),
        "not joined": (joined(lambda a, b: torch.stack([a, b], -1)), {"pairs-not-joined"}),
        "from degrees": (by_angles(lambda k, d, base: angles_of(torch.deg2rad(k.double()), d, base)), {"in-degrees"}),
        "exponents from two": (
            by_angles(lambda k, d, base: k[:, None] * base ** (-torch.arange(2, d + 2, 2).double() / d)),
            {"counted-from-one"},
        ),
        "divided by //": (
            by_angles(lambda k, d, base: k[:, None] * base ** (-torch.arange(0, d, 2).double() // d)),
            {"exponent-rounded"},
        ),
        "stacked along another axis": (joined(lambda a, b: torch.stack([a, b], -2).flatten(-2)), {"joined-in-halves"}),
        "the second one first": (joined(lambda a, b: joined_in_turns(b, a)), {"exchanged-behind"}),
        "b, a": (second_taken_for_the_first, {"exchanged-before"}),
        "rotate_half of every second": (rotate_half_of_every_second, {"partners-joined-in-halves"}),
        "nothing in float16": (nothing_in_float16, {None}),
        "in the type of x": (in_the_type_of_x, {"angles-in-16-bits"}),
        "halves, in the type of x": (halves_in_the_type_of_x, {"pairs-of-halves+angles-in-16-bits"}),
        "angles rounded to the type of x": (angles_rounded, {"angles-in-16-bits"}),
        "positions rounded to the type of x": (positions_rounded, {"angles-in-16-bits"}),
        "rounded in bfloat16 alone": (angles_in_bfloat16_only, {None}),
        **{
            f"{what} in {dtype}": (of(dtype), {"angles-in-16-bits"})
            for what, of in (
                ("positions", of_positions_in),
                ("everything", of_everything_in),
                ("everything but the cosine", of_everything_but_the_cosine_in),
            )
            for dtype in (torch.float16, torch.bfloat16)
        },
        "squeezed": (lambda *given: rotary_embedding(*given).squeeze(), {"wrong-shape"}),
    },
}
