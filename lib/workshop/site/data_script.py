"""Data that a page loads as a classic script: from disk a page can fetch nothing else."""

import json
from typing import Any


def data_script(name: str, key: str, data: Any) -> str:
    """A script that puts the data where the page finds it, in `name[key]`."""
    said = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"(globalThis.{name} ??= {{}})[{json.dumps(key)}] = {said};\n"
