"""The exercises of cuda_timing, in the order of the lesson."""

from .merge_block import MERGE_BLOCK
from .time_function import TIME_FUNCTION
from .two_kernels import BYTES_IN_TWO_KERNELS

EXERCISES = (TIME_FUNCTION, BYTES_IN_TWO_KERNELS, MERGE_BLOCK)
