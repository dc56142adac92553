"""The functions that a lesson calls: `begin("en")`, `check("rms_norm", f)`, `catch("layer_norm", inputs)`,
`accepted("rms_norm", f)`, `plug_in(rms_norm=f)`, `progress(work, label)`.

Each lesson has a package beside this file, with its manifest, figures and exercises. Everything except `begin` is
loaded on first use, because the rest imports packages that `begin` first looks for.
"""

from importlib import import_module

from .opening import begin

_MODULE_OF = {
    **dict.fromkeys(("accepted", "catch", "check"), "checking"),
    **dict.fromkeys(("EXERCISES", "LESSONS"), "order"),
    "plug_in": "plugging",
    "progress": "progress_line",
}

__all__ = ["EXERCISES", "LESSONS", "accepted", "begin", "catch", "check", "plug_in", "progress"]


def __getattr__(name: str) -> object:
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
