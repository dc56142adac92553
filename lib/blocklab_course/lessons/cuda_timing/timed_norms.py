"""The reader's own norms beside those of torch, and the lines of the table of times."""

from collections.abc import Callable, Iterator, Mapping

from torch import Tensor

from blocklab_course.i18n import Text

YOURS = Text(en="your {name}", zh="你的 {name}")
NOT_KEPT = Text(en="{name:16}   not kept yet", zh="{name:16}   还没有保存")
BY_YOURS = Text(en="Timed by your function", zh="计时用的是你写的函数")
BY_SOLUTION = Text(en="Timed by the solution", zh="计时用的是参考答案")
READINGS = 3  # of each layer
RANGE = Text(en="{} readings of each layer, lowest – highest", zh="每层测 {} 次，最小值 – 最大值")


def your_norms(
    kept: Mapping[str, Callable | None], inputs: Iterator[Tensor], gain: Tensor, bias: Tensor
) -> dict[str, Callable | None]:
    """LayerNorm and RMSNorm as the reader kept them, each applied to the next of the inputs; None where none is kept.

    inputs: (N, d) each; gain and bias: (d,).
    """
    shape = tuple(gain.shape)
    return {
        YOURS.format(name=name): _applied(kept[name], inputs, shape, *scales)
        for name, scales in (("layer_norm", (gain, bias)), ("rms_norm", (gain,)))
    }


def _applied(norm: Callable | None, inputs: Iterator[Tensor], *others: object) -> Callable | None:
    return norm and (lambda: norm(next(inputs), *others))


def show_times(layers: dict[str, Callable | None], time_one: Callable[[Callable], float]) -> None:
    """Print between which milliseconds every layer's readings lie, `time_one` giving one in seconds."""
    kept = {name: layer for name, layer in layers.items() if layer}
    # One layer after the other, then again, so that a disturbance does not meet all readings of one.
    rounds = [{name: 1000 * time_one(layer) for name, layer in kept.items()} for _ in range(READINGS)]
    print(RANGE.format(READINGS))
    for name in layers:
        if name in kept:
            times = [reading[name] for reading in rounds]
            print(f"{name:16} {min(times):7.3f} ms – {max(times):.3f} ms")
        else:
            print(NOT_KEPT.format(name=name))


def timed_by(timer: Callable, yours: Callable) -> Text:
    """Whose function held the watch."""
    return BY_YOURS if timer is yours else BY_SOLUTION
