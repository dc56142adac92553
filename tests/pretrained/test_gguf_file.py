"""GGUF files written byte by byte from the format's specification."""

import random
import struct

import pytest
import torch

from blocklab_course.pretrained.gguf_file import GgufFile

U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, LIST, U64, I64, F64 = range(13)
OF_F32, OF_Q4_1, OF_Q8_0, OF_Q4_K = 0, 3, 8, 12


def text(characters):
    data = characters.encode()
    return struct.pack("<Q", len(data)) + data


def gguf(metadata=(), tensors=(), *, magic=b"GGUF", version=3, alignment=32):
    """metadata: (name, type, bytes of the value); tensors: (name, reversed shape, type, data)."""
    head = magic + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for name, kind, value in metadata:
        head += text(name) + struct.pack("<I", kind) + value
    numbers = b""
    for name, axes, kind, data in tensors:
        numbers += bytes(-len(numbers) % alignment)
        head += text(name) + struct.pack(f"<I{len(axes)}QIQ", len(axes), *axes, kind, len(numbers))
        numbers += data
    return head + bytes(-len(head) % alignment) + numbers


@pytest.fixture
def opened(tmp_path):
    def write_and_open(data):
        (tmp_path / "model.gguf").write_bytes(data)
        return GgufFile(tmp_path / "model.gguf")

    return write_and_open


# Metadata


def test_metadata_of_every_type(opened):
    numbers = [
        *[(U8, "B", 200), (I8, "b", -5), (U16, "H", 60000), (I16, "h", -300), (U32, "I", 4_000_000_000)],
        *[(I32, "i", -70000), (F32, "f", 1.5), (BOOL, "?", True), (U64, "Q", 2**63), (I64, "q", -(2**62))],
        (F64, "d", 0.1),
    ]
    metadata = [(f"number.{kind}", kind, struct.pack(f"<{letter}", value)) for kind, letter, value in numbers]
    metadata += [
        ("name", TEXT, text("层 norm")),
        ("ones", LIST, struct.pack("<IQ3h", I16, 3, 1, 1, -1)),
        ("words", LIST, struct.pack("<IQ", TEXT, 2) + text("") + text("Ġthe")),
        ("lists", LIST, struct.pack("<IQ", LIST, 2) + struct.pack("<IQ2B", U8, 2, 7, 8) + struct.pack("<IQ", TEXT, 0)),
    ]
    expected = {f"number.{kind}": value for kind, _, value in numbers}
    expected |= {"name": "层 norm", "ones": [1, 1, -1], "words": ["", "Ġthe"], "lists": [[7, 8], []]}
    file = opened(gguf(metadata))
    assert file.metadata == expected
    assert file.metadata[f"number.{BOOL}"] is True
    assert file.infos == {}


# Tensors


def halves(draw):
    return struct.pack("<e", draw.gauss(0, 0.1))


def blocks_of_4_bits(draw, count):
    return b"".join(halves(draw) + halves(draw) + draw.randbytes(16) for _ in range(count))


def blocks_of_8_bits(draw, count):
    return b"".join(halves(draw) + draw.randbytes(32) for _ in range(count))


