"""The functions that lessons call: `begin("en")`, `check("rms_norm", f)`, `catch("layer_norm", inputs)`,
`checked_or_reference("rms_norm", f)`, `load_or_reference("rms_norm")`, `plug_in(rms_norm=f)`,
`predict("name", {"it grows": True, "it stays": False}, why="…")`, `progress_bar(work, label)`.

All but `begin` are imported on first use, because `begin` checks first whether the packages that they need are
installed.
"""

from importlib import import_module

from .session import begin

_MODULE_OF = {
    **dict.fromkeys(("catch", "check", "checked_or_reference", "plug_in"), "api"),
    "load_or_reference": "building_blocks",
    "predict": "panel",
    "progress_bar": "_progress_bar",
}

__all__ = ["begin", *_MODULE_OF]


def __getattr__(name: str) -> object:
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(globals().keys() | _MODULE_OF.keys())
