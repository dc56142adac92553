"""Heat maps whose 0 is the page itself follow its theme: no slab of white on a dark page."""

from itertools import chain

import pytest

from blocklab_course.lessons.activations_and_gates import contours
from blocklab_course.lessons.attention import attention_map, poke_one_token
from blocklab_course.lessons.kv_cache import one_step
from blocklab_course.pretrained.trace import stored_trace

PANELS = {
    "contours": contours.panel,
    "attention_map": lambda: attention_map.panel(stored_trace()),
    "poke_one_token": poke_one_token.panel,
    "one_step": one_step.panel,
}


@pytest.mark.parametrize("make", PANELS.values(), ids=PANELS)
def test_heat_map_is_drawn_in_the_colours_of_the_theme(make):
    panel = make()
    strokes = chain.from_iterable(panel.canvas.strokes().moving)
    kinds = {panel.canvas.records[number][0] for number in strokes}
    panel.close()
    assert "tint" in kinds
    assert "image" not in kinds
