"""`plug_in`: a learner's block in a trained network."""

from blocklab.language import listed
from blocklab.plugging.cannot_run import in_words
from blocklab.plugging.engine import PATIENCE, plug, refused
from blocklab.plugging.networks import NETWORKS
from blocklab.plugging.plugged_in import PluggedIn
from blocklab.plugging.words import NOTHING, THESE, WITHOUT_A_NAME

from .order import EXERCISES


def plug_in(*unnamed: object, patience: float = PATIENCE, **blocks: object) -> PluggedIn:
    """Put a block that was written for an exercise into a trained network, and see what comes out.

        plug_in(rms_norm=my_rms_norm)

    One block, by the name of its exercise, as `check` takes it: rms_norm, swiglu, rotary_embedding and attention go
    into SmolLM2, or glassllm where it is not installed or memory is short, layer_norm into MiniLM, batch_norm into
    EfficientNet-Lite0. A block that is not written yet leaves the right one in its place.

    This is no check: a wrong block can say the right thing. What cannot run is told in the result, and no error is
    raised. A block that does not come to its end is stopped after `patience` seconds.
    """
    names = listed(NETWORKS)
    if unnamed or len(blocks) != 1:
        given = WITHOUT_A_NAME if unnamed else THESE.format(names=listed(blocks)) if blocks else NOTHING
        return refused(", ".join(blocks), in_words("one-block", got=str(given), names=names))
    [(name, candidate)] = blocks.items()
    if name not in NETWORKS:
        return refused(name, in_words("unknown-block", name=name, names=names))
    return plug(EXERCISES[name], candidate, patience)
