"""What a lesson calls: `begin("en")`, `check("rms_norm", f)`, `catch("layer_norm", inputs)`,
`accepted("rms_norm", f)`, `plug_in(rms_norm=f)`, `progress(work, label)`.

Each lesson has a room beside this file, with its pictures and its exercises.
"""

from .checking import accepted, catch, check
from .opening import begin
from .order import EXERCISES, LESSONS
from .plugging import plug_in
from .progress_line import progress

__all__ = ["EXERCISES", "LESSONS", "accepted", "begin", "catch", "check", "plug_in", "progress"]
