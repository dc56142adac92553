import torch
import torch.nn.functional as F

import blocklab.normalization


def by_the_formula(x, axes, eps=1e-5):
    centred = x - x.mean(axes, keepdim=True)
    return centred / torch.sqrt(centred.square().mean(axes, keepdim=True) + eps)


def at_once_in_float32(x, axes, eps=1e-5):
    wide = x if x.dtype == torch.float64 else x.float()
    variance, mean = torch.var_mean(wide, axes, correction=0, keepdim=True)
    return ((wide - mean) * torch.rsqrt(variance + eps)).to(x.dtype)


def by_layer_norm(x, axes, eps=1e-5):
    """Move the axes to the end, where layer_norm wants them, and back."""
    axes = [axes] if isinstance(axes, int) else list(axes)
    end = list(range(-len(axes), 0))
    moved = x.movedim(axes, end)
    return F.layer_norm(moved, moved.shape[-len(axes) :], None, None, eps).movedim(end, axes)


def counted(x, axes, eps=1e-5):
    axes = (axes,) if isinstance(axes, int) else axes
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    y = x - x.sum(axes, keepdim=True) / count
    scale = ((y * y).sum(axes, keepdim=True) / count + eps) ** -0.5
    return y * scale


def mean_of_squares(x, axes, eps=1e-5):
    mean = x.mean(axes, keepdim=True)
    variance = (x**2).mean(axes, keepdim=True) - mean**2
    return (x - mean) / (variance + eps).sqrt()


def slice_by_slice(x, axes, eps=1e-5):
    axes = [axes] if isinstance(axes, int) else list(axes)
    end = list(range(-len(axes), 0))
    moved = x.movedim(axes, end)
    slices = moved.reshape(-1, *moved.shape[-len(axes) :])
    done = torch.stack([(s - s.mean()) / torch.sqrt(s.var(correction=0) + eps) for s in slices])
    return done.view(moved.shape).movedim(end, axes)


RIGHT = {
    "standardize": {
        "ours": blocklab.normalization.standardize,
        "at once, in float32": at_once_in_float32,
        "by layer_norm": by_layer_norm,
        "compiled": torch.compile(at_once_in_float32, backend="eager"),
        "by the formula": by_the_formula,
        "counted by hand": counted,
        "a lambda": lambda x, axes, e=1e-5: (
            (x - x.mean(axes, True)) / (x.std(axes, correction=0, keepdim=True) ** 2 + e).sqrt()
        ),
    }
}
ADVISED = {
    "standardize": {
        "mean of squares": (mean_of_squares, ("large-offset",)),
        "slice by slice": (slice_by_slice, ("slow", "empty")),
    }
}
