import math

import torch


def as_in_the_lesson(m, l, o, scores, values):
    n = torch.maximum(m, scores.amax(-1))
    base = n.masked_fill(n == -torch.inf, 0)
    a = torch.exp(m - base)
    p = torch.exp(scores - base.unsqueeze(-1))
    return n, a * l + p.sum(-1), a.unsqueeze(-1) * o + p @ values


def one_softmax(m, l, o, scores, values):
    """What came before stands as one more key, whose score is its log-sum-exp and whose value is its mean."""
    before = torch.where(l > 0, m + l.log(), -math.inf).unsqueeze(-1)
    mean = torch.where(l.unsqueeze(-1) > 0, o / l.unsqueeze(-1), 0.0).unsqueeze(-2)
    everything = torch.cat([before, scores], -1)
    n = torch.cat([m.unsqueeze(-1), scores], -1).amax(-1)
    total = torch.where(n == -math.inf, 0.0, (everything.logsumexp(-1) - n).exp())
    weights = everything.softmax(-1).nan_to_num()
    mixed = (weights[..., :1].unsqueeze(-1) * mean).squeeze(-2) + weights[..., 1:] @ values
    return n, total, mixed * total.unsqueeze(-1)


def nan_replaced(m, l, o, scores, values):
    n = torch.max(m, scores.max(-1).values)
    a, p = (m - n).exp().nan_to_num(), (scores - n[..., None]).exp().nan_to_num()
    return n, a * l + p.sum(-1), a[..., None] * o + torch.einsum("...qk,...kd->...qd", p, values)


def with_where(m, l, o, scores, values):
    m, l = m.unsqueeze(-1), l.unsqueeze(-1)
    n = torch.maximum(m, scores.amax(-1, keepdim=True))
    a = torch.where(m == -math.inf, 0.0, torch.exp(m - n))
    p = torch.where(scores == -math.inf, 0.0, torch.exp(scores - n))
    return n.squeeze(-1), (a * l + p.sum(-1, keepdim=True)).squeeze(-1), a * o + p @ values


def two_states_merged(m, l, o, scores, values):
    """The block by itself first, then two states, as parts of a text on several processors are merged."""
    own = scores.amax(-1)
    powers = (scores - own.nan_to_num(neginf=0.0).unsqueeze(-1)).exp()
    own_sum, own_output = powers.sum(-1), powers @ values
    n = torch.maximum(m, own)
    old, new = ((x - n).exp().nan_to_num() for x in (m, own))
    return n, old * l + new * own_sum, old.unsqueeze(-1) * o + new.unsqueeze(-1) * own_output


def in_float64(m, l, o, scores, values):
    doubles = (x.double() for x in (m, l, o, scores, values))
    return tuple(x.to(m.dtype) for x in as_in_the_lesson(*doubles))


def by_powers_of_two(m, l, o, scores, values):
    n = torch.maximum(m, scores.amax(-1))
    base = torch.where(n.isinf(), torch.zeros_like(n), n)
    a, p = (torch.exp2((x - y) / math.log(2)) for x, y in ((m, base), (scores, base[..., None])))
    return n, a * l + p.sum(-1), a[..., None] * o + p @ values


def sum_as_one_more_value(m, l, o, scores, values):
    ones = values.new_ones(*values.shape[:-1], 1)
    state = torch.cat([o, l.unsqueeze(-1)], -1)
    n = torch.maximum(m, scores.amax(-1))
    base = n.clamp(min=torch.finfo(n.dtype).min).unsqueeze(-1)
    state = (m.unsqueeze(-1) - base).exp() * state + (scores - base).exp() @ torch.cat([values, ones], -1)
    return n, state[..., -1], state[..., :-1]


def key_by_key(m, l, o, scores, values):
    for j in range(scores.shape[-1]):
        m, l, o = as_in_the_lesson(m, l, o, scores[..., j : j + 1], values[..., j : j + 1, :])
    return m, l, o


RIGHT = {
    "merge_block": {
        "as in the lesson": as_in_the_lesson,
        "the past as one more key": one_softmax,
        "NaN replaced": nan_replaced,
        "with where": with_where,
        "two states merged": two_states_merged,
        "in float64": in_float64,
        "by powers of two": by_powers_of_two,
        "the sum as one more value": sum_as_one_more_value,
        "as a list": lambda *given: list(as_in_the_lesson(*given)),
        "compiled": torch.compile(as_in_the_lesson, backend="eager"),
    }
}
ADVISED = {"merge_block": {"key by key": (key_by_key, ("slow",))}}
