"""Fill in the templates of the site."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from authoring.logo import LOGO

from . import messages
from .markdown import scrollable


def fill(text: object, **values: object) -> Markup:
    """Put values into one of our own texts, which may hold HTML; values that are not HTML are escaped."""
    return Markup(text).format(**values)


_TEMPLATES = Environment(
    loader=PackageLoader(__package__),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.globals |= {"words": messages, "scrollable": scrollable, "logo": LOGO}
_TEMPLATES.filters["fill"] = fill
_TEMPLATES.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":"), "default": str}


def render(template: str, **values: Any) -> str:
    """A template of `templates/`, filled in; its words are in the current language."""
    return _TEMPLATES.get_template(template).render(values)
