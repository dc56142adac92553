"""Build the fonts of the figures, renamed subsets of Noto Sans CJK SC.

`python -m authoring.font [SOURCE.ttc]` writes two files in `data/` from Debian's `fonts-noto-cjk`.
`BlocklabSansSC.otf`, about 1 MB, has the 3,755 hanzi of GB2312 level 1, the hanzi and symbols below, and all characters
in the lessons and packages. `BlocklabSans.otf`, 16 KB, is for figures in English: it has those of them that are
narrower than a hanzi. matplotlib draws what a font lacks (`⟨`, `₂`, `✗`, …) in DejaVu Sans, but not in strings with
`$…$`, which may only use the font itself.
"""

import sys
from io import BytesIO
from pathlib import Path

import matplotlib
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTCollection, TTFont

FAMILY, LATIN_FAMILY = "Blocklab Sans SC", "Blocklab Sans"
SOURCE = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")
SOURCE_FAMILY = "Noto Sans CJK SC"
ROOT = Path(__file__).parents[2]
FONT = ROOT / "lib/blocklab_course/data/BlocklabSansSC.otf"
LATIN_FONT = FONT.with_name("BlocklabSans.otf")
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
# The 500 most frequent hanzi of GB2312 level 2, by the word frequencies of the segmenter jieba (0.42.1, dict.txt).
COMMON = (
    "丐丕丞亟仞仡伽佚佟侃俑俨俸俾倏倭偃偕僭兀兮冢冥剌劾匕匾卦厥厮叨叩叱叽吆咄咚咦咧咪哧哽唔唧啧啷喃喵喽嗒嗔嗖嗟嗤嗦"
    "嗯嗳嘀嘈嘟噗噜噢噩嚓圪圳圻垸壑夔夭奕妃妞妾姊姗姘姝姣姹娆娉娌娑娲娴娼婊婢婷媛嫔嫣嬉嬷孚孢孳宕宸寮寰尬尴岑岚岱崛"
    "嵋嵩巅帷幡幺庑庵庹弩弼後徙徭忒忖忡怡怦恪悖悴惚惴愕愣憔懿戟扈扉拗拚捋捺搴攸敕斐斓於旌昕昙晏晖暨朕朦杈杞杩杵枭柩"
    "栎桦梓梵棂棣棰椁椋楂楠楹榄榕榭榻槌槎槟樵橄橘檐殡毓氐氽汊汴汶沅沐沓沔沱泗泾洄浏浜浠浣浼涓涔淇淙淞渎渚渲溥溴滕漕"
    "漩漪潇潼澧澶澹濂濡濮瀛瀵瀹灏灞炖炫焖焘煨煲熠熹牒狩獾玮玺珀珂珈珑珞琛琦琪瑕瑙瑛瑜瑾璁璇璋璐璧璺甬甯畲瘀瘾癫皓睐"
    "睾睿瞰瞿矜矶砥磴祀祚祛祠祯祺禀禅禧禺秭稣稷窦竺笃笙筝筵箢箫簌粑糍縻纨纭绉绐绗绛绮绯绾缁缙缭缰羁羟羲翊翩耆肴肽胄"
    "胤胥胧胪胱腌腓膺芙芷芸苓苕苷茯莞莺萃萱萼葺蒯蒿蓦蕃蕲薇藓虔蚓蚣蚯蛟蜈蜿蝌蝠螅螭蟆蟒蟠蟾蠡衢衮衲袅裘褚褰褶觑讧讪"
    "讷诏诘诰谌谏谒谕谛谟谥豚貂贻赈跄跤跷跻踅踉踱踵蹂蹇蹙躏轶辇辍迥迦迩逍逵遐邸邺郢酯酰钊钗钛钴铐铖铮铿锂锏锛锺镂镏"
    "镖闵阄阙阪阱陂陲雯雳霆霎鞑韬颌饪饷馍馔馨驷驸驿骞骰骼髦髯鬓鬟魅鱿鲇鲟鲢鲨鳄鳅鳇鳌鳍鳔鳙鳝鸠鸪鸾鹘鹧麋麒麝麟麽麾"
    "黏黛黜黝黯"
)
# Other hanzi of level 2 in words of the field: those of the Chinese texts in fastNLP, jittor, bert4torch and PaddleNLP,
# of terms of mathematics and machine learning (阈值, 博弈, 共轭), and of common class names (鹦鹉, 蜻蜓).
FIELD = "弈徇徵憧憬撷擢熵糅耦茉莓薰蚪蜓蜥蜴蜻赝轭阈鹉鹦"
# The traditional hanzi of the terms of this course, as they are written in Taiwan (批次正規化, 梯度消失, 閾值).
TRADITIONAL = (
    "丟係內則動區參啟單學實寫層廣張恆態慣換數斷條棄標樣權歸殘減測準無熱狀異碼積穩紋組統維網線編緩練縮習衝補規計訓評"
    "詞詢試誤論變軸轉迴連進錯鍵長門閘閾隱預頭頻飽饋體點"
)
PICTOGRAMS = "\u200d\ufe0f✅❌❓❗⭐"  # drawn by the browser, as everything above U+1F000; not used in figures


