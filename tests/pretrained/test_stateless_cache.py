"""A stateless step gets back the keys and values that it returned, separately for each cache."""

import torch
from torch.testing import assert_close

from blocklab.kv_cache import KeyValueCache
from blocklab_course.pretrained.stateless_cache import stateless_cache

QUERY, KEY, VALUE = torch.ones(1, 4, 2, 3), torch.ones(1, 2, 2, 3), torch.zeros(1, 2, 2, 3)


def test_step_gets_its_last_result_and_empty_past_at_first():
    seen = []

    def step(query, key, value, past_keys, past_values):
        seen.append((past_keys, past_values))
        return query, past_keys.sum() + key, value

    attend, cache = stateless_cache(step), KeyValueCache()
    assert attend(QUERY, KEY, VALUE, cache) is QUERY
    attend(QUERY, KEY, VALUE, cache)
    assert (seen[0][0].shape, seen[0][1].shape) == ((1, 2, 0, 3), (1, 2, 0, 3))
    assert_close(seen[1][0], KEY)
    assert cache.length == 4


def test_caches_are_independent():
    def step(query, key, value, past_keys, past_values):
        return query, torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)

    seen = []
    attend = stateless_cache(lambda *given: seen.append(given[3].shape[2]) or step(*given))
    one, other = KeyValueCache(), KeyValueCache()
    for cache in (one, other, one, one, other):
        attend(QUERY, KEY, VALUE, cache)
    assert seen == [0, 0, 2, 4, 2]
