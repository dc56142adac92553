"""What a lesson calls: `begin("en")`, `progress(work, label)`. Each lesson has a room beside this file."""

from .opening import begin
from .progress_line import progress

__all__ = ["begin", "progress"]
