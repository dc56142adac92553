"""Where the loop stops with an error, or gives too few tokens, the reader is told of a list, and what it should be."""

import pytest

from blocklab_course import check


def first_token_only(call):
    def generate(model, ids, _most, _end):
        scores = model(ids)
        return [*ids, call(model, scores[-1].argmax().item())]

    return generate


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda model, token: model(token), "called with `int`"),
        (lambda model, token: model([[token]]), "a list inside a list"),
        (lambda model, token: model([]), "an empty list"),
    ],
)
def test_what_the_model_cannot_read_is_said_and_the_whole_list_expected(call, told):
    verdict = check("generate", first_token_only(call))
    assert verdict.mistake == "raises"
    assert told in str(verdict)
    assert "for one token `[token]`" in str(verdict)
    assert "expected result = (3, 1, 4, 6, 5, 8, 10, 4)" in str(verdict)


def test_a_result_of_another_length_may_be_a_list():
    verdict = check("generate", lambda model, ids, most, end: [*ids, model(ids)[-1].argmax().item()])
    assert "You returned a tuple or list of 4; expected a tuple or list of 8." in str(verdict)


def test_an_item_is_called_an_item_of_the_list():
    verdict = check("generate", lambda model, ids, most, end: [*ids, *[model(ids)[-1].argmax().item()] * most])
    assert "expected item 5 of the list = 5" in str(verdict)
