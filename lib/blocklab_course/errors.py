"""Errors that a notebook shows as one line, without a traceback."""


class UserFacingError(ImportError):
    """An error whose message tells the reader what to do."""

    def _render_traceback_(self) -> list[str]:  # called by IPython
        return [str(self)]
