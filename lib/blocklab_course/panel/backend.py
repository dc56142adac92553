"""Which kind of view panels get: living ones, or plain ones where a front end loads no script of ours."""

from typing import Any

KINDS = "live", "plain"

_kind = "live"


def set_backend(kind: str) -> None:
    """Take "live" or "plain" for the panels that are shown from now on. Raises ValueError for another kind."""
    global _kind
    _kind = check_backend(kind)


def check_backend(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"panels wants 'live' or 'plain', got {kind!r}")
    return kind


def draw(canvas: Any) -> None:
    """Draw what a view of the kind that was chosen would show."""
    if _kind == "live":
        canvas.strokes()
    else:
        canvas.frame()


def make_view(panel: Any, canvas: Any) -> Any:
    """A view of the panel, whose canvas is drawn: of the kind that was chosen, or plain where anywidget is missing."""
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
