"""The lesson's ten lines for a GPU, on a made-up one: what they count, and what they leave out.

That a real GPU obeys them too is asked by tests/benchmarking/test_benchmarking_gpu.py.
"""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from lesson_functions import function_of

# ms: of a call on the GPU, of whatever Python starts, of compiling, of capturing a graph
WORK, START, FIRST, CAPTURE = 0.004, 0.010, 0.150, 1.0


class MadeUpGpu:
    """Stands for `torch.cuda`: a queue of its own time, which Python fills."""

    def __init__(self):
        self.python = self.gpu = 0.0  # what each of the two clocks says, in ms
        self.captured = None

    def layer(self, number):
        """One call: recorded while a graph is captured, otherwise started by Python. The first one compiles."""
        if self.captured is not None:
            self.captured.append(number)
        else:
            self.put(WORK + FIRST)
        return number

    def put(self, work):
        self.python += START
        self.gpu = max(self.gpu, self.python) + work

    def CUDAGraph(self):
        calls = []
        return SimpleNamespace(calls=calls, replay=lambda: self.put(WORK * len(calls)))

    @contextmanager
    def graph(self, graph):
        self.python = max(self.python, self.gpu) + CAPTURE  # torch waits for the GPU before it captures
        self.captured = graph.calls
        yield
        self.captured = None

    def Event(self, enable_timing):
        assert enable_timing
        event = SimpleNamespace(at=None, waited=False)

        def record():
            event.at = max(self.gpu, self.python)

        def synchronize():
            event.waited = True
            self.python = max(self.python, self.gpu)

        def elapsed_time(end):
            assert end.waited  # else torch raises: the event is not there yet
            return end.at - event.at

        event.record, event.synchronize, event.elapsed_time = record, synchronize, elapsed_time
        return event


@pytest.mark.parametrize("calls", [4, 16, 100])
def test_the_work_alone_is_counted(calls):
    watch = function_of("14_cuda_timing", "events_around_a_graph")
    gpu = MadeUpGpu()
    watch.__globals__["torch"] = SimpleNamespace(cuda=gpu)
    assert watch(gpu.layer, [(number,) for number in range(calls)]) == pytest.approx(WORK / 1000)


def test_ten_lines():
    code = function_of("14_cuda_timing", "events_around_a_graph").__code__
    assert len({line for *_, line in code.co_lines() if line} - {code.co_firstlineno}) == 10
