"""Times our functions against torch's: ratios of interleaved calls, which a slow or busy machine hardly changes."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

Call = Callable[[], object]


class Ours(NamedTuple):
    """One of our implementations, and the largest accepted ratio to torch's time, if there is a goal."""

    how: str
    call: Call
    goal: float | None


class Case(NamedTuple):
    reference: Call
    ours: list[Ours]


def case(
    reference: Callable, ours: Callable, *inputs: object, goals: tuple[float | None, ...] = (None,), **options: object
) -> Case:
    """Two functions called with the same inputs. A second goal asks for `ours` after torch.compile as well."""
    implementations = [("as written", ours)]
    if len(goals) == 2:
        implementations.append(("compiled", torch.compile(ours)))
    return Case(
        lambda: reference(*inputs, **options),
        [
            Ours(how, lambda function=function: function(*inputs, **options), goal)
            for (how, function), goal in zip(implementations, goals, strict=True)
        ],
    )


def seconds(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@torch.no_grad()
def compare(make_cases: Callable[[], dict[str, Case]], sizes: str, rounds: int) -> None:
    """Print the median and the quartiles of our time divided by torch's time in the same round."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    cases = make_cases()
    for reference, ours in cases.values():
        for call in (reference, *(implementation.call for implementation in ours)):
            call(), call()  # compile and allocate memory

    reference_times = {name: [] for name in cases}
    ratios = {(name, how): [] for name, (_, ours) in cases.items() for how, _, _ in ours}
    for _ in range(rounds):
        for name, (reference, ours) in cases.items():
            reference_times[name].append(seconds(reference))
            for how, call, _ in ours:
                ratios[name, how].append(seconds(call) / reference_times[name][-1])

    print(f"torch {torch.__version__}, one thread, {sizes}; median of {rounds} ratios to torch's time")
    print(f"{'function':28}{'how':12}{'torch ms':>9}{'ratio':>8}{'quartiles':>15}{'goal':>7}")
    for name, (_, ours) in cases.items():
        milliseconds = 1000 * statistics.median(reference_times[name])
        for how, _, goal in ours:
            low, ratio, high = statistics.quantiles(ratios[name, how], n=4)
            verdict = "" if goal is None else f"{goal:7}  {'met' if ratio <= goal else 'MISSED'}"
            print(f"{name:28}{how:12}{milliseconds:9.2f}{ratio:8.2f}{f'{low:.2f} to {high:.2f}':>15}{verdict}")
