"""GGUF, the file format of llama.cpp: facts about a model, a table of its tensors, then their numbers.

Three kinds of numbers are read: F32, and two kinds of blocks of 32 that are rounded to steps of their own.

    Q4_1    x = scale * step + least,   step 0 to 15, two in a byte: x[i] low in byte i, x[16 + i] high
    Q8_0    x = scale * step,           step -128 to 127

Source: ggml-org/ggml, docs/gguf.md and src/ggml-quants.c
"""

import math
import mmap
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

VERSION, ALIGNMENT = 3, 32
STRUCT_FORMATS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}  # for `struct`
STRING, ARRAY = 8, 9
TYPES = (  # in the order of their numbers; those from 16 on are rare
    *("F32", "F16", "Q4_0", "Q4_1", "Q4_2", "Q4_3", "Q5_0", "Q5_1"),
    *("Q8_0", "Q8_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_K"),
)
BLOCKS = {  # how many numbers a block holds, and what it looks like
    "F32": (1, np.dtype("<f4")),
    "Q4_1": (32, np.dtype([("scale", "<f2"), ("least", "<f2"), ("steps", "u1", 16)])),
    "Q8_0": (32, np.dtype([("scale", "<f2"), ("steps", "i1", 32)])),
}
ROWS_PER_CHUNK = 256  # that are read at once of a matrix that lies by columns: the processor's cache holds them


class TensorInfo(NamedTuple):
    """A line of the table. start: in bytes, from where the numbers of the first tensor begin."""

    shape: tuple[int, ...]
    type: str
    start: int


def _along_the_longer_axis(numbers: Tensor, entry: TensorInfo) -> Tensor:
    """The same memory in a tensor's shape; the numbers of a matrix lie side by side along its longer axis.

    So one row times the matrix, which is all that a new token asks for, reads it up to twice as fast.
    """
    length = BLOCKS[entry.type][0]
    by_columns = len(entry.shape) == 2 and entry.shape[0] >= entry.shape[1] and entry.shape[1] % length == 0
    return numbers.view(entry.shape[::-1]).T if by_columns else numbers.view(entry.shape)


def _decode(kind: str, blocks: np.ndarray, x: Tensor) -> Tensor:
    """Write the numbers of blocks into `x`, which they fill."""
    y = x.view(len(blocks), BLOCKS[kind][0]).numpy()
    if kind == "F32":
        y[:, 0] = blocks
        return x
    steps = blocks["steps"]
    if kind == "Q4_1":
        y[:, :16], y[:, 16:] = steps & 15, steps >> 4
    else:
        y[:] = steps
    y *= blocks["scale"].astype(np.float32)[:, None]
    if kind == "Q4_1":
        y += blocks["least"].astype(np.float32)[:, None]
    return x


class GgufFile:
    """The facts of a file, and its tensors, in float32, by the names in `entries`.

    Raises ValueError for a file that is no GGUF, of another version, cut off, or with a tensor of another type.
    """

    def __init__(self, path: Path):
        self.path, self._at = path, 4
        with path.open("rb") as file:
            if (magic := file.read(4)) != b"GGUF":
                raise self._refused("a file that begins with b'GGUF'", repr(magic))
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if (version := self._numbers("I")[0]) != VERSION:
            raise self._refused(f"version {VERSION}", f"version {version}")
        tensors, facts = self._numbers("QQ")
        self.metadata: dict[str, Any] = {self._text(): self._value(*self._numbers("I")) for _ in range(facts)}
        self.entries: dict[str, TensorInfo] = {self._text(): self._entry() for _ in range(tensors)}
        alignment = self.metadata.get("general.alignment", ALIGNMENT)
        self._first = math.ceil(self._at / alignment) * alignment
        for name in self.entries:
            self._check_blocks(name)  # a file that cannot be read to its end is refused at once

    def tensors(self) -> dict[str, Tensor]:
        """All of them, in one piece of memory, which the system gets back with the last: of small ones it may not."""
        sizes = [math.prod(entry.shape) for entry in self.entries.values()]
        pieces = zip(self.entries.items(), torch.empty(sum(sizes)).split(sizes), strict=True)
        return {name: self._read(name, _along_the_longer_axis(piece, entry)) for (name, entry), piece in pieces}

    def tensor(self, name: str) -> Tensor:
        return self._read(name, torch.empty(self.entries[name].shape))

    def _read(self, name: str, x: Tensor) -> Tensor:
        """Write a tensor's numbers into `x`, where they stand in the end: they are many."""
        kind, blocks = self.entries[name].type, self._blocks(name)
        if x.is_contiguous():
            return _decode(kind, blocks, x)
        each = len(blocks) // len(x)
        for start in range(0, len(x), ROWS_PER_CHUNK):
            rows = x[start : start + ROWS_PER_CHUNK]
            rows.copy_(_decode(kind, blocks[start * each :][: len(rows) * each], torch.empty(rows.shape)))
        return x

    def _blocks(self, name: str) -> np.ndarray:
        """What stands in the file for a tensor. Read, not mapped: mapped pages would count as this program's memory."""
        shape, kind, start = self.entries[name]
        length, block = BLOCKS[kind]
        return np.fromfile(self.path, block, math.prod(shape) // length, offset=self._first + start)

    def _check_blocks(self, name: str) -> None:
        """Refuse a tensor of another type, or one that ends behind the file."""
        shape, kind, start = self.entries[name]
        if kind not in BLOCKS:
            raise self._refused(f"tensors of the types {', '.join(BLOCKS)}", f"{name} of type {kind}")
        length, block = BLOCKS[kind]
        count, rest = divmod(math.prod(shape), length)
        if rest:
            raise self._refused(f"{name} of type {kind} in blocks of {length}", f"the shape {shape}")
        self._want(self._first + start + count * block.itemsize)

    # What comes next in the file

    def _entry(self) -> TensorInfo:
        sizes = self._numbers("Q", *self._numbers("I"))
        kind, start = self._numbers("IQ")
        return TensorInfo(sizes[::-1], TYPES[kind] if kind < len(TYPES) else f"number {kind}", start)

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._text()
        if kind == ARRAY:
            kind, count = self._numbers("IQ")
            if kind in STRUCT_FORMATS:
                return list(self._numbers(STRUCT_FORMATS[kind], count))
            return [self._value(kind) for _ in range(count)]
        if kind not in STRUCT_FORMATS:
            raise self._refused(f"facts of the kinds 0 to {max(STRUCT_FORMATS)}", f"kind {kind}")
        return self._numbers(STRUCT_FORMATS[kind])[0]

    def _text(self) -> str:
        start = self._skip(*self._numbers("Q"))
        return self._bytes[start : self._at].decode()

    def _numbers(self, letters: str, times: int = 1) -> tuple:
        start = self._skip(times * struct.calcsize(f"<{letters}"))
        return struct.unpack_from(f"<{times * letters}", self._bytes, start)

    def _skip(self, size: int) -> int:
        start, self._at = self._at, self._at + size
        self._want(self._at)
        return start

    def _want(self, size: int) -> None:
        if size > len(self._bytes):
            raise self._refused(f"at least {size} bytes", f"{len(self._bytes)}, as of a file that is cut off,")

    def _refused(self, wanted: str, got: str) -> ValueError:
        return ValueError(f"GgufFile wants {wanted}, got {got} in {self.path}")
