"""Short words for anything a learner may hand in: nothing is asked that may lie, fail, or answer with a book."""

import re
import reprlib

from .timeout import Interrupted

MAX_CHARACTERS = 300  # of a text that the learner's code had a hand in
MAX_LINE = 60  # of what a network says
OFFENSIVE = re.compile("(?:rapist|nazi|sex|porn).*", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class _BoundedRepr(reprlib.Repr):
    """`repr` within bounds of any value of Python's own: neither long nor deep."""

    def repr_int(self, x: int, _level: int) -> str:
        return repr(x) if abs(x) < 10**self.maxlong else f"{'-' * (x < 0)}{x.bit_length()}-bit int"  # or ValueError

    def repr_instance(self, x: object, _level: int) -> str:
        if type(x).__repr__ is object.__repr__:
            return type_name(x)
        try:
            return truncate(str.__str__(repr(x)), self.maxother)
        except Interrupted:
            raise
        except BaseException:
            return type_name(x)


_BOUNDED_REPR = _BoundedRepr()
_BOUNDED_REPR.maxlevel, _BOUNDED_REPR.maxstring, _BOUNDED_REPR.maxother, _BOUNDED_REPR.maxlong = 3, 60, 60, 40


def safe_repr(x: object) -> str:
    """`repr(x)`, no longer than a line."""
    return truncate(_BOUNDED_REPR.repr(x), 2 * _BOUNDED_REPR.maxother)


def truncate(text: str, most: int = MAX_CHARACTERS) -> str:
    """The beginning of a long text, with what no screen can show written as an escape."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    return _UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def truncate_line(text: str, most: int = MAX_LINE) -> str:
    """What is shown of a network's answer, in one line; one that is out of its mind may say anything."""
    return truncate(OFFENSIVE.sub("…", text.replace("\n", "↵").replace("\xa0", " ").strip()), most)


def type_name(x: object) -> str:
    """The name of a value's class, whatever its `__class__` pretends."""
    return class_name(type(x))


def class_name(of: type) -> str:
    return truncate(type.__dict__["__name__"].__get__(of), 60)


def error_message(error: BaseException) -> str:
    """What an error says. One that cannot say anything says nothing."""
    try:
        text = str.__str__(str(error))
    except Interrupted:
        raise
    except BaseException:
        return ""
    return truncate(text)
