"""What every token goes through by itself: activations, gated units, and the two layers built from them.

Axis letters:  * any axes,  d feature,  h hidden feature.  Which half carries the gate differs: torch's `glu` takes the
second half, the gated units of the papers name the gate first.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from blocklab.arguments import (
    activate,
    shown,
    want_activation,
    want_choice,
    want_factory,
    want_flag,
    want_float,
    want_integer,
    want_like_weights,
    want_one_device,
    want_range,
    want_room,
    want_shape,
    want_tensor,
    widen,
)

Activation = Callable[[Tensor], Tensor]


def relu(x: Tensor) -> Tensor:
    """Replace negative numbers by 0.

        relu(x) = max(0, x)

    x: any shape; result: shape and dtype of x, exact. The derivative at 0 is 0, as in torch.

    Raises TypeError for anything but a tensor of real numbers; integers are welcome, as in torch.

    Source: Nair and Hinton 2010; torch.nn.functional.relu
    """
    want_tensor("relu", "x", x, also_jagged=True)
    if x.is_floating_point():
        want_float("relu", also_jagged=True, x=x)
    elif x.dtype not in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        raise TypeError(f"relu wants x of an integer (uint8 or signed) or floating point type, got {x.dtype}")
    return torch.threshold(x, 0, 0)  # x where it is above 0, else 0; NaN stays NaN


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """Weigh every number by the share of a normal distribution that lies below it.

        gelu(x) = x Phi(x),   Phi(x) = (1 + erf(x / sqrt(2))) / 2 = erfc(-x / sqrt(2)) / 2

    approximate="tanh":  x/2 (1 + tanh(u)) = x sigmoid(2u),   u = sqrt(2/pi) (x + 0.044715 x**3),   at most 4.8e-4 off.

    x: any shape; result: shape and dtype of x. The arithmetic is float32 or wider and is rounded once; the right-hand
    forms keep their digits for large negative x, where the left-hand ones lose them all.

    Raises TypeError for anything but a float tensor, ValueError for another approximate.

    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415
    """
    want_float("gelu", also_jagged=True, x=x)
    want_choice("gelu", "approximate", approximate, "none", "tanh")
    wide = widen(x)
    if approximate == "none":
        return (wide * (torch.erfc(wide * -math.sqrt(1 / 2)) / 2)).to(x.dtype)
    u = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
    return (wide * torch.sigmoid(2 * u)).to(x.dtype)


def silu(x: Tensor) -> Tensor:
    """Weigh every number by its own sigmoid; the same as `swish` with beta 1.

        silu(x) = x sigmoid(x)

    x: any shape; result: shape and dtype of x. Its minimum is -0.278 at x = -1.278.

    The arithmetic is float32 or wider and is rounded once, at the end.

    Raises TypeError for anything but a float tensor (complex ones, as in torch, too).

    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415; Elfwing et al. 2017, arXiv:1702.03118
    """
    want_float("silu", also_complex=True, also_jagged=True, x=x)
    wide = widen(x)
    return (wide * torch.sigmoid(wide)).to(x.dtype)


def swish(x: Tensor, beta: float | Tensor = 1.0) -> Tensor:
    """Weigh every number by its own sigmoid, beta times as steep.

        swish(x) = x sigmoid(beta x);   beta = 0 gives x / 2,   beta towards infinity gives relu(x)

    x: any shape, finite for these; beta: a number, or a tensor () when it is learned, whose number is not looked at;
    result: shape and dtype of x. The minimum is -0.278 / beta, and that is also how far it gets from relu.

    The arithmetic is float32 or wider and is rounded once, at the end.

    Raises ValueError for a beta that is not finite or has axes, TypeError for anything but float tensors and a number.

    Source: Ramachandran, Zoph and Le 2017, arXiv:1710.05941
    """
    want_float("swish", also_jagged=True, x=x)
    if isinstance(beta, Tensor):
        want_float("swish", beta=beta)
        want_shape("swish", (), beta=beta)
        if beta.device.type != "cpu":  # from there torch brings a single number along by itself
            want_one_device("swish", x=x, beta=beta)
    else:
        beta = want_range("swish", "beta", beta, -math.inf)
        if not -math.inf < beta < math.inf:
            raise ValueError(f"swish wants beta to be finite, got {beta}")
        steepest = torch.finfo(torch.promote_types(x.dtype, torch.float32)).max  # relu to the last bit, infinity NaN
        beta = max(-steepest, min(beta, steepest))
    wide = widen(x)
    return (wide * torch.sigmoid(beta * wide)).to(x.dtype)


def glu(x: Tensor, dim: int = -1) -> Tensor:
    """Let the **second** half of an axis decide how much of the first half passes.

        glu([a, b]) = a * sigmoid(b)

    x: any shape whose axis dim is even; result: dtype of x, and its shape but for that axis, which is half as long.
    Shazeer's GLU has the sigmoid on the first half: gated_unit(a, b, torch.sigmoid).

    The arithmetic is float32 or wider and is rounded once, at the end.

    Raises ValueError for an odd or missing axis, TypeError for anything but a float tensor and an integer.

    Source: Dauphin et al. 2016, arXiv:1612.08083; torch.nn.functional.glu
    """
    want_float("glu", x=x)
    dim = want_integer("glu", "dim", dim)
    if not -x.dim() <= dim < x.dim():
        raise ValueError(f"glu wants dim to be an axis of x, got {shown(dim)} for x of {tuple(x.shape)}")
    if x.shape[dim] % 2:
        raise ValueError(f"glu wants axis {dim} of x to be even, got x of {tuple(x.shape)}")
    value, gate = x.tensor_split(2, dim)
    return _gated_unit("glu", gate, value, torch.sigmoid)


def gated_unit(gate: Tensor, value: Tensor, activation: str | Activation) -> Tensor:
    """Multiply the value by the activated gate, number by number.

        activation(gate) * value

    torch.sigmoid gives GLU, relu ReGLU, gelu GEGLU, silu SwiGLU, and lambda gate: gate the bilinear unit.

    gate, value: the same shape, which is the result's; its dtype is the wider one. activation: a name of `ACTIVATIONS`
    or a function. It meets the gate in float32 or wider, and the product is rounded once, at the end.

    Raises ValueError if the shapes differ, which would broadcast silently, or the name is not known, TypeError for
    anything but float tensors and an activation.

    Source: Shazeer 2020, arXiv:2002.05202
    """
    return _gated_unit("gated_unit", gate, value, activation)


def _gated_unit(function: str, gate: Tensor, value: Tensor, activation: str | Activation) -> Tensor:
    want_float(function, also_jagged=True, gate=gate, value=value)
    want_shape(function, gate.shape, value=value)
    activation = want_activation(function, activation, ACTIVATIONS)
    wide = widen(gate)
    if wide is gate and activation not in ACTIVATIONS.values():
        wide = gate.clone()  # it may write in place, as nn.ReLU(inplace=True) does
    opened = activate(function, activation, gate=wide)
    return (opened * widen(value)).to(torch.promote_types(gate.dtype, value.dtype))


def swiglu(gate: Tensor, value: Tensor) -> Tensor:
    """The gated unit of most language models since 2023: the value times the `silu` of the gate.

        silu(gate) * value

    gate, value: the same shape, which is the result's; its dtype is the wider one.

    The arithmetic is float32 or wider and is rounded once, at the end.

    Raises as `gated_unit`.

    Source: Shazeer 2020, arXiv:2002.05202
    """
    return _gated_unit("swiglu", gate, value, silu)


ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu, "sigmoid": torch.sigmoid}


def activation_function(activation: str | Activation) -> Activation:
    """The activation of that name, one of `ACTIVATIONS`; a function is returned as it is.

    Raises ValueError for an unknown name, TypeError for anything but a name and a function: a class is to be called.
    """
    return want_activation("activation_function", activation, ACTIVATIONS)


# How wide the hidden layer is

WIDEST = 2**31  # far above every model, and low enough that 8 d / 3 in float64 is right to the last digit


def round_up(n: int, multiple_of: int) -> int:
    """The smallest multiple that is not below n.

        multiple_of * ceil(n / multiple_of) = multiple_of * ((n + multiple_of - 1) // multiple_of)

    Integers of any size and sign; no float is involved.

    Raises ValueError for a multiple_of below 1, TypeError for anything but integers.

    Source: meta-llama/llama, llama/model.py
    """
    n = want_integer("round_up", "n", n)
    multiple_of = want_integer("round_up", "multiple_of", multiple_of, 1)
    return multiple_of * ((n + multiple_of - 1) // multiple_of)


def hidden_width(d_model: int, multiple_of: int = 256, multiplier: float | None = None) -> int:
    """Meta's rule for the hidden width of a gated feed-forward network.

        int(2 * (4 * d_model) / 3)   ->   int(multiplier * that), if there is one   ->   rounded up to multiple_of

    Three matrices of 8/3 d_model have as many numbers as two of 4 d_model. int cuts towards 0, at both steps.
    Many models do not follow the rule: see data/model_widths.csv.

    Raises ValueError for a d_model or multiple_of below 1 and a multiplier that leaves no width, TypeError for anything
    but integers and a number.

    Source: meta-llama/llama, llama/model.py (the multiplier from Llama 2 on)
    """
    d_model = want_integer("hidden_width", "d_model", d_model, 1, WIDEST)
    multiple_of = want_integer("hidden_width", "multiple_of", multiple_of, 1)
    hidden = int(2 * (4 * d_model) / 3)
    if multiplier is not None:
        multiplier = want_range("hidden_width", "multiplier", multiplier, 0, WIDEST)
        if multiplier == 0:
            raise ValueError(f"hidden_width wants multiplier to be above 0, got {multiplier}")
        hidden = int(multiplier * hidden)
        if hidden == 0:
            raise ValueError(f"hidden_width wants multiplier to leave a width, got {multiplier} for d_model {d_model}")
    return round_up(hidden, multiple_of)


def parameter_count(d_model: int, hidden: int, gated: bool, bias: bool) -> int:
    """How many numbers a feed-forward network learns.

        two matrices:  2 d h  and, with bias,  h + d;     gated, three matrices:  3 d h  and, with bias,  2 h + d

    Raises ValueError for a width below 1, TypeError for one that is not an integer and a flag that is not a bool.

    Source: `FeedForward` and `SwiGLU`
    """
    d, h = _checked_widths("parameter_count", d_model, hidden)
    want_flag("parameter_count", gated=gated, bias=bias)
    into = 2 if gated else 1  # matrices from d to h; one leads back
    return (into + 1) * d * h + (into * h + d if bias else 0)


def _checked_widths(function: str, d_model: int, hidden: int) -> tuple[int, int]:
    return want_integer(function, "d_model", d_model, 1, WIDEST), want_integer(function, "hidden", hidden, 1, WIDEST)


class FeedForward(nn.Module):
    """Two linear layers with an activation between them, for every token by itself.

        linear2(dropout(activation(linear1(x))))

    x: (*, d_model), between the layers (*, hidden), result: (*, d_model). activation: a name of `ACTIVATIONS` or a
    function. Dropout stands where torch.nn.TransformerEncoderLayer has it, and state_dict keys are those of that layer.

    Raises ValueError for a width below 1, a dropout outside [0, 1], an x of another width and an activation that
    changes its shape, TypeError for an x of another type than the weights and for a class as activation.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.3
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
        self.d_model, self.hidden = d_model, hidden = _checked_widths("FeedForward", d_model, hidden)
        want_room("FeedForward", "d_model x hidden", d_model, hidden)
        dropout = want_range("FeedForward", "dropout", dropout, 0, 1)
        want_flag("FeedForward", bias=bias)
        want_factory("FeedForward", device, dtype)
        self.linear1 = nn.Linear(d_model, hidden, bias=bias, device=device, dtype=dtype)
        self.linear2 = nn.Linear(hidden, d_model, bias=bias, device=device, dtype=dtype)
        self.activation = want_activation("FeedForward", activation, ACTIVATIONS)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        _want_features("FeedForward", x, self.d_model, self.linear1, self.linear2)
        opened = activate("FeedForward", self.activation, hidden=self.linear1(x))
        return self.linear2(self.dropout(opened))

    def extra_repr(self) -> str:
        return f"{self.d_model}, {self.hidden}, activation={getattr(self.activation, '__name__', self.activation)}"


class SwiGLU(nn.Module):
    """The feed-forward network of Llama and its kin: a `swiglu` between three linear layers, without bias.

        w2(silu(w1(x)) * w3(x))

    w1 is the gate, w3 the way up, w2 the way down, Meta's names (Hugging Face: gate_proj, up_proj, down_proj).
    x: (*, d_model), between the layers (*, hidden), result: (*, d_model). `hidden_width` gives the usual hidden.

    Raises ValueError for a width below 1 and an x of another width, TypeError for one of another type than the weights.

    Source: Shazeer 2020, arXiv:2002.05202; meta-llama/llama, llama/model.py
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
        self.d_model, self.hidden = d_model, hidden = _checked_widths("SwiGLU", d_model, hidden)
        want_room("SwiGLU", "d_model x hidden", d_model, hidden)
        want_flag("SwiGLU", bias=bias)
        want_factory("SwiGLU", device, dtype)
        self.w1 = nn.Linear(d_model, hidden, bias=bias, device=device, dtype=dtype)
        self.w2 = nn.Linear(hidden, d_model, bias=bias, device=device, dtype=dtype)
        self.w3 = nn.Linear(d_model, hidden, bias=bias, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        _want_features("SwiGLU", x, self.d_model, self.w1, self.w3, self.w2)
        return self.w2(self.swiglu(self.w1(x), self.w3(x)))

    def extra_repr(self) -> str:
        return f"{self.d_model}, {self.hidden}"


def _want_features(function: str, x: Tensor, d_model: int, *layers: nn.Module) -> None:
    want_float(function, also_jagged=True, x=x)
    if x.shape[-1:] != (d_model,):
        raise ValueError(f"{function} wants x of shape (*, {d_model}), got {tuple(x.shape)}")
    want_like_weights(function, *layers, x=x)
