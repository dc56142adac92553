"""From the weight names in the models' files to blocklab's."""

import re
from collections.abc import Mapping

from torch import Tensor

BERT = {
    "embeddings.word_embeddings": "words",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "types",
    "embeddings.LayerNorm": "embedding_norm",
    "encoder.layer": "layers",
    "attention.output.dense": "self_attn.out_proj",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "linear1",
    "output.dense": "linear2",
    "output.LayerNorm": "norm2",
}
GLASSLLM = {
    "E": "tokens.weight",
    "gamma": "weight",
    "norm_f": "norm",
    "attn.W_Q": "query.weight",
    "attn.W_K": "key.weight",
    "attn.W_V": "value.weight",
    "attn.W_O": "out.weight",
    "ffn.W1": "feed_forward.w1.weight",
    "ffn.W2": "feed_forward.w2.weight",
    "ffn.W3": "feed_forward.w3.weight",
}
SMOLLM2 = {"blk": "layers", "attn_norm": "norm1", "ffn_norm": "norm2", "output_norm": "norm"}
GGUF = SMOLLM2 | {
    "blk": "blocks",
    "token_embd": "tokens",
    "attn_q": "query",
    "attn_k": "key",
    "attn_v": "value",
    "attn_output": "out",
    "ffn_gate": "feed_forward.w1",
    "ffn_down": "feed_forward.w2",
    "ffn_up": "feed_forward.w3",
}


def rename_weights(tensors: Mapping[str, Tensor], names: Mapping[str, str]) -> dict[str, Tensor]:
    """Replace the parts of dotted names that are in `names`, and sort from the first layer up."""
    known = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)")
    renamed = {known.sub(lambda match: names[match[1]], name): tensor for name, tensor in tensors.items()}
    return dict(sorted(renamed.items(), key=lambda item: _sort_key(item[0])))


def _sort_key(name: str) -> list[tuple[int, str]]:
    """A key that puts layer 10 after layer 9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in name.split(".")]
