import itertools
from fractions import Fraction

import torch


def with_break(model, ids, most, end):
    text = list(ids)
    scores = model(ids)
    for _ in range(most):
        token = scores[-1].argmax().item()
        if token == end:
            break
        text.append(token)
        scores = model([token])
    return text


def into_the_given_list(model, ids, most, end):
    new = ids
    for _ in range(most):
        token = int(model(new)[-1].argmax())
        if token == end:
            return ids
        ids = [*ids, token]
        new = ids[-1:]
    return ids


def token_by_token(model, ids, most, end):
    for token in ids:
        scores = model([token])
    answer = []
    while len(answer) < most and (token := torch.argmax(scores[-1]).item()) != end:
        answer += [token]
        scores = model([token])
    return ids + answer


def by_a_generator(model, ids, most, end):
    def tokens():
        scores = model(list(ids))
        while True:
            token = scores[-1, :].topk(1).indices.item()
            yield token
            scores = model([token])

    answer = itertools.islice(itertools.takewhile(lambda token: token != end, tokens()), most)
    return [*ids, *answer]


def by_recursion(model, ids, most, end):
    def after(new, left):
        token = max(enumerate(model(new)[-1].tolist()), key=lambda pair: pair[1])[0]
        return [] if left == 0 or token == end else [token, *after([token], left - 1)]

    return ids + after(ids, most)


def by_softmax(model, ids, most, end):
    text, unread = ids.copy(), ids
    while len(text) - len(ids) < most:
        token = model(unread).softmax(-1)[-1].argmax(-1).item()
        if token == end:
            return text
        text, unread = [*text, token], (token,)
    return text


def as_a_tuple(model, ids, most, end):
    return tuple(with_break(model, ids, most, end))


RIGHT = {
    "generate": {
        "with break": with_break,
        "into the given list": into_the_given_list,
        "token by token": token_by_token,
        "by a generator": by_a_generator,
        "by recursion": by_recursion,
        "by softmax": by_softmax,
        "as a tuple": as_a_tuple,
    },
    "tokens_per_second": {
        "number": 25,
        "formula": 100e9 / (8e9 * 4 / 8),
        "fraction": Fraction(100, 4),
        "tensor": torch.tensor(25.0),
    },
}
ADVISED = {}
