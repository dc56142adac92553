"""Error messages, and that no mask broadcasts silently."""

import pytest
import torch

from blocklab.attention import MultiheadAttention, causal_lower_right, causal_mask, repeat_kv
from blocklab.attention import scaled_dot_product_attention as attend

q, k, v = torch.ones(2, 3, 4, 8), torch.ones(2, 3, 5, 8), torch.ones(2, 3, 5, 6)
x, memory = torch.ones(2, 4, 6), torch.ones(2, 5, 6)
layer = MultiheadAttention(6, 2)


def mask(*shape, dtype=torch.bool):
    return torch.ones(shape, dtype=dtype)


WRONG_VALUES = {
    "causal_lower_right: expected L to be at least 0, got -1": lambda: causal_lower_right(-1, 2),
    "causal_lower_right: expected S to be at least 0, got -2": lambda: causal_lower_right(1, -2),
    f"causal_lower_right: expected L x S to have at most {2**30} elements, got {2**20} x {2**20}": lambda: (
        causal_lower_right(2**20, 2**20)
    ),
    "scaled_dot_product_attention: expected (*, h, L, d) and (*, heads, S, d) with enable_gqa, "
    "got query of shape (4, 8) and key of shape (2, 3, 5, 8)": lambda: attend(q[0, 0], k, v, enable_gqa=True),
    "repeat_kv: expected x to have shape (*, g, S, d), got (4, 8)": lambda: repeat_kv(q[0, 0], 2),
    "repeat_kv: expected n_rep to be at least 1, got 0": lambda: repeat_kv(q, 0),
    # shapes of query, key and value
    "scaled_dot_product_attention: expected query to have a position and a feature axis, got (8,)": lambda: attend(
        q[0, 0, 0], k, v
    ),
    "scaled_dot_product_attention: expected key to have a position and a feature axis, got ()": lambda: attend(
        q, torch.tensor(1.0), v
    ),
    "scaled_dot_product_attention: expected value to have a position and a feature axis, got (6,)": lambda: attend(
        q, k, v[0, 0, 0]
    ),
    "scaled_dot_product_attention: expected as many features in query and key, "
    "got query of shape (2, 3, 4, 8) and key of shape (2, 3, 5, 7)": lambda: attend(q, k[..., :7], v),
    "scaled_dot_product_attention: expected as many features in query and key, "
    "got query of shape (2, 3, 4, 1) and key of shape (2, 3, 5, 8)": lambda: attend(q[..., :1], k, v),
    "scaled_dot_product_attention: expected one value for each key, "
    "got key of shape (2, 3, 5, 8) and value of shape (2, 3, 1, 6)": lambda: attend(q, k, v[:, :, :1]),
    "scaled_dot_product_attention: expected query, key, value to agree before the last two axes, "
    "got (2, 3, 4, 8), (2, 2, 5, 8), (2, 3, 5, 6)": (lambda: attend(q, k[:, :2], v)),
    "scaled_dot_product_attention: expected query, key, value to agree before the last two axes, "
    "got (2, 3, 4, 8), (2, 3, 5, 8), (2, 2, 5, 6)": lambda: attend(q, k, v[:, :2]),
    # groups of heads
    "scaled_dot_product_attention: expected the heads of key to divide query's 3, got 2": lambda: attend(
        q, k[:, :2], v[:, :1], enable_gqa=True
    ),
    "scaled_dot_product_attention: expected the heads of value to divide query's 3, got 2": lambda: attend(
        q, k[:, :1], v[:, :2], enable_gqa=True
    ),
    "scaled_dot_product_attention: expected the heads of key to divide query's 3, got 0": lambda: attend(
        q, k[:, :0], v, enable_gqa=True
    ),
    "scaled_dot_product_attention: expected (*, h, L, d) and (*, heads, S, d) with enable_gqa, "
    "got query of shape (4, 8) and key of shape (5, 8)": lambda: attend(q[0, 0], k[0, 0], v[0, 0], enable_gqa=True),
    # masks that would broadcast the wrong way
    "scaled_dot_product_attention: expected attn_mask to have an axis for query and one for key, got (5,)": lambda: (
        attend(q, k, v, mask(5))
    ),
    "scaled_dot_product_attention: expected attn_mask to have an axis for query and one for key, got ()": lambda: (
        attend(q, k, v, mask())
    ),
    "scaled_dot_product_attention: expected attn_mask to broadcast to (2, 3, 4, 5), got shape (5, 4)": lambda: attend(
        q, k, v, mask(5, 4)
    ),
    "scaled_dot_product_attention: expected attn_mask to broadcast to (2, 3, 4, 5), got shape (2, 4, 5)": lambda: (
        attend(q, k, v, mask(2, 4, 5))
    ),
    "scaled_dot_product_attention: expected attn_mask to broadcast to (2, 3, 4, 5), got shape (2, 5)": lambda: attend(
        q, k, v, mask(2, 5)
    ),
    "scaled_dot_product_attention: expected attn_mask to broadcast to (2, 3, 4, 5), "
    "got shape (1, 2, 3, 4, 5)": lambda: attend(q, k, v, mask(1, 2, 3, 4, 5)),
    "scaled_dot_product_attention: expected attn_mask to broadcast to (1, 3, 4, 5), got shape (2, 1, 4, 5)": lambda: (
        attend(q[:1], k[:1], v, mask(2, 1, 4, 5))
    ),
    "scaled_dot_product_attention: expected attn_mask or is_causal, got both": lambda: attend(
        q, k, v, mask(4, 5), is_causal=True
    ),
    "scaled_dot_product_attention: expected dropout_p to be between 0 and 1, got 1.5": lambda: attend(
        q, k, v, dropout_p=1.5
    ),
    "scaled_dot_product_attention: expected dropout_p to be between 0 and 1, got -0.1": lambda: attend(
        q, k, v, dropout_p=-0.1
    ),
    "causal_mask: expected length to be at least 0, got -1": lambda: causal_mask(-1),
    "causal_mask: expected length x length to have at most 1073741824 elements, got 32769 x 32769": lambda: causal_mask(
        2**15 + 1
    ),
    # the Module's constructor
    "MultiheadAttention: expected num_heads to divide embed_dim 6, got 4": lambda: MultiheadAttention(6, 4),
    "MultiheadAttention: expected num_heads to be at least 1, got 0": lambda: MultiheadAttention(6, 0),
    "MultiheadAttention: expected embed_dim to be at least 1, got 0": lambda: MultiheadAttention(0, 1),
    "MultiheadAttention: expected kdim to be at least 1, got 0": lambda: MultiheadAttention(6, 2, kdim=0),
    "MultiheadAttention: expected vdim to be at least 1, got -1": lambda: MultiheadAttention(6, 2, vdim=-1),
    "MultiheadAttention: expected dropout to be between 0 and 1, got 1.1": lambda: MultiheadAttention(6, 2, 1.1),
    "MultiheadAttention: expected batch_first to be True, that is (N, L, d), got False": lambda: MultiheadAttention(
        6, 2, batch_first=False
    ),
    "MultiheadAttention: expected add_bias_kv and add_zero_attn to be False, got True": lambda: MultiheadAttention(
        6, 2, add_bias_kv=True
    ),
    # its inputs
    "MultiheadAttention: expected query to have shape (N, L, 6) or (L, 6), got (2, 4, 5)": lambda: layer(
        x[..., :5], memory, memory
    ),
    "MultiheadAttention: expected query to have shape (N, L, 6) or (L, 6), got (6,)": lambda: layer(x[0, 0], x, x),
    "MultiheadAttention: expected query to have shape (N, L, 6) or (L, 6), got (1, 2, 4, 6)": lambda: layer(
        x[None], x, x
    ),
    "MultiheadAttention: expected key to have as many axes as query, got (4, 6) for query of shape (2, 4, 6)": lambda: (
        layer(x, x[0], x[0])
    ),
    "MultiheadAttention: expected key to have as many axes as query, got (2, 4, 6) for query of shape (4, 6)": lambda: (
        layer(x[0], x, x)
    ),
    "MultiheadAttention: expected key to have shape (2, 5, 6), got (1, 5, 6)": lambda: layer(x, memory[:1], memory[:1]),
    "MultiheadAttention: expected key to have shape (2, 5, 6), got (2, 5, 1)": lambda: layer(
        x, memory[..., :1], memory
    ),
    "MultiheadAttention: expected value to have shape (2, 5, 6), got (2, 4, 6)": lambda: layer(x, memory, x),
    "MultiheadAttention: expected value to have shape (2, 5, 6), got (5, 6)": lambda: layer(x, memory, memory[0]),
    "MultiheadAttention: expected key to have shape (2, 5, 3), got (2, 5, 6)": lambda: MultiheadAttention(6, 2, kdim=3)(
        x, memory, memory
    ),
    # its masks
    "MultiheadAttention: expected attn_mask to have shape (4, 5) or (4, 4, 5), got (5, 4)": lambda: layer(
        x, memory, memory, attn_mask=mask(5, 4)
    ),
    "MultiheadAttention: expected attn_mask to have shape (4, 5) or (4, 4, 5), got (1, 5)": lambda: layer(
        x, memory, memory, attn_mask=mask(1, 5)
    ),
    "MultiheadAttention: expected attn_mask to have shape (4, 5) or (4, 4, 5), got (2, 4, 5)": lambda: layer(
        x, memory, memory, attn_mask=mask(2, 4, 5)
    ),
    "MultiheadAttention: expected attn_mask to have shape (4, 5) or (2, 4, 5), got (4, 4, 5)": lambda: layer(
        x[0], memory[0], memory[0], attn_mask=mask(4, 4, 5)
    ),
    "MultiheadAttention: expected key_padding_mask to have shape (2, 5), got (2, 4)": lambda: layer(
        x, memory, memory, mask(2, 4)
    ),
    "MultiheadAttention: expected key_padding_mask to have shape (2, 5), got (5,)": lambda: layer(
        x, memory, memory, mask(5)
    ),
    "MultiheadAttention: expected key_padding_mask to have shape (2, 5), got (1, 5)": lambda: layer(
        x, memory, memory, mask(1, 5)
    ),
    "MultiheadAttention: expected key_padding_mask to have shape (5,), got (2, 5)": lambda: layer(
        x[0], memory[0], memory[0], mask(2, 5)
    ),
    "MultiheadAttention: expected attn_mask with is_causal, which only describes it, got None": lambda: layer(
        x, x, x, is_causal=True
    ),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert str(caught.value) == message


integers = mask(4, 5, dtype=torch.int64)
WRONG_TYPES = {
    "scaled_dot_product_attention: expected query to be a tensor, got list [1.0]": lambda: attend([1.0], k, v),
    "scaled_dot_product_attention: expected key to be a tensor, got NoneType": lambda: attend(q, None, v),
    "scaled_dot_product_attention: expected query to have a floating point dtype, got torch.int64": lambda: attend(
        q.long(), k, v
    ),
    "scaled_dot_product_attention: expected value to have a floating point dtype, got torch.int32": lambda: attend(
        q, k, v.int()
    ),
    "scaled_dot_product_attention: expected key to have a floating point dtype, got torch.bool": lambda: attend(
        q, k.bool(), v
    ),
    "scaled_dot_product_attention: expected query to have a floating point dtype, got torch.complex64": lambda: attend(
        q.to(torch.complex64), k, v
    ),
    "scaled_dot_product_attention: expected query, key and value of one dtype, "
    "got torch.float16, torch.float32 and torch.float32": lambda: attend(q.half(), k, v),
    "scaled_dot_product_attention: expected query, key and value of one dtype, "
    "got torch.float32, torch.float32 and torch.float64": lambda: attend(q, k, v.double()),
    # 1 could mean "takes part" or "is padding": only a boolean or a number to add is clear
    "scaled_dot_product_attention: expected attn_mask to be boolean or floating point, got torch.int64": lambda: attend(
        q, k, v, integers
    ),
    "scaled_dot_product_attention: expected attn_mask to be boolean or floating point, got torch.uint8": lambda: attend(
        q, k, v, integers.to(torch.uint8)
    ),
    "scaled_dot_product_attention: expected attn_mask to be a tensor, got list [[True]]": lambda: attend(
        q, k, v, [[True]]
    ),
    "MultiheadAttention: expected attn_mask to be boolean or floating point, got torch.int64": lambda: layer(
        x, memory, memory, attn_mask=integers
    ),
    "MultiheadAttention: expected key_padding_mask to be boolean or floating point, got torch.int64": lambda: layer(
        x, memory, memory, integers[:2]
    ),
    "MultiheadAttention: expected key_padding_mask to be a tensor, got bool True": lambda: layer(
        x, memory, memory, True
    ),
    "MultiheadAttention: expected query to be a tensor, got NoneType": lambda: layer(None, x, x),
    "MultiheadAttention: expected value to have a floating point dtype, got torch.int64": lambda: layer(x, x, x.long()),
    "MultiheadAttention: expected num_heads to be an integer, got float 2.0": lambda: MultiheadAttention(6, 2.0),
    "MultiheadAttention: expected dropout to be a number, got str '0.1'": lambda: MultiheadAttention(6, 2, "0.1"),
    "causal_mask: expected length to be an integer, got float 3.0": lambda: causal_mask(3.0),
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_type_error_messages(message):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[message]()
    assert str(caught.value) == message


@pytest.mark.parametrize("shape", [(4, 5), (1, 5), (4, 1), (1, 1), (3, 1, 1), (1, 3, 4, 5), (2, 1, 1, 5)], ids=str)
def test_masks_that_broadcast_are_accepted(shape):
    for dtype in (torch.bool, torch.float32):
        assert attend(q, k, v, mask(*shape, dtype=dtype)).shape == (2, 3, 4, 6)


def test_mask_may_have_the_batch_of_key_if_query_has_one_sequence():
    assert (
        attend(q[:1], k, v, mask(2, 1, 4, 5)).shape == attend(q, k[:1], v[:1], mask(2, 1, 4, 5)).shape == (2, 3, 4, 6)
    )


@pytest.mark.parametrize("option", ["add_bias_kv", "add_zero_attn"])
def test_multihead_attention_refuses_options_that_it_lacks(option):
    with pytest.raises(ValueError) as caught:
        MultiheadAttention(6, 2, **{option: True})
    assert str(caught.value) == "MultiheadAttention: expected add_bias_kv and add_zero_attn to be False, got True"
