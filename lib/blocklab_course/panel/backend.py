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
    """Return a view of a panel. The canvas is drawn already."""
    if _is_live():
        from blocklab_course.panel.live_view import LiveView

        return LiveView(panel, canvas)
    from blocklab_course.panel.fallback_view import FallbackView

    return FallbackView(panel, canvas)


def make_question_view(question: Any) -> Any:
    """Return a view of a question without a picture."""
    if _is_live():
        from blocklab_course.panel.live_view import LiveQuestion

        return LiveQuestion(question)
    from blocklab_course.panel.fallback_question import FallbackQuestion

    plain = FallbackQuestion(question)
    plain.root.add_class("blocklab-panel").add_class("blocklab-alone")
    return plain


def _is_live() -> bool:
    """Whether views are live. Without anywidget they are plain."""
    if _kind != "live":
        return False
    try:
        import blocklab_course.panel.live_view  # noqa: F401
    except ModuleNotFoundError as missing:
        if missing.name != "anywidget":
            raise
        return False
    return True
