"""Other functions in the place of a model's own, for a while: by the name of the kernel, without patching a module.

A Module calls its kernel through a static method of its class that bears the kernel's name, as `RMSNorm.rms_norm`. An
attribute of the one Module by that name goes before it.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from torch import nn


@contextmanager
def patch_functions(model: nn.Module, /, **functions: Callable) -> Iterator[None]:
    """Run the lines below it with these functions instead of the kernels of that name, in every Module of the model.

        with patch_functions(model, rms_norm=F.rms_norm):
            logits = model(ids)

    Each is called with the kernel's arguments. Afterwards the model is as it was, also after an error.

    Raises ValueError for a name that no Module of the model calls, with those that they do; TypeError for what cannot
    be called.
    """
    called = find_kernels(model)
    for name, function in functions.items():
        if name not in called:
            names = ", ".join(sorted(called)) or "none"
            raise ValueError(f"replaced wants a kernel that {type(model).__name__} calls, one of {names}, got {name}")
        if not callable(function):
            raise TypeError(f"replaced wants {name} to be a function, got {type(function).__name__}")
    with ExitStack() as stack:
        for name, function in functions.items():
            for module in called[name]:
                stack.enter_context(override_attribute(module, name, function))
        yield


def find_kernels(model: nn.Module) -> dict[str, list[nn.Module]]:
    """The kernels that can be replaced in a model, by name, each with the Modules that call it."""
    found: dict[str, list[nn.Module]] = {}
    for module in model.modules():
        spaces = map(vars, type(module).__mro__)
        for name in {name for space in spaces for name, value in space.items() if isinstance(value, staticmethod)}:
            found.setdefault(name, []).append(module)
    return found


@contextmanager
def override_attribute(module: nn.Module, name: str, value: object) -> Iterator[None]:
    """Give one Module an attribute for a while, in its own dictionary: a Module as value becomes no part of it."""
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
