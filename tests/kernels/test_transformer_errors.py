"""Error messages of EncoderLayer and DecoderLayer."""

import pytest
import torch

from blocklab.transformer import DecoderLayer, EncoderLayer

x, memory = torch.ones(2, 5, 6), torch.ones(2, 4, 6)
encoder, decoder = EncoderLayer(6, 3, 7), DecoderLayer(6, 3, 7)
boolean = {shape: torch.zeros(shape, dtype=torch.bool) for shape in [(5, 5), (4, 5), (5, 4), (2, 5), (2, 4), (1, 5)]}

WRONG_VALUES = {
    "EncoderLayer: expected nhead to divide d_model 6, got 4": lambda: EncoderLayer(6, 4),
    "DecoderLayer: expected nhead to divide d_model 6, got 4": lambda: DecoderLayer(6, 4),
    "EncoderLayer: expected nhead to be at least 1, got 0": lambda: EncoderLayer(6, 0),
    "EncoderLayer: expected d_model to be at least 1, got 0": lambda: EncoderLayer(0, 1),
    "DecoderLayer: expected dim_feedforward to be at least 1, got 0": lambda: DecoderLayer(6, 3, 0),
    "EncoderLayer: expected batch_first to be True, that is (N, L, d_model), got False": lambda: EncoderLayer(
        6, 3, batch_first=False
    ),
    "DecoderLayer: expected batch_first to be True, that is (N, L, d_model), got False": lambda: DecoderLayer(
        6, 3, batch_first=False
    ),
    "EncoderLayer: expected activation to be one of relu, gelu or a function, got 'tanh'": lambda: EncoderLayer(
        6, 3, activation="tanh"
    ),
    "DecoderLayer: expected activation to be one of relu, gelu or a function, got 'swish'": lambda: DecoderLayer(
        6, 3, activation="swish"
    ),
    "EncoderLayer: expected dropout to be between 0 and 1, got 1.5": lambda: EncoderLayer(6, 3, dropout=1.5),
    "DecoderLayer: expected layer_norm_eps to be at least 0, got -0.1": lambda: DecoderLayer(6, 3, layer_norm_eps=-0.1),
    # inputs
    "EncoderLayer: expected src to have shape (N, L, 6) or (L, 6), got (2, 5, 5)": lambda: encoder(x[..., :5]),
    "EncoderLayer: expected src to have shape (N, L, 6) or (L, 6), got (6,)": lambda: encoder(x[0, 0]),
    "EncoderLayer: expected src to have shape (N, L, 6) or (L, 6), got (1, 2, 5, 6)": lambda: encoder(x[None]),
    "DecoderLayer: expected tgt to have shape (N, L, 6) or (L, 6), got (2, 5, 1)": lambda: decoder(x[..., :1], memory),
    "DecoderLayer: expected memory to have shape (N, L, 6) or (L, 6), got (2, 4, 5)": lambda: decoder(
        x, memory[..., :5]
    ),
    "DecoderLayer: expected memory to have shape (2, S, 6), got (1, 4, 6)": lambda: decoder(x, memory[:1]),
    "DecoderLayer: expected memory to have shape (2, S, 6), got (4, 6)": lambda: decoder(x, memory[0]),
    # masks, in self-attention and in attention to the memory
    "EncoderLayer: expected src_mask to have shape (5, 5) or (6, 5, 5), got (4, 5)": lambda: encoder(x, boolean[4, 5]),
    "DecoderLayer: expected tgt_mask to have shape (5, 5) or (6, 5, 5), got (1, 5)": lambda: decoder(
        x, memory, boolean[1, 5]
    ),
    "DecoderLayer: expected memory_mask to have shape (5, 4) or (6, 5, 4), got (5, 5)": lambda: decoder(
        x, memory, None, boolean[5, 5]
    ),
    "EncoderLayer: expected src_key_padding_mask to have shape (2, 5), got (1, 5)": lambda: encoder(
        x, src_key_padding_mask=boolean[1, 5]
    ),
    "DecoderLayer: expected tgt_key_padding_mask to have shape (2, 5), got (2, 4)": lambda: decoder(
        x, memory, tgt_key_padding_mask=boolean[2, 4]
    ),
    "DecoderLayer: expected memory_key_padding_mask to have shape (2, 4), got (2, 5)": lambda: decoder(
        x, memory, memory_key_padding_mask=boolean[2, 5]
    ),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert str(caught.value) == message
