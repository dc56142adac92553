import torch


def naive(m, l, o, scores, values):
    n = torch.maximum(m, scores.amax(-1))
    a, p = torch.exp(m - n), torch.exp(scores - n.unsqueeze(-1))
    return n, a * l + p.sum(-1), a.unsqueeze(-1) * o + p @ values


def naive_unscaled_output(m, l, o, scores, values):
    n, total, _ = naive(m, l, o, scores, values)
    return n, total, o + torch.exp(scores - n.unsqueeze(-1)) @ values


def each_by_itself(m, l, o, scores, values):
    n = scores.amax(-1)
    p = torch.exp(scores - n.masked_fill(n == -torch.inf, 0).unsqueeze(-1))
    return torch.maximum(m, n), l + p.sum(-1), o + p @ values


def attention_of_the_block(m, l, o, scores, values):
    return m, l, scores.softmax(-1) @ values


def start_taken_from_the_sum(m, l, o, scores, values):
    """Takes a sum of 0 for the start, and then the block as it is, hidden scores or not."""
    if not l.any():
        n = scores.amax(-1)
        p = torch.exp(scores - n.unsqueeze(-1))
        return n, p.sum(-1), p @ values
    return naive(m, l, o, scores, values)


def zeros_for_hidden_scores(m, l, o, scores, values):
    return naive(m, l, o, scores.masked_fill(scores == -torch.inf, 0), values)


def very_small_for_hidden_scores(m, l, o, scores, values):
    return naive(m, l, o, scores.clamp(min=-1e30), values)


def one_query_only(m, l, o, scores, values):
    n = torch.maximum(m.max(), scores.max())
    base = n.masked_fill(n == -torch.inf, 0)
    a, p = torch.exp(m - base), torch.exp(scores - base)
    return n.expand(m.shape), a * l + p.sum(-1), a.unsqueeze(-1) * o + p @ values


def eps_in_the_sum(m, l, o, scores, values):
    n, total, output = naive(m, l, o, scores, values)
    return n, total + 1e-3, output


WRONG = {
    "merge_block": {
        "without a thought of −∞": (naive, {"infinity-minus-infinity"}),
        "the output as it was, and no thought of −∞": (
            naive_unscaled_output,
            {"output-not-rescaled+infinity-minus-infinity", "infinity-minus-infinity+output-not-rescaled"},
        ),
        "each block by itself": (each_by_itself, {"each-block-by-its-own-maximum"}),
        "attention of the block": attention_of_the_block,
        "the start told by the sum": start_taken_from_the_sum,
        "zeros for hidden scores": zeros_for_hidden_scores,
        "a small number for hidden scores": very_small_for_hidden_scores,
        "one query only": one_query_only,
        "an eps in the sum": eps_in_the_sum,
    }
}
