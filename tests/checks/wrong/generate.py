import torch


def sampled(model, ids, most, end):
    text, scores = list(ids), model(ids)
    torch.manual_seed(0)
    for _ in range(most):
        token = torch.multinomial(scores[-1].softmax(-1), 1).item()
        if token == end:
            break
        text.append(token)
        scores = model([token])
    return text


def without_a_cache(model, ids, most, end):
    text = list(ids)
    for _ in range(most):
        token = model(text)[-1].argmax().item()
        if token == end:
            break
        text.append(token)
    return text


def huggings_length(model, ids, most, end):
    text, scores = list(ids), model(ids)
    while len(text) < most:
        token = scores[-1].argmax().item()
        if token == end:
            break
        text.append(token)
        scores = model([token])
    return text


def kept_and_stopped(model, ids, most, end):
    text, scores = list(ids), model(ids)
    for _ in range(most):
        token = scores[-1].argmax().item()
        text.append(token)
        if token == end:
            break
        scores = model([token])
    return text


def a_number_in_no_list(model, ids, most, end):
    text, scores = list(ids), model(ids)
    for _ in range(most):
        token = scores[-1].argmax().item()
        if token == end:
            break
        text.append(token)
        scores = model(token)
    return text


def a_batch_of_one(model, ids, most, end):
    return with_calls(lambda tokens: model([tokens]), ids, most, end)


def with_calls(model, ids, most, end):
    text, scores = list(ids), model(ids)
    for _ in range(most):
        token = scores[-1].argmax().item()
        if token == end:
            break
        text.append(token)
        scores = model([token])
    return text


def scores_not_taken(model, ids, most, end):
    text, scores = list(ids), model(ids)
    for _ in range(most):
        token = scores[-1].argmax().item()
        if token == end:
            break
        text.append(token)
        model([token])
    return text


def last_one_read_before_choosing(model, ids, most, end):
    text = list(ids)
    model(text)
    for _ in range(most):
        token = model(text[-1:])[-1].argmax().item()
        if token == end:
            break
        text.append(token)
    return text


def along_the_positions(model, ids, most, end):
    text, scores = list(ids), model(ids)
    for _ in range(most):
        token = scores.argmax(0)[-1].item()
        if token == end:
            break
        text.append(token)
        scores = model([token])
    return text


def last_one_cut_off(model, ids, most, end):
    text, scores, token = list(ids), model(ids), None
    while token != end and len(text) < len(ids) + most:
        token = scores[-1].argmax().item()
        text.append(token)
        scores = model([token])
    return text[:-1]


def in_the_first_round(model, ids, most, end):
    text, scores = list(ids), model(ids)
    for _ in range(most):
        token = scores[-1].argmax().item()
        if token == end:
            break
        text.append(token)
        scores = model([token])
        return text
    return text


def never_appended(model, ids, most, end):
    text, scores = list(ids), model(ids)
    for _ in range(most):
        token = scores[-1].argmax().item()
        if token == end:
            break
        scores = model([token])
    return text


def the_prompt_as_it_is(_model, ids, _most, _end):
    return list(ids)


def first_one_not_kept(model, ids, most, end):
    text, scores = list(ids), model(ids)
    token = scores[-1].argmax().item()
    for _ in range(most):
        token = model([token])[-1].argmax().item()
        if token == end:
            break
        text.append(token)
    return text


def answer_with_its_end(model, ids, most, end):
    answer, scores, token = [], model(ids), None
    while token != end and len(answer) < most:
        token = scores[-1].argmax().item()
        answer.append(token)
        scores = model([token])
    return answer


def written_into_the_given_list(model, ids, most, end):
    scores = model(ids)
    for _ in range(most):
        token = scores[-1].argmax().item()
        if token == end:
            break
        ids.append(token)
        scores = model([token])
    return ids


def choosing(choose):
    def generate(model, ids, most, end):
        text, scores = list(ids), model(ids)
        for _ in range(most):
            token = choose(scores)
            if token == end:
                break
            text.append(token)
            scores = model([token])
        return text

    return generate


def reading(prompt):
    return lambda model, ids, most, end: [*ids, *with_calls(model, prompt(ids), most, end)[len(prompt(ids)) :]]


def token_by_token_in_reverse(model, ids, most, end):
    for token in ids[:0:-1]:
        model([token])
    return [*ids, *with_calls(model, ids[:1], most, end)[1:]]


def endless(model, ids, most, end):
    token = None
    while token != end:
        token = model(ids)[-1].argmax().item()
    return ids


WRONG = {
    "generate": {
        "sampled": sampled,
        "without a cache": (without_a_cache, {"everything-again"}),
        "the length of all": (huggings_length, {"most-of-the-whole-text"}),
        "kept and stopped": (kept_and_stopped, {"end-kept"}),
        "a number in no list": (a_number_in_no_list, {"raises", None}),
        "a batch of one": (a_batch_of_one, {"raises", None}),
        "scores not taken": (scores_not_taken, {"never-read"}),
        "the last one read before choosing": (last_one_read_before_choosing, {"last-of-the-prompt-twice"}),
        "along the positions": (along_the_positions, {"best-row"}),
        "the last one cut off": (last_one_cut_off, {"one-too-few"}),
        "in the first round": (in_the_first_round, {"wrong-type"}),
        "never appended": (never_appended, {"prompt-alone"}),
        "the prompt as it is": (the_prompt_as_it_is, {"prompt-alone"}),
        "the first one not kept": (first_one_not_kept, {"first-new-token-lost"}),
        "the answer with its end": (answer_with_its_end, {"answer-and-end"}),
        "endless": endless,
        "written into the given list": (written_into_the_given_list, {"mutates-input"}),
        "logits[0, -1]": (choosing(lambda scores: scores[0, -1].argmax().item()), {"single-score"}),
        "logits[:, -1]": (choosing(lambda scores: scores[:, -1].argmax(-1).item()), {"best-row"}),
        "the best of all rows": (choosing(lambda scores: scores.amax(0).argmax().item()), {"surest-row"}),
        "the best of all, as a token": (choosing(lambda scores: scores.argmax().item() % 11), {"surest-row"}),
        "the mean of all rows": choosing(lambda scores: scores.mean(0).argmax().item()),
        "the surest row": (
            choosing(lambda scores: scores[scores.amax(1).argmax()].argmax().item()),
            {"surest-row"},
        ),
        "the least sure row": choosing(lambda scores: scores[scores.amax(1).argmin()].argmax().item()),
        "the prompt in reverse": reading(lambda ids: ids[::-1]),
        "the prompt in order of size": reading(sorted),
        "the last two exchanged": reading(lambda ids: [*ids[:-2], *ids[:-3:-1]]),
        "in reverse, token by token": token_by_token_in_reverse,
    },
    "tokens_per_second": {"a text": "25", "25 with its unit": "25/s", "close": 24.4, "800": 800}
    | {
        "in gibibytes, rounded": (23.3, {"bandwidth-in-gibibytes"}),
        "the model in gibibytes, rounded": (26.8, {"model-in-gibibytes"}),
    },
}
