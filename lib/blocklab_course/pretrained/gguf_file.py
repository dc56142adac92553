"""A reader of GGUF, the file format of llama.cpp: metadata, a table of tensors, then their data.

It reads three tensor types: F32, and two that quantize blocks of 32 numbers.

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
STRUCT_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
TYPES = (  # by number; those from 16 on are rare
    *("F32", "F16", "Q4_0", "Q4_1", "Q4_2", "Q4_3", "Q5_0", "Q5_1"),
    *("Q8_0", "Q8_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_K"),
)
BLOCKS = {  # the numbers in a block, and its layout
    "F32": (1, np.dtype("<f4")),
    "Q4_1": (32, np.dtype([("scale", "<f2"), ("least", "<f2"), ("steps", "u1", 16)])),
    "Q8_0": (32, np.dtype([("scale", "<f2"), ("steps", "i1", 32)])),
}
ROWS_PER_CHUNK = 256  # of a column-major matrix, so that a chunk fits into the processor's cache


class TensorInfo(NamedTuple):
    """A line of the table. offset: in bytes, from the start of the first tensor's data."""

    shape: tuple[int, ...]
    type: str
    offset: int


class GgufFile:
    """The metadata of a file, and its tensors in float32.

    Raises ValueError for a file that is not GGUF version 3, is truncated, or has a tensor of another type.
    """

    def __init__(self, path: Path):
        self.path, self._position = path, 4
        with path.open("rb") as file:
            if (magic := file.read(4)) != b"GGUF":
                raise self._error("a GGUF file", f"one that begins with {magic!r}")
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if (version := self._unpack("I")[0]) != VERSION:
            raise self._error(f"GGUF version {VERSION}", f"version {version}")
        tensor_count, metadata_count = self._unpack("QQ")
        self.metadata: dict[str, Any] = {self._string(): self._value(*self._unpack("I")) for _ in range(metadata_count)}
        self.infos: dict[str, TensorInfo] = {self._string(): self._tensor_info() for _ in range(tensor_count)}
        alignment = self.metadata.get("general.alignment", ALIGNMENT)
        self._data_start = math.ceil(self._position / alignment) * alignment
        for name in self.infos:
            self._check_tensor(name)  # before reading any: a damaged file fails at once

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name, in one allocation: the system may not get small ones back."""
        sizes = [math.prod(info.shape) for info in self.infos.values()]
        pieces = zip(self.infos.items(), torch.empty(sum(sizes)).split(sizes), strict=True)
        return {name: self._read(name, _as_matrix(piece, info)) for (name, info), piece in pieces}

    def _read(self, name: str, x: Tensor) -> Tensor:
        """Decode a tensor into `x`, in place to save memory."""
        kind, blocks = self.infos[name].type, self._read_blocks(name)
        if x.is_contiguous():
            return _decode(kind, blocks, x)
        blocks_per_row = len(blocks) // len(x)
        for start in range(0, len(x), ROWS_PER_CHUNK):
            rows = x[start : start + ROWS_PER_CHUNK]
            chunk = blocks[start * blocks_per_row :][: len(rows) * blocks_per_row]
            rows.copy_(_decode(kind, chunk, torch.empty(rows.shape)))
        return x

    def _read_blocks(self, name: str) -> np.ndarray:
        """A tensor's data. Read instead of mapped: mapped pages would count as memory of this process."""
        shape, kind, offset = self.infos[name]
        length, block = BLOCKS[kind]
        return np.fromfile(self.path, block, math.prod(shape) // length, offset=self._data_start + offset)

    def _check_tensor(self, name: str) -> None:
        """Raise an error for an unsupported type, or for a tensor beyond the end of the file."""
        shape, kind, offset = self.infos[name]
        if kind not in BLOCKS:
            raise self._error(f"tensors of type {', '.join(BLOCKS)}", f"{name} of type {kind}")
        length, block = BLOCKS[kind]
        self._check_size(self._data_start + offset + math.prod(shape) // length * block.itemsize)

    # Read what comes next in the file

    def _tensor_info(self) -> TensorInfo:
        reversed_shape = self._unpack("Q", *self._unpack("I"))
        kind, offset = self._unpack("IQ")
        return TensorInfo(reversed_shape[::-1], TYPES[kind] if kind < len(TYPES) else f"number {kind}", offset)

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._string()
        if kind == ARRAY:
            kind, count = self._unpack("IQ")
            if kind in STRUCT_FORMATS:
                return list(self._unpack(STRUCT_FORMATS[kind], count))
            return [self._value(kind) for _ in range(count)]
        if kind not in STRUCT_FORMATS:
            raise self._error(f"metadata of type 0 to {max(STRUCT_FORMATS)}", f"type {kind}")
        return self._unpack(STRUCT_FORMATS[kind])[0]

    def _string(self) -> str:
        start = self._advance(*self._unpack("Q"))
        return self._bytes[start : self._position].decode()

    def _unpack(self, formats: str, times: int = 1) -> tuple:
        start = self._advance(times * struct.calcsize(f"<{formats}"))
        return struct.unpack_from(f"<{times * formats}", self._bytes, start)

    def _advance(self, size: int) -> int:
        start, self._position = self._position, self._position + size
        self._check_size(self._position)
        return start

    def _check_size(self, size: int) -> None:
        if size > len(self._bytes):
            raise self._error(f"at least {size} bytes", f"{len(self._bytes)} (is the file truncated?)")

    def _error(self, expected: str, got: str) -> ValueError:
        return ValueError(f"GgufFile: expected {expected}, got {got} in {self.path}")


def _as_matrix(numbers: Tensor, info: TensorInfo) -> Tensor:
    """View memory in a tensor's shape; a matrix is laid out along its longer axis.

    A row vector times the matrix, all that one new token needs, then takes as little as half the time.
    """
    length = BLOCKS[info.type][0]
    column_major = len(info.shape) == 2 and info.shape[0] >= info.shape[1] and info.shape[1] % length == 0
    return numbers.view(info.shape[::-1]).T if column_major else numbers.view(info.shape)


def _decode(kind: str, blocks: np.ndarray, x: Tensor) -> Tensor:
    """Write the numbers of blocks into `x`, which has room for exactly these."""
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
