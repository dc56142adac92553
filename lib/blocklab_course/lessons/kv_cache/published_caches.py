"""What published models keep of a token: their heads, layers and windows, and the bytes that come of it."""

from dataclasses import dataclass

from blocklab_course.tables import read_table

BYTES_EACH = 2  # bfloat16
LATENT = 512 + 64  # what DeepSeek-V3 keeps in each layer, for all heads together
MOST_SHARED = 8  # heads of keys and values, where a model is given groups that it does not have


@dataclass(frozen=True)
class CachedModel:
    """A row of data/cache_bytes.csv. key_dim, head_dim: numbers of a head's key and of its value; latent: numbers a
    layer keeps of a token in place of them, or None; window: positions that `windowed_layers` of the layers keep at
    most, or None.
    """

    name: str
    layers: int
    heads: int
    kv_heads: int
    key_dim: int
    head_dim: int
    latent: int | None
    window: int | None
    windowed_layers: int

    def kept_heads(self, sharing: str) -> int:
        """The heads of keys and values under a key of `SHARINGS`; 1 for a latent, which all share."""
        groups = max(n for n in range(1, MOST_SHARED + 1) if self.heads % n == 0)
        built = 1 if self.latent else self.kv_heads
        return {"built": built, "MHA": self.heads, "GQA": groups, "MQA": 1, "MLA": 1}[sharing]

    def numbers(self, sharing: str) -> int:
        """How many numbers one layer keeps of one token."""
        if sharing == "MLA" or (sharing == "built" and self.latent):
            return LATENT
        return self.kept_heads(sharing) * (self.key_dim + self.head_dim)

    def bytes_a_token(self, sharing: str = "built") -> int:
        return self.layers * self.numbers(sharing) * BYTES_EACH

    def bytes_of(self, length: int, sharing: str = "built", window: bool = False) -> int:
        """The whole cache of a text of so many tokens; `window` lets the layers that have one drop what is older."""
        shorter = min(length, self.window) if window and self.window else length
        positions = self.windowed_layers * shorter + (self.layers - self.windowed_layers) * length
        return positions * self.numbers(sharing) * BYTES_EACH


SHARINGS = ("built", "MHA", "GQA", "MQA", "MLA")
"""How the queries' heads share what is kept: as the model was built, or as if it had been built so."""


def cached_models() -> list[CachedModel]:
    """All rows, in the order of the table: by the number of parameters."""
    return [
        CachedModel(
            row["model"],
            *(int(row[name]) for name in ("layers", "heads", "kv_heads", "key_dim", "head_dim")),
            int(row["latent"]) if row["latent"] else None,
            int(row["window"]) if row["window"] else None,
            int(row["windowed_layers"] or 0),
        )
        for row in read_table("cache_bytes")
    ]
