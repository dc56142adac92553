"""Activations, gated units and the two feed-forward layers built from them; each acts on one token at a time.

Axis letters:  * any axes,  d feature,  h hidden feature.  Which half is the gate differs: torch's `glu` takes the
second half, the gated units of the papers name the gate first. Arithmetic is float32 or wider and rounded once: a
result has the dtype of its input, or the wider one of two.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from blocklab._validation import (
    activate,
    check_activation,
    check_choice,
    check_flag,
    check_float,
    check_integer,
    check_matches_weights,
    check_number,
    check_range,
    check_shape,
    check_tensor,
    short_repr,
    upcast,
)

Activation = Callable[[Tensor], Tensor]


def relu(x: Tensor) -> Tensor:
    """Replace negative numbers by 0.

        relu(x) = max(0, x)

    x: any shape, integers too, as in torch. The derivative at 0 is 0, as in torch.
    Raises TypeError for anything but a tensor of real numbers. Source: Nair and Hinton 2010; torch.nn.functional.relu

    >>> relu(torch.tensor([-2.0, 0.0, 3.0]))
    tensor([0., 0., 3.])
    """
    check_tensor("relu", "x", x, also_jagged=True)
    if x.is_complex() or x.dtype == torch.bool:
        raise TypeError(f"relu: expected x to have an integer or floating point dtype, got {x.dtype}")
    return torch.threshold(x, 0, 0)  # x where it is above 0, else 0; NaN stays NaN


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """Multiply every number by the probability that a standard normal number is below it.

        gelu(x) = x Phi(x),   Phi(x) = (1 + erf(x / sqrt(2))) / 2 = erfc(-x / sqrt(2)) / 2

    approximate="tanh":  x/2 (1 + tanh(u)) = x sigmoid(2u),   u = sqrt(2/pi) (x + 0.044715 x**3),   at most 4.8e-4 off.

    x: any shape. Computed in the right-hand forms, which stay accurate for large negative x, where the left-hand ones
    cancel. Raises TypeError for anything but a float tensor, ValueError for another approximate.
    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415

    >>> gelu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    check_float("gelu", also_jagged=True, x=x)
    check_choice("gelu", "approximate", approximate, "none", "tanh")
    wide = upcast(x)
    if approximate == "none":
        return (wide * (torch.erfc(wide * -math.sqrt(1 / 2)) / 2)).to(x.dtype)
    u = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
    return (wide * torch.sigmoid(2 * u)).to(x.dtype)


def silu(x: Tensor) -> Tensor:
    """Multiply every number by its sigmoid; the same as `swish` with beta 1.

        silu(x) = x sigmoid(x)

    x: any shape, complex too, as in torch. The minimum is -0.278 at x = -1.278.
    Raises TypeError for anything but a float tensor.
    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415; Elfwing et al. 2017, arXiv:1702.03118

    >>> silu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """
    check_float("silu", also_complex=True, also_jagged=True, x=x)
    wide = upcast(x)
    return (wide * torch.sigmoid(wide)).to(x.dtype)


def swish(x: Tensor, beta: float | Tensor = 1.0) -> Tensor:
    """Multiply every number by its sigmoid, made beta times as steep.

        swish(x) = x sigmoid(beta x);   beta = 0 gives x / 2,   beta towards infinity gives relu(x)

    x: any shape; beta: a number, or a scalar tensor () when it is learned, whose value is not checked. The minimum is
    -0.278 / beta, which is also the largest distance from relu.
    Raises ValueError for a beta that is not finite or has axes, TypeError for anything but float tensors and a number.
    Source: Ramachandran, Zoph and Le 2017, arXiv:1710.05941

    >>> swish(torch.tensor([-1.0, 0.0, 1.0]), beta=2.0)
    tensor([-0.1192,  0.0000,  0.8808])
    """
    check_float("swish", also_jagged=True, x=x)
    if isinstance(beta, Tensor):
        check_float("swish", beta=beta)
        check_shape("swish", (), beta=beta)
    else:
        beta = check_number("swish", "beta", beta)
        if not -math.inf < beta < math.inf:
            raise ValueError(f"swish: expected beta to be finite, got {beta}")
        steepest = torch.finfo(torch.promote_types(x.dtype, torch.float32)).max  # already relu; inf gives NaN
        beta = max(-steepest, min(beta, steepest))
    wide = upcast(x)
    return (wide * torch.sigmoid(beta * wide)).to(x.dtype)


