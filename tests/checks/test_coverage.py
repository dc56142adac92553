"""The inputs of every exercise hold each kind that a wrong function may slip through without.

An exercise that cannot have a kind, or need not, says so and why: `without={"empty": "torch refuses it in training"}`.
"""

import itertools

import pytest
import torch
from tables import TABLES
from torch import Tensor

from blocklab_course.checks.case import is_float

WRITTEN = {name: exercise for name, exercise in TABLES.items() if not exercise.evaluate}  # a function, not an answer
EACH = pytest.mark.parametrize("exercise", WRITTEN.values(), ids=WRITTEN)
TABLES = 512, 1024, 5000  # lengths up to which published code makes a table in advance
LENGTHS, AXES = ("length", "L"), ("axes", "dim")  # what such arguments are called


def equal(x, y):
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return (x.dtype, x.shape, x.stride()) == (y.dtype, y.shape, y.stride()) and torch.equal(x, y)
    return type(x) is type(y) and x == y


class Inputs:
    """The inputs of an exercise, with all its arguments: those that a case leaves out at their defaults."""

    def __init__(self, exercise):
        self.optional = {p.name: p.default for p in exercise.parameters if p.default is not p.empty}
        self.all = [self.optional | case.arguments for case in exercise.all_cases]
        self.deciding = [self.optional | case.arguments for case in exercise.all_cases if case.advice is None]
        self.gradients = [case.gradient for case in exercise.all_cases]
        self.names = [p.name for p in exercise.parameters]

    def of(self, name, kind=object):
        return [x for given in self.deciding if isinstance(x := given.get(name), kind) and not isinstance(x, bool)]

    def alone(self, name):
        others = self.optional.keys() - {name}
        return any(
            not equal(given[name], self.optional[name])
            and all(equal(given[other], self.optional[other]) for other in others)
            for given in self.deciding
        )

    def twins(self, name):
        """Whether two inputs differ in this argument alone."""
        return any(
            not equal(one[name], other[name])
            and all(equal(one[rest], other[rest]) for rest in self.names if rest != name)
            for one, other in itertools.combinations(self.deciding, 2)
            if name in one and name in other
        )


def kinds(exercise):
    """The kinds of input that the arguments of an exercise call for, and whether there is one of each."""
    inputs = Inputs(exercise)
    for name in inputs.optional:
        yield f"{name} alone", inputs.alone(name)
        yield f"{name} left out", any(equal(given[name], inputs.optional[name]) for given in inputs.deciding)
    for name in inputs.names:
        if not any(map(callable, inputs.of(name))):
            yield f"another {name}", inputs.twins(name)
        if inputs.of(name, float):
            yield f"{name} of 0", any(isinstance(given[name], float) and given[name] == 0 for given in inputs.all)
        if name in LENGTHS:
            for length in TABLES:
                yield f"{name} above {length}", any(given[name] > length for given in inputs.all)  # no advice forgives
        if name in AXES:
            yield f"{name} from the end", any(x < 0 for x in inputs.of(name, int))
            if inputs.of(name, tuple):
                yield f"{name} from the end in a tuple", any(min(x) < 0 and len(x) > 1 for x in inputs.of(name, tuple))
    tensors = [name for name in inputs.names if any(map(is_float, inputs.of(name)))]
    if tensors:
        yield from kinds_of_tensors(inputs, tensors[0])
        yield "gradient", any(inputs.gradients)


def kinds_of_tensors(inputs, first):
    """`first` is the name of the first of them."""
    given = [x for x in inputs.of(first) if x.numel()]
    rank = max(x.dim() for x in given)
    for axis in range(rank):
        yield f"axis {axis} of size 1", any(x.shape[axis : axis + 1] == (1,) for x in given)
    if rank > 1:
        yield "equal sizes", any(n == m > 1 for x in given for n, m in itertools.pairwise(x.shape))
        yield "different sizes", any(x.dim() > 1 and len({*x.shape, 1}) == x.dim() + 1 for x in given)
        yield "flat row beside another", any(flat_beside_another(x) for x in given)
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


def flat_beside_another(x):
    slices = [part.flatten() for axis in range(x.dim()) for part in x.unbind(axis)]
    return any((s == s[0]).all() and len(s) > 1 for s in slices) and bool((x != x.flatten()[0]).any())


@EACH
def test_exercise_has_every_kind_of_input(exercise):
    missing = [kind for kind, found in kinds(exercise) if not found]
    assert set(missing) <= exercise.exempt.keys()


@EACH
def test_exemptions_name_known_kinds_and_give_reasons(exercise):
    assert set(exercise.exempt) <= {kind for kind, _found in kinds(exercise)}
    assert all(exercise.exempt.values())


@EACH
def test_float64_cases_have_tight_tolerance(exercise):
    wide = [case for case in exercise.all_cases if case.name == "float64"]
    assert all(case.tolerance == 1e-12 for case in wide)
