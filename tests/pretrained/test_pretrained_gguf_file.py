"""GGUF files made here by hand, byte by byte, as the format's description has them."""

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


def gguf(facts=(), tensors=(), *, magic=b"GGUF", version=3, alignment=32):
    """facts: (name, kind, the value's bytes); tensors: (name, axes from the fastest, type, data)."""
    head = magic + struct.pack("<IQQ", version, len(tensors), len(facts))
    for name, kind, value in facts:
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


# Facts


def test_a_fact_of_every_kind(opened):
    numbers = [
        *[(U8, "B", 200), (I8, "b", -5), (U16, "H", 60000), (I16, "h", -300), (U32, "I", 4_000_000_000)],
        *[(I32, "i", -70000), (F32, "f", 1.5), (BOOL, "?", True), (U64, "Q", 2**63), (I64, "q", -(2**62))],
        (F64, "d", 0.1),
    ]
    facts = [(f"number.{kind}", kind, struct.pack(f"<{letter}", value)) for kind, letter, value in numbers]
    facts += [
        ("name", TEXT, text("层 norm")),
        ("ones", LIST, struct.pack("<IQ3h", I16, 3, 1, 1, -1)),
        ("words", LIST, struct.pack("<IQ", TEXT, 2) + text("") + text("Ġthe")),
        ("lists", LIST, struct.pack("<IQ", LIST, 2) + struct.pack("<IQ2B", U8, 2, 7, 8) + struct.pack("<IQ", TEXT, 0)),
    ]
    expected = {f"number.{kind}": value for kind, _, value in numbers}
    expected |= {"name": "层 norm", "ones": [1, 1, -1], "words": ["", "Ġthe"], "lists": [[7, 8], []]}
    file = opened(gguf(facts))
    assert file.metadata == expected
    assert file.metadata[f"number.{BOOL}"] is True
    assert file.entries == {}


# Numbers


def halves(draw):
    return struct.pack("<e", draw.gauss(0, 0.1))


def blocks_of_4_bits(draw, count):
    return b"".join(halves(draw) + halves(draw) + draw.randbytes(16) for _ in range(count))


def blocks_of_8_bits(draw, count):
    return b"".join(halves(draw) + draw.randbytes(32) for _ in range(count))


