import torch


def right(weight, num_heads):
    return weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def other_view(weight, num_heads):
    """Halves and pairs in each other's place, the commonest slip in the one line of Hugging Face."""
    dim1, dim2 = weight.shape
    return weight.reshape(num_heads, 2, dim1 // num_heads // 2, dim2).transpose(1, 2).reshape(dim1, dim2)


def heads_and_members(weight, num_heads):
    return weight.unflatten(0, (num_heads, -1, 2)).transpose(0, 2).flatten(0, 2)


def fixed_order(weight, num_heads):
    heads = weight.unflatten(0, (num_heads, -1))
    return heads[:, [0, 2, 4, 6, 1, 3, 5, 7]].flatten(0, 1)


def sorted_rows(weight, num_heads):
    return weight.sort(0).values


WRONG = {
    "permute_rows": {
        "the other view": (other_view, {"other-way-round"}),
        "all rows at once": (lambda w, h: torch.cat([w[0::2], w[1::2]]), {"across-heads"}),
        "the columns of each head": (
            lambda w, h: torch.cat([torch.cat([b[:, ::2], b[:, 1::2]], 1) for b in w.chunk(h, 1)], 1),
            {"columns-permuted"},
        ),
        "the transposed weight": (lambda w, h: right(w.T, h).T, {"columns-permuted"}),
        "left alone": (lambda w, h: w, {"not-permuted"}),
        "heads in the place of members": (heads_and_members, {"heads-and-members-exchanged"}),
        "eight rows of all": (lambda w, h: w[[0, 2, 4, 6, 1, 3, 5, 7], :], {"order-of-eight-rows"}),
        "the last two axes": (
            lambda w, h: w.unflatten(0, (h, -1, 2)).transpose(-1, -2).reshape(w.shape),
            {"members-and-columns-exchanged"},
        ),
        "the first two axes": (
            lambda w, h: w.unflatten(0, (h, -1, 2)).transpose(0, 1).reshape(w.shape),
            {"heads-and-pairs-exchanged"},
        ),
        "eight rows only": (fixed_order, {"raises"}),
        "heads of 64": (lambda w, h: right(w, max(1, len(w) // 64)), {None, "across-heads"}),
        "sorted": (sorted_rows, {None}),
        "up to eight heads": (lambda w, h: right(w, h) if h < 9 else w, {None}),
        "columns too": (lambda w, h: right(right(w, h).T, 1).T if w.shape[1] % 2 == 0 else right(w, h), {None}),
        "in float32": (lambda w, h: right(w, h).float(), {"wrong-dtype"}),
    },
}
