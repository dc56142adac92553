"""glassllm: a decoder of four blocks, trained on a small English or Portuguese corpus."""

import json

import numpy as np
import torch

from blocklab.feed_forward import hidden_width
from blocklab_course.dependencies import package_file
from blocklab_course.pretrained import weight_names
from blocklab_course.pretrained.decoder import Decoder, DecoderConfig

LANGUAGES = ("en", "pt")


def load_glassllm(language: str = "en") -> Decoder:
    """The model of glassllm for "en" or "pt", trained, in eval(), float32: 852,608 numbers.

    Tokenize with glassllm.load_pretrained(language)[1].encode(text).

    Raises ValueError for another language and ModuleNotFoundError, with the command that installs it, if the package is
    missing.

    Source: the package glassllm, MIT
    """
    if language not in LANGUAGES:
        raise ValueError(f"load_glassllm: expected language to be one of {', '.join(LANGUAGES)}, got {language!r}")
    with np.load(package_file("load_glassllm", "glassllm", f"weights/{language}.npz")) as arrays:
        config = json.loads(str(arrays["__config__"]))
        state = {name: torch.from_numpy(arrays[name]).float() for name in arrays.files if name != "__config__"}
    with torch.device("meta"):  # allocate nothing: the weights are loaded already
        model = Decoder(read_config(config))
    # glassllm computes x @ W, so its matrices have shape (in, out).
    state = {name: x.T if ".W" in name else x for name, x in state.items()}
    model.load_state_dict(weight_names.rename_weights(state, weight_names.GLASSLLM), strict=True, assign=True)
    return model.eval()


def read_config(config: dict) -> DecoderConfig:
    """Read the configuration in glassllm's own names."""
    d_model = config["d_model"]
    return DecoderConfig(
        vocab_size=config["vocab_size"],
        layers=config["n_layers"],
        d_model=d_model,
        heads=config["n_heads"],
        kv_heads=config["n_kv_heads"],
        hidden=hidden_width(d_model, multiple_of=1),
        rope_base=config["rope_base"],
        eps=config["eps"],
        max_length=config["max_len"],
    )
