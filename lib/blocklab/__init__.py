"""Blocklab: the building blocks of a Transformer, written to be read and tested against torch.

`from blocklab import rms_norm` works for every function and Module listed here; its file is imported on first use.
"""

from importlib import import_module

__version__ = "0.1.0"

_KERNELS = {
    "normalization": "standardize batch_norm layer_norm group_norm instance_norm rms_norm batch_norm_loops "
    "layer_norm_loops BatchNorm LayerNorm GroupNorm RMSNorm",
    "moving_average": "ema_update ema_update_ ema_weights half_life effective_window debias to_keras from_keras",
    "batch_statistics": "merge_statistics",  # the name `batch_statistics` means the module
    "positional_encoding": "sinusoidal_encoding wavelengths shift_matrix rotary_embedding",
    "rope_scaling": "rotary_frequencies position_interpolation ntk_aware yarn yarn_temperature llama3_scaling",
    "feed_forward": "relu gelu silu swish glu gated_unit swiglu round_up hidden_width parameter_count FeedForward "
    "SwiGLU",
    "attention": "scaled_dot_product_attention causal_mask causal_lower_right repeat_kv MultiheadAttention",
    "kv_cache": "KeyValueCache cached_attention",
    "transformer": "EncoderLayer DecoderLayer",
    "norm_placement": "NormPlacementLayer QKNormAttention dyt DyT",
}
_MODULE_OF = {name: module for module, names in _KERNELS.items() for name in names.split()}

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    if name in _MODULE_OF:
        return getattr(import_module(f"blocklab.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(globals().keys() | _MODULE_OF.keys())