def read_4_bits(data):
    """One number after the other, in float64."""
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
def test_numbers_are_those_that_the_definition_gives(opened, alignment):
    draw = random.Random(0)
    four, eight = blocks_of_4_bits(draw, 6), blocks_of_8_bits(draw, 8)
    tensors = [
        ("norm", (3,), OF_F32, struct.pack("<3f", 0.1, -2.5, 1e-30)),
        ("four", (64, 3), OF_Q4_1, four),
        ("eight", (32, 2, 4), OF_Q8_0, eight),
        ("plain", (2, 3), OF_F32, struct.pack("<6f", *range(6))),
    ]
    file = opened(gguf([("general.alignment", U32, struct.pack("<I", alignment))], tensors, alignment=alignment))
    assert {name: entry.shape for name, entry in file.entries.items()} == {
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
    for name, numbers in expected.items():
        assert torch.equal(file.tensor(name), numbers.float())  # rounded once: a step times the scale fits in float32
    together = file.tensors()
    assert all(torch.equal(together[name], file.tensor(name)) for name in expected)
    assert together.keys() == expected.keys()


@pytest.mark.parametrize(
    ("rows", "columns", "strides"), [(600, 64, (1, 600)), (64, 64, (1, 64)), (64, 96, (96, 1)), (64, 48, (48, 1))]
)
def test_together_a_matrix_lies_along_its_longer_axis(rows, columns, strides, opened):
    data = blocks_of_8_bits(random.Random(0), rows * columns // 32)
    file = opened(gguf(tensors=[("matrix", (columns, rows), OF_Q8_0, data)]))
    x = file.tensors()["matrix"]
    assert (tuple(x.shape), x.stride()) == ((rows, columns), strides)
    assert torch.equal(x, torch.tensor(list(read_8_bits(data)), dtype=torch.float64).view(rows, columns).float())


def test_a_matrix_whose_rows_cut_blocks_lies_by_rows(opened):
    file = opened(gguf(tensors=[("matrix", (16, 64), OF_Q8_0, blocks_of_8_bits(random.Random(0), 32))]))
    x = file.tensors()["matrix"]
    assert (x.stride(), torch.equal(x, file.tensor("matrix"))) == ((16, 1), True)


def test_the_first_and_the_last_of_a_block(opened):
    """The lowest and the highest steps, by hand."""
    four = struct.pack("<ee16B", 0.5, -1.0, 0xF0, *[0] * 14, 0x2F)
    eight = struct.pack("<e32b", 0.25, -128, *[0] * 30, 127)
    file = opened(gguf(tensors=[("four", (32,), OF_Q4_1, four), ("eight", (32,), OF_Q8_0, eight)]))
    x = file.tensor("four")
    assert [x[0], x[1], x[15], x[16], x[17], x[31]] == [-1.0, -1.0, 6.5, 6.5, -1.0, 0.0]
    assert file.tensor("eight")[[0, 1, 31]].tolist() == [-32.0, 0.0, 31.75]


def test_who_changes_a_tensor_changes_a_copy(opened):
    file = opened(gguf(tensors=[("norm", (2,), OF_F32, struct.pack("<2f", 3, 4))]))
    file.tensor("norm").zero_()
    assert file.tensor("norm").tolist() == [3, 4]


# Files that cannot be read

WHOLE = gguf(
    [("name", TEXT, text("x")), ("ones", LIST, struct.pack("<IQ2I", U32, 2, 1, 1))],
    [
        ("norm", (3,), OF_F32, struct.pack("<3f", 1, 2, 3)),
        ("eight", (32,), OF_Q8_0, struct.pack("<e32b", 1, *[0] * 32)),
    ],
)
HUGE = struct.pack("<Q", 2**63)


def test_a_file_is_whole_or_refused_wherever_it_is_cut(opened):
    assert len(opened(WHOLE).entries) == 2
    for size in range(4, len(WHOLE)):
        with pytest.raises(ValueError, match=rf"at least \d+ bytes, got {size}, as of a file that is cut off, in "):
            opened(WHOLE[:size])


DAMAGED = {
    "empty": (b"", "a file that begins with b'GGUF', got b'' in "),
    "an archive": (b"PK\x03\x04 and more", r"a file that begins with b'GGUF', got b'PK\\x03\\x04' in .*model.gguf"),
    "version": (gguf(version=2), "version 3, got version 2 in "),
    "type": (gguf(tensors=[("w", (256,), OF_Q4_K, bytes(144))]), "types F32, Q4_1, Q8_0, got w of type Q4_K in "),
    "no type": (gguf(tensors=[("w", (32,), 99, bytes(99))]), "types F32, Q4_1, Q8_0, got w of type number 99 in "),
    "part of a block": (gguf(tensors=[("w", (31,), OF_Q8_0, bytes(34))]), r"w of type Q8_0 .* the shape \(31,\) in"),
    "kind": (gguf([("odd", 13, bytes(8))]), "facts of the kinds 0 to 12, got kind 13 in "),
    "text": (gguf([("long", TEXT, HUGE)]), r"at least \d+ bytes, got "),
    "list": (gguf([("long", LIST, struct.pack("<I", U64) + HUGE)]), r"at least \d+ bytes, got "),
    "texts": (gguf([("long", LIST, struct.pack("<I", TEXT) + HUGE)]), r"at least \d+ bytes, got "),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_what_cannot_be_read_is_named(opened, what):
    data, message = DAMAGED[what]
    with pytest.raises(ValueError, match=f"^GgufFile wants .*{message}"):
        opened(data)
