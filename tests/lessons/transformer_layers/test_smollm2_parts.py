from types import SimpleNamespace

import pytest
import torch
from torch.testing import assert_close

from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.lessons.transformer_layers.smollm2_parts import parts_of
from blocklab_course.pretrained.decoder import DecoderBlock, DecoderConfig

NAMES = "rms_norm", "rotary_embedding", "split_heads", "causal_mask", "attention", "swiglu"
CONFIG = DecoderConfig(
    vocab_size=11, layers=1, d_model=24, heads=6, kv_heads=2, hidden=10, rope_base=1e4, eps=1e-5, max_length=64
)


@pytest.fixture
def block():
    torch.manual_seed(0)
    made = DecoderBlock(CONFIG)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter)
    return made


def right(**others):
    return SimpleNamespace(**{name: EXERCISES[name].reference for name in NAMES} | others)


def test_the_parts_are_those_of_the_block(block):
    x = torch.randn(2, 5, 24)
    attention, swiglu, norm1, norm2 = parts_of(right())(block)
    close = {"rtol": 1e-4, "atol": 1e-4}
    assert_close(attention(x), block.attend(x), **close)
    assert_close(swiglu(x), block.feed_forward(x), **close)
    assert_close(norm1(x), block.norm1(x), **close)
    assert_close(norm2(x), block.norm2(x), **close)


@pytest.mark.parametrize("name", NAMES)
def test_each_function_of_the_readers_is_called(name, block):
    called = []

    def noticed(*given, **named):
        called.append(name)
        return EXERCISES[name].reference(*given, **named)

    x = torch.randn(2, 5, 24)
    for part in parts_of(right(**{name: noticed}))(block):
        part(x)
    assert called
