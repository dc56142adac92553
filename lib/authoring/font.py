"""Build the font of the Chinese figures, a renamed subset of Noto Sans CJK SC of about 1 MB.

`python -m authoring.font [SOURCE.ttc]` writes `data/BlocklabSansSC.otf` from Debian's `fonts-noto-cjk`: the 3,755 hanzi
of GB2312 level 1, the symbols below, and all characters in the lessons and packages. matplotlib draws characters that
Noto lacks (`⟨`, `₂`, `✗`, …) in DejaVu Sans, but not in strings with `$…$`, which may only use the font itself.
"""

import sys
from io import BytesIO
from pathlib import Path

import matplotlib
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTCollection, TTFont

FAMILY = "Blocklab Sans SC"
SOURCE = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")
SOURCE_FAMILY = "Noto Sans CJK SC"
ROOT = Path(__file__).parents[2]
FONT = ROOT / "lib/blocklab_course/data/BlocklabSansSC.otf"
FALLBACK = Path(matplotlib.get_data_path(), "fonts/ttf/DejaVuSans.ttf")

SYMBOL_RANGES = (
    (0x0020, 0x007E),  # printable ASCII
    (0x00A0, 0x00FF),  # Latin-1: ° ± ² ³ · × ÷ é ü
    (0x0370, 0x03FF),  # Greek
    (0x2010, 0x2044),  # dashes, quotation marks, … ‰ ′
    (0x2070, 0x209F),  # superscripts and subscripts
    (0x2150, 0x218F),  # ⅓ Ⅳ
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematical operators
    (0x2460, 0x2473),  # ① to ⑳
    (0x2500, 0x25FF),  # box drawing, blocks, geometric shapes
    (0x2605, 0x2606),  # ★ ☆
    (0x2713, 0x2718),  # ✓ ✗
    (0x3000, 0x3020),  # CJK punctuation
    (0xFF01, 0xFF5E),  # full-width forms
    (0xFFE0, 0xFFE6),  # ￥
)
PICTOGRAMS = "\u200d\ufe0f✅❌❓❗⭐"  # drawn by the browser, as everything above U+1F000; not used in figures


def gb2312_level_1() -> set[str]:
    """The 3,755 most frequent hanzi: rows 16 to 55 of GB2312, with 94 cells each and five empty cells at the end."""
    cells = (bytes([0xA0 + row, 0xA0 + cell]) for row in range(16, 56) for cell in range(1, 95))
    return set("".join(cell.decode("gb2312", errors="ignore") for cell in cells))


def characters_in_use() -> set[str]:
    """Every character in the lessons' sources and the packages, without pictograms."""
    files = {
        *ROOT.glob("notebooks/source/*.py"),
        *ROOT.glob("lib/blocklab/**/*.py"),
        *ROOT.glob("lib/blocklab_course/**/*.py"),
    }
    characters = set("".join(file.read_text("utf-8") for file in files))
    return {c for c in characters if c.isprintable() and c < "\U0001f000" and c not in PICTOGRAMS}


def read_characters(font: Path) -> set[str]:
    """The characters for which a font file has a glyph."""
    with TTFont(font, lazy=True) as opened:
        return set(map(chr, opened.getBestCmap()))


def find_missing(characters: set[str]) -> set[str]:
    """The characters that neither the font nor its fallback can draw."""
    return characters - read_characters(FONT) - read_characters(FALLBACK)


def open_source(path: Path) -> TTFont:
    """Open a font file, or the simplified Chinese face of a collection."""
    if path.suffix != ".ttc":
        return TTFont(path, recalcTimestamp=False)
    with TTCollection(path, lazy=True) as faces:
        families = [face["name"].getDebugName(1) for face in faces]
    return TTFont(path, fontNumber=families.index(SOURCE_FAMILY), recalcTimestamp=False)


def rename(font: TTFont) -> None:
    """Replace every occurrence of Noto's name by ours, as its licence requires; keep copyright and licence."""
    postscript = f"{FAMILY.replace(' ', '')}-Regular"
    version = font["name"].getDebugName(5).split(";")[0]
    names = {1: FAMILY, 2: "Regular", 3: f"{version}; {postscript}", 4: FAMILY, 5: version, 6: postscript, 16: FAMILY}
    kept = {number: font["name"].getDebugName(number) for number in (0, 13, 14)}  # copyright, licence, its address
    font["name"].names = []
    for number, string in sorted((kept | names).items()):
        font["name"].setName(string, number, 3, 1, 0x409)  # Windows, Unicode, American English

    outlines = font["CFF "].cff
    outlines.fontNames = [postscript]
    top = outlines.topDictIndex[0]
    top.FamilyName, top.FullName, top.Notice = FAMILY, FAMILY, kept[0]
    for part in top.FDArray:
        part.FontName = f"{postscript}-{part.FontName.rpartition('-')[2]}"


def symbols() -> set[str]:
    return {chr(code) for first, last in SYMBOL_RANGES for code in range(first, last + 1)}


def subset(font: TTFont, characters: set[str]) -> None:
    """Remove everything from the font that these characters do not need."""
    options = Options(hinting=False, layout_features=[], name_IDs=["*"], notdef_outline=True)
    options.drop_tables += ["BASE", "GDEF", "GPOS", "GSUB", "VORG", "vhea", "vmtx"]
    subsetter = Subsetter(options)
    subsetter.populate(text="".join(characters))
    subsetter.subset(font)


def build(source: Path, target: Path) -> None:
    """Write the subset of `source`; the same source gives the same bytes."""
    with open_source(source) as font:
        subset(font, gb2312_level_1() | symbols() | characters_in_use())
        rename(font)
        font.save(target, reorderTables=True)


def subset_for(characters: set[str]) -> bytes:
    """The font reduced to the symbols and these characters."""
    out = BytesIO()
    with open_source(FONT) as font:
        subset(font, symbols() | characters)
        font.save(out, reorderTables=True)
    return out.getvalue()


if __name__ == "__main__":
    source = Path(sys.argv[1]) if sys.argv[1:] else SOURCE
    if not source.exists():
        sys.exit(f"{source}: no such font. Debian and Ubuntu: apt install fonts-noto-cjk, or name a file.")
    build(source, FONT)
    print(f"{FONT.relative_to(ROOT)}: {len(read_characters(FONT)):,} characters, {FONT.stat().st_size / 2**20:.2f} MiB")
    if tofu := find_missing(characters_in_use()):
        sys.exit(f"in neither {FAMILY} nor DejaVu Sans: {' '.join(sorted(tofu))}")
