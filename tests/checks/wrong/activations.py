import math

import torch
import torch.nn.functional as F


def clipped(x, beta=1.0, *, at):
    return x * torch.sigmoid((beta * x).clamp(-at, at))


def swish(x, beta=1.0):
    return x * torch.sigmoid(beta * x)


def halves_by_three_axes(x, dim=-1):
    half = x.shape[dim] // 2
    if dim in (-1, x.dim() - 1):
        return x[..., :half] * x[..., half:].sigmoid()
    return x[:half] * x[half:].sigmoid() if dim == 0 else x[:, :half] * x[:, half:].sigmoid()


def gate_clipped(x, dim=-1, *, at):
    value, gate = x.chunk(2, dim)
    return value * gate.clamp(-at, at).sigmoid()


WRONG = {
    "relu": {
        "the input itself": (lambda x: x, {"input-returned"}),
        "in place": (lambda x: x.relu_(), {"mutates-input"}),
        "what passes alone": (lambda x: x[x > 0], {"wrong-shape"}),
        "the largest of all": (lambda x: x.max().clamp(min=0), {"wrong-shape"}),
        "Python's max": (lambda x: max(0, x), {"max-of-python"}),
        "torch's max along an axis": (lambda x: torch.max(x, dim=0), {"largest-along-an-axis"}),
        "torch's maximum of a number": (lambda x: torch.maximum(x, 0), {"maximum-of-a-number"}),
        "a function": (lambda x: torch.relu, {"wrong-type"}),
        "a Module": (lambda x: torch.nn.ReLU(x), {"wrong-type"}),
        "clamped at 0 from above": (lambda x: x.clamp(max=0), {"negative-kept"}),
        "capped at 20": (lambda x: x.clamp(0, 20), {None}),
        "swish": (F.silu, {None}),
        "cut off from its gradient": (lambda x: F.relu(x.detach()), {"not-differentiable"}),
    },
    "gelu": {
        "no tail": (lambda x: torch.where(x < -3, 0, F.gelu(x)), {None}),
        "no tail below -4": (lambda x: F.gelu(x).masked_fill(x < -4, 0), {None}),
        "straight above 3": (lambda x: torch.where(x > 3, x, F.gelu(x)), {None}),
        "straight above 4": (lambda x: torch.where(x > 4, x, F.gelu(x)), {None}),
        "ReLU far from 0": (lambda x: torch.where(x.abs() > 3, F.relu(x), F.gelu(x)), {None}),
        "limited": (lambda x: F.gelu(x.clamp(-3, 3)), {None}),
        "argument limited": (lambda x: x * (1 + torch.erf((x / 2**0.5).clamp(-2.5, 2.5))) / 2, {None}),
        "one bracket less": (lambda x: x * (1 + torch.erf(x / 2**0.5) / 2), {"curve-alone-halved"}),
        "two brackets less": (lambda x: x * 1 + torch.erf(x / math.sqrt(2)) / 2, {"x-added-to-half-a-curve"}),
        "root behind erf": (lambda x: 0.5 * x * (1 + torch.erf(x) / math.sqrt(2)), {"root-divides-erf"}),
        "rounded": (lambda x: F.gelu(x).round(decimals=4), {None}),
    },
    "swish": {
        "Python's exp": (lambda x, beta=1.0: x / (1 + math.exp(-(beta * x))), {"exp-of-python"}),
        "clipped at 6": (lambda *given: clipped(*given, at=6), {None}),
        "clipped at 10": (lambda *given: clipped(*given, at=10), {None}),
        "x clipped at 20": (lambda x, beta=1.0: x * torch.sigmoid(beta * x.clamp(-20, 20)), {None}),
        "straight above 20": (lambda x, beta=1.0: torch.where(x > 20, x, swish(x, beta)), {None}),
        "nothing below -20": (lambda x, beta=1.0: swish(x, beta).masked_fill(x < -20, 0), {None}),
        "no tail": (lambda x, beta=1.0: swish(x, beta).masked_fill(x < -6, 0), {None}),
        "straight above 6": (lambda x, beta=1.0: torch.where(x > 6, x, swish(x, beta)), {None}),
        "beta of 0 is none": (lambda x, beta=1.0: swish(x, beta or 1.0), {None}),
        "nothing for beta of 0": (lambda x, beta=1.0: swish(x, beta) if beta != 0 else 0 * x, {None}),
        "divided by nearly 0": (lambda x, beta=1.0: F.silu(beta * x) / (beta + 1e-8), {None}),
        "beta without its sign": (lambda x, beta=1.0: swish(x, abs(beta)), {None}),
        "beta up to 3": (lambda x, beta=1.0: swish(x, min(beta, 3.0)), {None}),
        "beta to one digit": (lambda x, beta=1.0: swish(x, round(float(beta), 1)), {None}),
        "only a number for beta": (lambda x, beta=1.0: swish(x, beta if isinstance(beta, float) else 1.0), {None}),
    },
    "glu": {
        "clipped at 4": (lambda *given: gate_clipped(*given, at=4), {None}),
        "clipped at 8": (lambda *given: gate_clipped(*given, at=8), {None}),
        "three axes": (halves_by_three_axes, {"wrong-shape"}),
        "always the last from the end": (lambda x, dim=-1: F.glu(x, max(dim, -1)), {"wrong-shape"}),
        "the last, in two parts": (
            lambda x, dim=-1: math.prod((x.tensor_split(2, -1)[0], x.tensor_split(2, -1)[1].sigmoid())),
            {"dim-ignored-by-slices"},
        ),
        "rows of a square": (lambda x, dim=-1: F.glu(x, 0 if x.shape[0] == x.shape[-1] else dim), {"wrong-shape"}),
        "closed below -5": (lambda x, dim=-1: F.glu(x, dim) * (x.chunk(2, dim)[1] > -5), {None}),
        "half of the input": (lambda x, dim=-1: x.chunk(2, dim)[0], {"value-alone"}),
        "alternating": (lambda x, dim=-1: x[..., ::2] * x[..., 1::2].sigmoid(), {"every-other-of-the-last-axis"}),
        "gpt-oss": (lambda x, dim=-1: x[..., ::2].sigmoid() * x[..., 1::2], {"gates-alternate-in-the-last-axis"}),
    },
}
