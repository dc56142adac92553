"""Cards stay inside their frame on a phone, whatever they hold, and also with the few styles that JupyterLab keeps."""

from dataclasses import replace

import pytest
import torch.nn.functional as F
from axe_playwright_python.sync_playwright import Axe

from blocklab_course import check, predict
from blocklab_course.i18n import LANGUAGES, use_language
from blocklab_course.lessons.catalog import EXERCISES, SAVED_EXERCISES
from blocklab_course.model_swap import messages
from blocklab_course.model_swap.networks import Generation, NearestSentence
from blocklab_course.model_swap.result import SwapResult
from blocklab_course.progress.collect import Attempts, Progress
from blocklab_course.progress.page import ProgressPage

LONG = "a_very_long_name_" * 12
OUTSIDE = """() => [...document.querySelectorAll("body > div")].flatMap((card) => {
    const right = card.getBoundingClientRect().right;
    const scrolls = (node) => node !== card && node.closest("[style*=overflow-x]");
    const leaves = (node) => !scrolls(node) && node.getBoundingClientRect().right > right + 1;
    return [...card.querySelectorAll("*")].filter(leaves)
        .map((node) => node.outerHTML.slice(0, 200));
})"""


def cards():
    def unweighted(x, normalized_shape, _weight=None, eps=None):
        return F.rms_norm(x, normalized_shape, None, eps)

    verdict = check("rms_norm", unweighted, keep=False)
    yield verdict
    yield replace(
        verdict, exercise=replace(EXERCISES["rms_norm"], name=LONG), messages=(f"`{LONG}` {LONG}", LONG), failures=3
    )
    chat = Generation(13.98, "x" * 120), Generation(3.08, "The capital of France is Paris.")
    yield SwapResult("rms_norm", "SmolLM2", 61, (messages.ANSWER, messages.LOSS_ON_ZEN), (LONG,), *chat, name="n" * 40)
    cosines = NearestSentence((0.86, 0.8, 0.81, 0.67)), NearestSentence((0.36, 0.6, 0.21, 0.02))
    yield SwapResult("layer_norm", "MiniLM", 13, (messages.NEAREST, *messages.COSINES), (), *cosines, name="n" * 40)
    yield ProgressPage(
        Progress({name: Attempts("solved", "mean-ignored") for name in EXERCISES}, 14, 9, SAVED_EXERCISES)
    )
    yield ProgressPage(None)
    yield predict("a", {LONG: True, "b": False}, why="w", question=LONG)


@pytest.mark.parametrize("kept", ["all styles", "JupyterLab's styles"])
@pytest.mark.parametrize("width", [390, 320])
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_leaves_its_card_on_a_phone(chromium, language, width, kept):
    with use_language(language):
        html = "".join(card.html() for card in cards())
    if kept != "all styles":
        html = html.replace("overflow-wrap:anywhere", "")
    page = chromium.new_page(viewport={"width": width, "height": 800})
    page.set_content(f"<!doctype html><body style='margin:8px;font:15px sans-serif'>{html}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == []
    if kept == "all styles":
        assert Axe().run(page, "body > div").response["violations"] == []
    page.close()
