"""Temporarily replace the kernels that a model calls, by name.

A Module calls its kernel through a static method named after it, such as `RMSNorm.rms_norm`. An attribute of the same
name on one Module takes precedence.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from torch import nn


@contextmanager
def patch_functions(model: nn.Module, /, **functions: Callable) -> Iterator[None]:
    """Replace the kernels of these names in every Module of the model, within a `with` block.

        with patch_functions(model, rms_norm=F.rms_norm):
            logits = model(ids)

    Each function is called with the kernel's arguments. The model is restored afterwards, also after an error.

    Raises ValueError for a kernel that the model does not call and TypeError for anything that is not callable.
    """
    found = find_kernels(model)
    for name, function in functions.items():
        if name not in found:
            names = ", ".join(sorted(found)) or "none"
            raise ValueError(f"patch_functions: expected a kernel of {type(model).__name__} ({names}), got {name}")
        if not callable(function):
            raise TypeError(f"patch_functions: expected {name} to be a function, got {type(function).__name__}")
    with ExitStack() as stack:
        for name, function in functions.items():
            for module in found[name]:
                stack.enter_context(override_attribute(module, name, function))
        yield


def find_kernels(model: nn.Module) -> dict[str, list[nn.Module]]:
    """The kernels that can be replaced in a model, each with the Modules that call it."""
    found: dict[str, list[nn.Module]] = {}
    for module in model.modules():
        spaces = map(vars, type(module).__mro__)
        for name in {name for space in spaces for name, value in space.items() if isinstance(value, staticmethod)}:
            found.setdefault(name, []).append(module)
    return found


@contextmanager
def override_attribute(module: nn.Module, name: str, value: object) -> Iterator[None]:
    """Set an attribute of one Module temporarily. A Module as the value is not registered as a child."""
    own, missing = vars(module), object()
    before = own.get(name, missing)
    own[name] = value
    try:
        yield
    finally:
        if before is missing:
            del own[name]
        else:
            own[name] = before
