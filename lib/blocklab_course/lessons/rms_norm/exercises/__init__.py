"""The exercises of rms_norm, in the order of the lesson."""

from .rms_norm import RMS_NORM, RMS_NORM_GEMMA, RMS_NORM_LLAMA
from .root_mean_square import ROOT_MEAN_SQUARE

EXERCISES = (ROOT_MEAN_SQUARE, RMS_NORM, RMS_NORM_LLAMA, RMS_NORM_GEMMA)