def glu(x: Tensor, dim: int = -1) -> Tensor:
    """Let the **second** half of an axis decide how much of the first half passes.

        glu([a, b]) = a * sigmoid(b)

    x: any shape whose axis dim is even; in the result that axis is half as long. Shazeer's GLU has the sigmoid on the
    first half: gated_unit(a, b, torch.sigmoid).
    Raises ValueError for an odd or missing axis, TypeError for anything but a float tensor and an integer.
    Source: Dauphin et al. 2016, arXiv:1612.08083; torch.nn.functional.glu

    >>> glu(torch.tensor([2.0, 4.0, 0.0, 9.0]))
    tensor([1.0000, 3.9995])
    """
    check_float("glu", x=x)
    dim = check_integer("glu", "dim", dim)
    if not -x.dim() <= dim < x.dim():
        raise ValueError(f"glu: expected dim to be an axis of x, got {short_repr(dim)} for x of shape {tuple(x.shape)}")
    if x.shape[dim] % 2:
        raise ValueError(f"glu: expected axis {dim} of x to be even, got x of shape {tuple(x.shape)}")
    value, gate = x.tensor_split(2, dim)
    return gated_unit(gate, value, torch.sigmoid)


def gated_unit(gate: Tensor, value: Tensor, activation: str | Activation) -> Tensor:
    """Multiply the value elementwise by the activated gate.

        activation(gate) * value

    torch.sigmoid gives GLU, relu ReGLU, gelu GEGLU, silu SwiGLU, and lambda gate: gate the bilinear unit.

    gate, value: the same shape. activation: a name of `ACTIVATIONS` or a function, which gets the gate in float32 or
    wider.
    Raises ValueError if the shapes differ, which would broadcast silently, or the name is not known, TypeError for
    anything but float tensors and an activation. Source: Shazeer 2020, arXiv:2002.05202

    >>> gated_unit(torch.tensor([-1.0, 2.0]), torch.tensor([10.0, 10.0]), "relu")
    tensor([ 0., 20.])
    """
    return _gated_unit("gated_unit", gate, value, activation)


def _gated_unit(function: str, gate: Tensor, value: Tensor, activation: str | Activation) -> Tensor:
    check_float(function, also_jagged=True, gate=gate, value=value)
    check_shape(function, gate.shape, value=value)
    activation = check_activation(function, activation, ACTIVATIONS)
    wide = upcast(gate)
    if wide is gate and activation not in ACTIVATIONS.values():
        wide = gate.clone()  # it may write in place, as nn.ReLU(inplace=True) does
    opened = activate(function, activation, gate=wide)
    return (opened * upcast(value)).to(torch.promote_types(gate.dtype, value.dtype))


def swiglu(gate: Tensor, value: Tensor) -> Tensor:
    """The gated unit of most language models since 2023: the value times the `silu` of the gate.

        silu(gate) * value

    gate, value: the same shape. Raises the errors of `gated_unit`. Source: Shazeer 2020, arXiv:2002.05202

    >>> swiglu(torch.tensor([-1.0, 1.0]), torch.tensor([10.0, 10.0]))
    tensor([-2.6894,  7.3106])
    """
    return _gated_unit("swiglu", gate, value, silu)


ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu, "sigmoid": torch.sigmoid}


# The width of the hidden layer

WIDEST = 2**31  # far above every model, and small enough that 8 d / 3 is exact to the last digit in float64


