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


def skipped_if_all_hidden(m, l, o, scores, values):
    return (m, l, o) if (scores == -torch.inf).all() else naive(m, l, o, scores, values)


def skipped_if_any_has_seen_nothing(m, l, o, scores, values):
    n = torch.maximum(m, scores.amax(-1))
    return (n, l, o) if torch.isinf(n).any() else naive(m, l, o, scores, values)


def zero_by_the_block(m, l, o, scores, values):
    n = torch.maximum(m, scores.amax(-1))
    base = n.masked_fill(scores.amax(-1) == -torch.inf, 0)
    a, p = torch.exp(m - base), torch.exp(scores - base.unsqueeze(-1))
    return n, a * l + p.sum(-1), a.unsqueeze(-1) * o + p @ values


def zero_returned(m, l, o, scores, values):
    n = torch.maximum(m, scores.amax(-1))
    n = n.masked_fill(n == -torch.inf, 0)
    a, p = torch.exp(m - n), torch.exp(scores - n.unsqueeze(-1))
    return n, a * l + p.sum(-1), a.unsqueeze(-1) * o + p @ values


def clamped(m, l, o, scores, values):
    n = torch.maximum(m, scores.amax(-1)).clamp(min=-1e9)
    a, p = torch.exp(m - n), torch.exp(scores - n.unsqueeze(-1))
    return n, a * l + p.sum(-1), a.unsqueeze(-1) * o + p @ values


def the_loop_as_it_stands(m, l, o, s, v):
    n = torch.maximum(m, s.max())
    a, p = torch.exp(m - n), torch.exp(s - n)
    m, l, o = n, a * l + p.sum(), a * o + p @ v
    return m, l, o


def the_loop_with_a_guard(m, l, o, s, v):
    n = torch.maximum(m, s.max())
    base = n.masked_fill(n == -torch.inf, 0)
    a, p = torch.exp(m - base), torch.exp(s - base)
    return n, a * l + p.sum(), a * o + p @ v


def maximum_overwritten(m, l, o, scores, values):
    m = torch.maximum(m, scores.amax(-1))
    base = m.masked_fill(m == -torch.inf, 0)
    a, p = torch.exp(m - base), torch.exp(scores - base.unsqueeze(-1))
    return m, a * l + p.sum(-1), a.unsqueeze(-1) * o + p @ values


def softmax_of_the_block(m, l, o, scores, values):
    n = torch.maximum(m, scores.amax(-1))
    a, p = torch.exp(m - n.masked_fill(n == -torch.inf, 0)), scores.softmax(-1)
    return n, a * l + p.sum(-1), a.unsqueeze(-1) * o + p @ values


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
        "skipped if all is hidden": (skipped_if_all_hidden, {"skipped-only-where-all-are-hidden"}),
        "skipped if one has seen nothing": (skipped_if_any_has_seen_nothing, {"skipped-where-any-has-seen-nothing"}),
        "0 where the block is hidden": (zero_by_the_block, {"zero-where-the-block-is-hidden"}),
        "0 returned for −∞": (zero_returned, {"zero-returned-as-maximum"}),
        "−1e9 for −∞": (clamped, {"large-number-for-infinity"}),
        "the loop as it stands": (the_loop_as_it_stands, {"infinity-minus-infinity+loop-for-one-query"}),
        "the loop with a guard": (the_loop_with_a_guard, {"loop-for-one-query"}),
        "the maximum overwritten": (maximum_overwritten, {"nothing-rescaled"}),
        "softmax of the block": (softmax_of_the_block, {"softmax-of-the-block"}),
    }
}
