"""The kind of view that panels get: live, or plain for front ends that cannot load our script."""

from typing import Any

KINDS = "live", "plain"

_kind = "live"


def set_backend(kind: str) -> None:
    """Use "live" or "plain" views for panels shown from now on. Raises ValueError for another kind."""
    global _kind
    _kind = check_backend(kind)


def check_backend(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"expected panels to be 'live' or 'plain', got {kind!r}")
    return kind


def draw(canvas: Any) -> None:
    """Draw what a view of the current kind would show."""
    if _kind == "live":
        canvas.strokes()
    else:
        canvas.frame()


def make_view(panel: Any, canvas: Any) -> Any:
    """Return a view of the current kind, or a plain one if anywidget is missing. The canvas is drawn already."""
    if _kind == "live":
        try:
            from blocklab_course.panel.live_view import LiveView
        except ModuleNotFoundError as missing:
            if missing.name != "anywidget":
                raise
        else:
            return LiveView(panel, canvas)
    from blocklab_course.panel.fallback_view import FallbackView

    return FallbackView(panel, canvas)
