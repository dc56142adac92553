"""Errors that a notebook shows as one line: the reader can help, and no line of code would say how."""


class UserFacingError(ImportError):
    """Its text is all that a notebook shows of it; what follows the cell stops as ever."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]