def read_4_bits(data):
    """Decode one number at a time, in float64."""
    for start in range(0, len(data), 20):
        scale, least = struct.unpack_from("<ee", data, start)
        steps = data[start + 4 : start + 20]
        yield from (scale * (step % 16) + least for step in steps)
        yield from (scale * (step // 16) + least for step in steps)


def read_8_bits(data):
    for start in range(0, len(data), 34):
        scale, *steps = struct.unpack_from("<e32b", data, start)
        yield from (scale * step for step in steps)


@pytest.mark.parametrize("alignment", [32, 8])
def test_tensors_match_definition(opened, alignment):
    draw = random.Random(0)
    four, eight = blocks_of_4_bits(draw, 6), blocks_of_8_bits(draw, 8)
    tensors = [
        ("norm", (3,), OF_F32, struct.pack("<3f", 0.1, -2.5, 1e-30)),
        ("four", (64, 3), OF_Q4_1, four),
        ("eight", (32, 2, 4), OF_Q8_0, eight),
        ("plain", (2, 3), OF_F32, struct.pack("<6f", *range(6))),
    ]
    file = opened(gguf([("general.alignment", U32, struct.pack("<I", alignment))], tensors, alignment=alignment))
    assert {name: info.shape for name, info in file.infos.items()} == {
        "norm": (3,),
        "four": (3, 64),
        "eight": (4, 2, 32),
        "plain": (3, 2),
    }
    expected = {
        "norm": torch.tensor([0.1, -2.5, 1e-30]),
        "four": torch.tensor(list(read_4_bits(four)), dtype=torch.float64).reshape(3, 64),
        "eight": torch.tensor(list(read_8_bits(eight)), dtype=torch.float64).reshape(4, 2, 32),
        "plain": torch.arange(6.0).reshape(3, 2),
    }
    tensors = file.tensors()
    assert tensors.keys() == expected.keys()
    for name, numbers in expected.items():
        assert torch.equal(tensors[name], numbers.float())  # rounded once: a step times the scale fits in float32


@pytest.mark.parametrize(
    ("rows", "columns", "strides"), [(600, 64, (1, 600)), (64, 64, (1, 64)), (64, 96, (96, 1)), (64, 48, (48, 1))]
)
def test_matrix_is_laid_out_along_its_longer_axis(rows, columns, strides, opened):
    data = blocks_of_8_bits(random.Random(0), rows * columns // 32)
    file = opened(gguf(tensors=[("matrix", (columns, rows), OF_Q8_0, data)]))
    x = file.tensors()["matrix"]
    assert (tuple(x.shape), x.stride()) == ((rows, columns), strides)
    assert torch.equal(x, torch.tensor(list(read_8_bits(data)), dtype=torch.float64).view(rows, columns).float())


def test_matrix_with_rows_smaller_than_blocks_is_row_major(opened):
    file = opened(gguf(tensors=[("matrix", (16, 64), OF_Q8_0, blocks_of_8_bits(random.Random(0), 32))]))
    assert file.tensors()["matrix"].stride() == (16, 1)


def test_first_and_last_number_of_a_block(opened):
    """The lowest and highest steps, worked out by hand."""
    four = struct.pack("<ee16B", 0.5, -1.0, 0xF0, *[0] * 14, 0x2F)
    eight = struct.pack("<e32b", 0.25, -128, *[0] * 30, 127)
    file = opened(gguf(tensors=[("four", (32,), OF_Q4_1, four), ("eight", (32,), OF_Q8_0, eight)]))
    x = file.tensors()["four"]
    assert [x[0], x[1], x[15], x[16], x[17], x[31]] == [-1.0, -1.0, 6.5, 6.5, -1.0, 0.0]
    assert file.tensors()["eight"][[0, 1, 31]].tolist() == [-32.0, 0.0, 31.75]


# Errors

WHOLE = gguf(
    [("name", TEXT, text("x")), ("ones", LIST, struct.pack("<IQ2I", U32, 2, 1, 1))],
    [
        ("norm", (3,), OF_F32, struct.pack("<3f", 1, 2, 3)),
        ("eight", (32,), OF_Q8_0, struct.pack("<e32b", 1, *[0] * 32)),
    ],
)


def test_truncated_file_is_reported_wherever_it_is_cut(opened):
    assert len(opened(WHOLE).infos) == 2
    for size in range(4, len(WHOLE)):
        with pytest.raises(ValueError, match=rf"at least \d+ bytes, got {size} \(is the file truncated\?\) in "):
            opened(WHOLE[:size])


UNREADABLE = {
    "empty": (b"", "a GGUF file, got one that begins with b'' in "),
    "archive": (b"PK\x03\x04 and more", r"a GGUF file, got one that begins with b'PK\\x03\\x04' in .*model.gguf"),
    "version": (gguf(version=2), "GGUF version 3, got version 2 in "),
    "tensor type": (gguf(tensors=[("w", (256,), OF_Q4_K, bytes(144))]), "F32, Q4_1, Q8_0, got w of type Q4_K in "),
    "metadata type": (gguf([("odd", 13, bytes(8))]), "metadata of type 0 to 12, got type 13 in "),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_unreadable_file_is_reported(opened, what):
    data, message = UNREADABLE[what]
    with pytest.raises(ValueError, match=f"^GgufFile: expected .*{message}"):
        opened(data)
