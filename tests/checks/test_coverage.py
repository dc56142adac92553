"""Every exercise has each kind of input without which some wrong function would pass.

An exercise that cannot have a kind, or does not need it, says why: `exempt={"empty": "torch refuses it in training"}`.
"""

import itertools

import pytest
import torch
from tables import TABLES, same_value
from torch import Tensor

from blocklab_course.checks.case import is_float

FUNCTIONS = {name: exercise for name, exercise in TABLES.items() if not exercise.evaluate}
EACH = pytest.mark.parametrize("exercise", FUNCTIONS.values(), ids=FUNCTIONS)
PRECOMPUTED_LENGTHS = 512, 1024, 5000  # up to which published code precomputes a table
LENGTHS, AXES = ("length", "L"), ("axes", "dim")  # names of such arguments


class Inputs:
    """The inputs of an exercise with all arguments, including defaults."""

    def __init__(self, exercise):
        self.optional = {p.name: p.default for p in exercise.parameters if p.default is not p.empty}
        self.all = [self.optional | case.arguments for case in exercise.all_cases]
        self.deciding = [self.optional | case.arguments for case in exercise.all_cases if case.advice is None]
        self.gradients = [case.gradient for case in exercise.all_cases]
        self.names = [p.name for p in exercise.parameters]

    def values_of(self, name, kind=object):
        return [x for given in self.deciding if isinstance(x := given.get(name), kind) and not isinstance(x, bool)]

    def is_varied_alone(self, name):
        others = self.optional.keys() - {name}
        return any(
            not same_value(given[name], self.optional[name])
            and all(same_value(given[other], self.optional[other]) for other in others)
            for given in self.deciding
        )

    def has_pair_differing_in(self, name):
        """Return whether two inputs differ in this argument only."""
        return any(
            not same_value(one[name], other[name])
            and all(same_value(one[rest], other[rest]) for rest in self.names if rest != name)
            for one, other in itertools.combinations(self.deciding, 2)
            if name in one and name in other
        )


def find_kinds(exercise):
    """Yield the kinds of input that the exercise needs, and whether it has one of each."""
    inputs = Inputs(exercise)
    for name in inputs.optional:
        yield f"{name} alone", inputs.is_varied_alone(name)
        yield f"{name} left out", any(same_value(given[name], inputs.optional[name]) for given in inputs.deciding)
    for name in inputs.names:
        if not any(map(callable, inputs.values_of(name))):
            yield f"another {name}", inputs.has_pair_differing_in(name)
        if inputs.values_of(name, float):
            yield f"{name} of 0", any(isinstance(given[name], float) and given[name] == 0 for given in inputs.all)
        if name in LENGTHS:
            for length in PRECOMPUTED_LENGTHS:
                yield f"{name} above {length}", any(given[name] > length for given in inputs.all)
        if name in AXES:
            yield f"{name} from the end", any(x < 0 for x in inputs.values_of(name, int))
            tuples = inputs.values_of(name, tuple)
            if tuples:
                yield f"{name} from the end in a tuple", any(min(x) < 0 and len(x) > 1 for x in tuples)
    tensors = [name for name in inputs.names if any(map(is_float, inputs.values_of(name)))]
    if tensors:
        yield from tensor_kinds(inputs, tensors[0])
        yield "gradient", any(inputs.gradients)


def tensor_kinds(inputs, first):
    """Yield the kinds that depend on the first float tensor, whose name is `first`."""
    given = [x for x in inputs.values_of(first) if x.numel()]
    rank = max(x.dim() for x in given)
    for axis in range(rank):
        yield f"axis {axis} of size 1", any(x.shape[axis : axis + 1] == (1,) for x in given)
    if rank > 1:
        yield "equal sizes", any(n == m > 1 for x in given for n, m in itertools.pairwise(x.shape))
        yield "different sizes", any(x.dim() > 1 and len({*x.shape, 1}) == x.dim() + 1 for x in given)
        yield "flat row beside another", any(has_flat_slice(x) for x in given)
        everything = [one[first] for one in inputs.all if isinstance(one.get(first), Tensor)]
        yield "non-contiguous", any(not x.is_contiguous() for x in everything)
    largest = [x.abs().max().item() for x in given]
    yield "up to ten", any(8 < x < 100 for x in largest)
    yield "small", any(0 < x < 0.01 for x in largest)
    types = {x.dtype for x in given} & {torch.float16, torch.bfloat16}
    yield "both short types or neither", len(types) != 1
    tensors = [x for one in inputs.all for x in one.values() if isinstance(x, Tensor)]
    yield "float64", any(x.dtype == torch.float64 for x in tensors)
    yield "empty", any(not x.numel() for x in tensors)


def has_flat_slice(x):
    slices = [part.flatten() for axis in range(x.dim()) for part in x.unbind(axis)]
    return any((s == s[0]).all() and len(s) > 1 for s in slices) and bool((x != x.flatten()[0]).any())


@EACH
def test_exercise_has_every_kind_of_input(exercise):
    missing = [kind for kind, found in find_kinds(exercise) if not found]
    assert set(missing) <= exercise.exempt.keys()


@EACH
def test_exemptions_name_known_kinds_and_give_reasons(exercise):
    assert set(exercise.exempt) <= {kind for kind, _found in find_kinds(exercise)}
    assert all(exercise.exempt.values())


@EACH
def test_float64_cases_have_tight_tolerance(exercise):
    wide = [case for case in exercise.all_cases if case.name == "float64"]
    assert all(case.tolerance == 1e-12 for case in wide)