def gb2312_level_1() -> set[str]:
    """The 3,755 most frequent hanzi: rows 16 to 55 of GB2312, with 94 cells each and five empty cells at the end."""
    cells = (bytes([0xA0 + row, 0xA0 + cell]) for row in range(16, 56) for cell in range(1, 95))
    return set("".join(cell.decode("gb2312", errors="ignore") for cell in cells))


def hanzi() -> set[str]:
    """The hanzi that learners are likely to write in their own figures."""
    return gb2312_level_1() | set(COMMON + FIELD + TRADITIONAL)


def characters_in_use() -> set[str]:
    """Every character in the lessons' sources and the packages, without pictograms."""
    files = {
        *ROOT.glob("notebooks/source/*"),
        *ROOT.glob("lib/blocklab/**/*.py"),
        *ROOT.glob("lib/blocklab_course/**/*.py"),
    }
    characters = set("".join(file.read_text("utf-8") for file in files))
    return {c for c in characters if c.isprintable() and c < "\U0001f000" and c not in PICTOGRAMS}


def read_characters(font: Path) -> set[str]:
    """The characters for which a font file has a glyph."""
    with TTFont(font, lazy=True) as opened:
        return set(map(chr, opened.getBestCmap()))


def narrower_than_hanzi(font: Path) -> set[str]:
    """The characters that do not fill an em: letters and digits, but not `“`, `×` and `·` as Chinese spaces them."""
    with TTFont(font, lazy=True) as opened:
        widths, em = opened["hmtx"], opened["head"].unitsPerEm
        return {chr(code) for code, glyph in opened.getBestCmap().items() if widths[glyph][0] < em}


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


def rename(font: TTFont, family: str) -> None:
    """Replace every occurrence of Noto's name by ours, as its licence requires; keep copyright and licence."""
    postscript = f"{family.replace(' ', '')}-Regular"
    version = font["name"].getDebugName(5).split(";")[0]
    names = {1: family, 2: "Regular", 3: f"{version}; {postscript}", 4: family, 5: version, 6: postscript, 16: family}
    kept = {number: font["name"].getDebugName(number) for number in (0, 13, 14)}  # copyright, licence, its address
    font["name"].names = []
    for number, string in sorted((kept | names).items()):
        font["name"].setName(string, number, 3, 1, 0x409)  # Windows, Unicode, American English

    outlines = font["CFF "].cff
    outlines.fontNames = [postscript]
    top = outlines.topDictIndex[0]
    top.FamilyName, top.FullName, top.Notice = family, family, kept[0]
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


def build(source: Path, target: Path, family: str, characters: set[str]) -> None:
    """Write the subset of `source` under a new name; the same source gives the same bytes."""
    with open_source(source) as font:
        subset(font, characters)
        rename(font, family)
        font.save(target, reorderTables=True)


def build_both(source: Path, folder: Path) -> None:
    """Write the font of the Chinese figures, and from it that of the English ones."""
    chinese = folder / FONT.name
    build(source, chinese, FAMILY, hanzi() | symbols() | characters_in_use())
    build(chinese, folder / LATIN_FONT.name, LATIN_FAMILY, narrower_than_hanzi(chinese))


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
    build_both(source, FONT.parent)
    for file in (FONT, LATIN_FONT):
        size = file.stat().st_size / 2**10
        print(f"{file.relative_to(ROOT)}: {len(read_characters(file)):,} characters, {size:,.0f} KiB")
    if tofu := find_missing(characters_in_use()):
        sys.exit(f"in neither {FAMILY} nor DejaVu Sans: {' '.join(sorted(tofu))}")
