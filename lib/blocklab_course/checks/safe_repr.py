"""Short, safe descriptions of anything a learner may submit, even if its own `repr` fails or is endless."""

import re
import reprlib

from .timeout import Interrupted

MAX_CHARACTERS = 300  # of a text that the learner's code produced
MAX_LINE = 60  # characters of a network's output
OFFENSIVE = re.compile("(?:rapist|nazi|sex|porn).*", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class _BoundedRepr(reprlib.Repr):
    """`repr` with bounded length and depth."""

    def repr_int(self, x: int, _level: int) -> str:
        return repr(x) if abs(x) < 10**self.maxlong else f"{'-' * (x < 0)}{x.bit_length()}-bit int"  # or ValueError

    def repr_instance(self, x: object, _level: int) -> str:
        if type(x).__repr__ is object.__repr__:
            return type_name(x)
        try:
            return truncate(repr(x), self.maxother)
        except Interrupted:
            raise
        except BaseException:
            return type_name(x)


_BOUNDED_REPR = _BoundedRepr()
_BOUNDED_REPR.maxlevel, _BOUNDED_REPR.maxstring, _BOUNDED_REPR.maxother, _BOUNDED_REPR.maxlong = 3, 60, 60, 40


def safe_repr(x: object) -> str:
    """Return `repr(x)`, cut to a line."""
    return truncate(_BOUNDED_REPR.repr(x), 2 * _BOUNDED_REPR.maxother)


def truncate(text: str, most: int = MAX_CHARACTERS) -> str:
    """Cut a long text, and escape unprintable characters."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    return _UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def truncate_line(text: str, most: int = MAX_LINE) -> str:
    """Cut a network's output to one line, without offensive words, which a broken network may produce."""
    return truncate(OFFENSIVE.sub("…", text.replace("\n", "↵").replace("\xa0", " ").strip()), most)


def type_name(x: object) -> str:
    return class_name(type(x))


def class_name(of: type) -> str:
    return truncate(of.__name__, 60)


def error_message(error: BaseException) -> str:
    """Return an error's message, or "" if its `str` fails."""
    try:
        text = str(error)
    except Interrupted:
        raise
    except BaseException:
        return ""
    return truncate(text)
