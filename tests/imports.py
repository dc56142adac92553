"""Find the imports in source code."""

import ast
from importlib.util import resolve_name


def imported(source: str, module: str, is_package: bool) -> set[str]:
    """The dotted names that a module imports anywhere; `from a import b` gives `a.b`."""
    package = module if is_package else module.rpartition(".")[0]
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return names