def round_up(n: int, multiple_of: int) -> int:
    """The smallest multiple that is not below n.

        multiple_of * ceil(n / multiple_of) = multiple_of * ((n + multiple_of - 1) // multiple_of)

    Raises ValueError for a multiple_of below 1, TypeError for anything but integers.
    Source: meta-llama/llama, llama/model.py

    >>> round_up(100, 64)
    128
    """
    n = check_integer("round_up", "n", n)
    multiple_of = check_integer("round_up", "multiple_of", multiple_of, 1)
    return multiple_of * ((n + multiple_of - 1) // multiple_of)


def hidden_width(d_model: int, multiple_of: int = 256, multiplier: float | None = None) -> int:
    """Meta's rule for the hidden width of a gated feed-forward network.

        int(2 * (4 * d_model) / 3)   ->   int(multiplier * that), if there is one   ->   rounded up to multiple_of

    Three matrices of 8/3 d_model have as many parameters as two of 4 d_model. int truncates, at both steps.
    Many models do not follow the rule: see data/model_widths.csv.
    Raises ValueError for a d_model or multiple_of below 1 and a multiplier with which no width is left, TypeError for
    anything but integers and a number. Source: meta-llama/llama, llama/model.py (the multiplier from Llama 2 on)

    >>> hidden_width(4096)
    11008
    """
    d_model = check_integer("hidden_width", "d_model", d_model, 1, WIDEST)
    multiple_of = check_integer("hidden_width", "multiple_of", multiple_of, 1)
    hidden = int(2 * (4 * d_model) / 3)
    if multiplier is not None:
        multiplier = check_range("hidden_width", "multiplier", multiplier, 0, WIDEST)
        hidden = int(multiplier * hidden)
        if hidden == 0:
            raise ValueError(f"hidden_width: expected a larger multiplier for d_model {d_model}, got {multiplier}")
    return round_up(hidden, multiple_of)


def parameter_count(d_model: int, hidden: int, gated: bool, bias: bool) -> int:
    """The number of parameters of a feed-forward network.

        two matrices:  2 d h  and, with bias,  h + d;     gated, three matrices:  3 d h  and, with bias,  2 h + d

    Raises ValueError for a width below 1, TypeError for one that is not an integer and a flag that is not a bool.
    Source: `FeedForward` and `SwiGLU`

    >>> parameter_count(64, 256, gated=False, bias=True)
    33088
    """
    d, h = _check_widths("parameter_count", d_model, hidden)
    check_flag("parameter_count", gated=gated, bias=bias)
    into = 2 if gated else 1  # matrices from d to h; one more leads back
    return (into + 1) * d * h + (into * h + d if bias else 0)


def _check_widths(function: str, d_model: int, hidden: int) -> tuple[int, int]:
    return check_integer(function, "d_model", d_model, 1, WIDEST), check_integer(function, "hidden", hidden, 1, WIDEST)


class FeedForward(nn.Module):
    """Two linear layers with an activation between them, for every token by itself.

        linear2(dropout(activation(linear1(x))))

    x and result: (*, d_model), between the layers (*, hidden). activation: a name of `ACTIVATIONS` or a function.
    Dropout is where torch.nn.TransformerEncoderLayer has it, and state_dict keys are those of that layer.
    Raises ValueError for a width below 1, a dropout outside [0, 1], an x of another width and an activation that
    changes its shape, TypeError for an x of another type than the weights and for a class as activation.
    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.3

    >>> FeedForward(4, 16, "gelu")(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(
        self,
        d_model: int,
        hidden: int,
        activation: str | Activation = "relu",
        dropout: float = 0.0,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.d_model, self.hidden = d_model, hidden = _check_widths("FeedForward", d_model, hidden)
        dropout = check_range("FeedForward", "dropout", dropout, 0, 1)
        check_flag("FeedForward", bias=bias)
        self.linear1 = nn.Linear(d_model, hidden, bias=bias, device=device, dtype=dtype)
        self.linear2 = nn.Linear(hidden, d_model, bias=bias, device=device, dtype=dtype)
        self.activation = check_activation("FeedForward", activation, ACTIVATIONS)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        _check_features("FeedForward", x, self.d_model, self.linear1)
        return self.linear2(self.dropout(activate("FeedForward", self.activation, hidden=self.linear1(x))))

    def extra_repr(self) -> str:
        return f"{self.d_model}, {self.hidden}, activation={getattr(self.activation, '__name__', self.activation)}"


class SwiGLU(nn.Module):
    """The feed-forward network of Llama-like models: a `swiglu` between three linear layers, without bias.

        w2(silu(w1(x)) * w3(x))

    These are Meta's names; Hugging Face calls w1 gate_proj, w3 up_proj and w2 down_proj.
    x and result: (*, d_model), between the layers (*, hidden). `hidden_width` computes the usual hidden.
    Raises ValueError for a width below 1 and an x of another width, TypeError for one of another type than the weights.
    Source: Shazeer 2020, arXiv:2002.05202; meta-llama/llama, llama/model.py

    >>> SwiGLU(4, 16)(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    swiglu = staticmethod(swiglu)

    def __init__(
        self,
        d_model: int,
        hidden: int,
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.d_model, self.hidden = d_model, hidden = _check_widths("SwiGLU", d_model, hidden)
        check_flag("SwiGLU", bias=bias)
        self.w1 = nn.Linear(d_model, hidden, bias=bias, device=device, dtype=dtype)
        self.w2 = nn.Linear(hidden, d_model, bias=bias, device=device, dtype=dtype)
        self.w3 = nn.Linear(d_model, hidden, bias=bias, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        _check_features("SwiGLU", x, self.d_model, self.w1)
        return self.w2(self.swiglu(self.w1(x), self.w3(x)))

    def extra_repr(self) -> str:
        return f"{self.d_model}, {self.hidden}"


def _check_features(function: str, x: Tensor, d_model: int, layer: nn.Module) -> None:
    check_float(function, also_jagged=True, x=x)
    if x.shape[-1:] != (d_model,):
        raise ValueError(f"{function}: expected x to have shape (*, {d_model}), got {tuple(x.shape)}")
    check_matches_weights(function, layer, x=x)
