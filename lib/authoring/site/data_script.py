"""Data as a classic script, the only kind of file that a page opened from disk can load."""

import json
from typing import Any


def data_script(name: str, key: str, data: Any) -> str:
    """A script that puts the data into the global `name[key]`."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"(globalThis.{name} ??= {{}})[{json.dumps(key)}] = {text};\n"
