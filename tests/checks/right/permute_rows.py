import torch
from torch import nn


def unflattened(weight, num_heads):
    return weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def of_hugging_face(w, n_heads):
    """`permute` of transformers/models/llama/convert_llama_weights_to_hf.py."""
    dim1, dim2 = w.shape
    return w.view(n_heads, dim1 // n_heads // 2, 2, dim2).transpose(1, 2).reshape(dim1, dim2)


def by_order(weight, num_heads):
    d = len(weight) // num_heads
    order = torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])
    return weight[(d * torch.arange(num_heads)[:, None] + order).flatten()]


def by_slices(weight, num_heads):
    heads = weight.chunk(num_heads)
    return torch.cat([part for head in heads for part in (head[0::2], head[1::2])])


def stacked(weight, num_heads):
    heads = weight.reshape(num_heads, -1, weight.shape[1])
    return torch.cat([heads[:, 0::2], heads[:, 1::2]], 1).reshape(weight.shape)


def by_a_matrix(weight, num_heads):
    d = len(weight) // num_heads
    one = torch.eye(d, dtype=weight.dtype)[[*range(0, d, 2), *range(1, d, 2)]]
    return torch.block_diag(*[one] * num_heads) @ weight


def row_by_row(weight, num_heads):
    d = len(weight) // num_heads
    places = [h * d + 2 * i + member for h in range(num_heads) for member in (0, 1) for i in range(d // 2)]
    return weight[places]


class Permutation(nn.Module):
    def forward(self, weight, num_heads):
        return stacked(weight, num_heads)


RIGHT = {
    "permute_rows": {
        "unflattened": unflattened,
        "of Hugging Face": of_hugging_face,
        "by order": by_order,
        "stacked": stacked,
        "by slices": by_slices,
        "by a matrix": by_a_matrix,
        "a Module": Permutation(),
        "compiled": torch.compile(unflattened, backend="eager"),
    },
}
ADVISED = {"permute_rows": {"row by row": (row_by_row, ("slow",))}}
