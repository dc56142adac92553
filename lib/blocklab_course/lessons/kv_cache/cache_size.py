"""The caches of real models, one row each: how large they are, and what the heads share."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from blocklab_course.i18n import Text
from blocklab_course.lessons.kv_cache.published_caches import BYTES_EACH, SHARINGS, CachedModel, cached_models
from blocklab_course.panel import Choice, Panel, Prediction, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.numbers import short_number
from blocklab_course.panel.palette import INK, MOVED, OTHER, PAPER, POKED, QUIET, STILL, letters_on

MIB, GIB = 2**20, 2**30
CARD = 80e9  # bytes of memory of an H100
LENGTH = 8192
LONGEST = 131072
SHORTEST = 1024  # where every bar has room for its size in letters
LEAST, MOST = MIB / 4, 32 * 1024 * GIB  # what the axis shows, in bytes

NAMES = {
    "built": Text(en="as built", zh="原样"),
    "MHA": Text(en="MHA", zh="MHA"),
    "GQA": Text(en="GQA, at most 8", zh="GQA，最多 8 个"),
    "MQA": Text(en="MQA", zh="MQA"),
    "MLA": Text(en="MLA", zh="MLA"),
}
GUESS = Prediction(
    {
        Text(en="10 times as large", zh="10 倍"): "ten",
        Text(en="2.5 times as large", zh="2.5 倍"): "layers",
        Text(en="equally large", zh="一样大"): "equal",
        Text(en="smaller", zh="更小"): "smaller",
    },
    right="smaller",
    question=Text(
        en="Llama 3.1 70B has 80 layers, Llama 2 7B has 32. How large is its cache, compared with the other's?",
        zh="Llama 3.1 70B 有 80 层，Llama 2 7B 有 32 层。前者的缓存是后者的几倍？",
    ),
    explanation=Text(
        en="It is smaller, 0.625 of the other: drag “model” to Llama 3.1 70B and compare its bar with that of "
        "Llama 2 7B.",
        zh="更小，是另一个的 0.625 倍：把“模型”拖到 Llama 3.1 70B，再与 Llama 2 7B 的条形比较。",
    ),
)
"""How large the cache of Llama 3.1 70B is, against that of Llama 2 7B, for the same text."""

HEADS = Text(en="{name}: heads of one layer", zh="{name}：一层的头")
ASKING = Text(en="queries: {heads}", zh="查询：{heads} 个")
KEPT = Text(en="kept: {kept} × ({key} + {value}) numbers", zh="保存：{kept} 个，各 {key} + {value} 个数")
LATENT = Text(en="kept: one vector for all, {numbers} numbers", zh="保存：共用一个向量，{numbers} 个数")
SIZE = Text(
    en="one text's cache in bfloat16 (blue: as built, all kept)", zh="一段文本的缓存，bfloat16（蓝线：原样，全部保留）"
)
AN_H100 = Text(en="an H100: 80 GB", zh="一块 H100：80 GB")
SEEN = Text(
    en="{name}, {sharing}: {layers} layers × {numbers} numbers × 2 bytes = {bytes} bytes a token; {length} tokens: "
    "{size}.",
    zh="{name}，{sharing}：{layers} 层 × {numbers} 个数 × 2 字节 = 每个词元 {bytes} 字节；{length} 个词元：{size}。",
)


def in_words(size: float) -> str:
    """A size with three digits and its unit."""
    unit, name = (GIB, "GiB") if size >= GIB else (MIB, "MiB")
    return f"{short_number(size / unit)} {name}"


def cache_size(figure: Figure) -> Callable[..., str]:
    """Left the heads of the chosen model, right a bar for each model up to it; a stroke marks it as it was built.

    update(model, sharing, length, window): the row; a key of NAMES; tokens; whether windows drop what is older.
    """
    models = cached_models()
    heads = Heads(add_axes(figure, wide=(0.01, 0.1, 0.3, 0.75), narrow=(0.05, 0.7, 0.9, 0.28)))
    axes = add_axes(figure, wide=(0.45, 0.13, 0.54, 0.74), narrow=(0.35, 0.06, 0.61, 0.58))
    axes.set(xlim=(LEAST, MOST), ylim=(len(models) - 0.4, -0.6), xscale="log")
    axes.set_xticks([MIB, 32 * MIB, GIB, 32 * GIB, 1024 * GIB], ["1 MiB", "32 MiB", "1 GiB", "32 GiB", "1 TiB"])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(models)), [model.name for model in models])
    axes.tick_params(axis="y", length=0, labelsize=11)
    axes.set_title(str(SIZE), size=11, color=INK, loc="right" if is_narrow(figure) else "center")
    style_axes(axes, edges=("bottom",), grid="x")
    axes.axvline(CARD, color=QUIET, linestyle="--", linewidth=1.2)
    axes.text(CARD * 1.2, -0.52, str(AN_H100), size=9, color=QUIET, ha="left", va="center")
    for row, name in enumerate(axes.get_yticklabels()):
        name.set_animated(True)
        pickable(name, "model", [row])
    look = {"left": LEAST, "color": MOVED, "linewidth": 2.4, "animated": True, "zorder": 3}
    bars = axes.barh(range(len(models)), [LEAST] * len(models), 0.56, **look)
    for row, bar in enumerate(bars):
        pickable(bar, "model", [row])
    marks = LineCollection([], colors=OTHER, linewidths=3, zorder=5, animated=True)
    axes.add_collection(marks, autolim=False)
    place = {"size": 10, "color": letters_on(MOVED), "ha": "left", "va": "center", "zorder": 6, "animated": True}
    sizes = [axes.text(1.3 * LEAST, row, "", **place) for row in range(len(models))]

    def update(model: int, sharing: str, length: float, window: bool) -> str:
        length = round(length)
        chosen = models[model]
        heads.show(chosen, sharing)
        strokes = []
        for row, (each, bar, size) in enumerate(zip(models, bars, sizes, strict=True)):
            bar.set_visible(row <= model)
            size.set_visible(row <= model)
            total = each.bytes_of(length, sharing, window)
            bar.set(width=max(total - LEAST, 0), edgecolor=POKED if row == model else MOVED)
            size.set_text(in_words(total))
            if row <= model:
                built = each.bytes_of(length)
                strokes.append([(built, row - 0.38), (built, row + 0.38)])
        marks.set_segments(strokes)
        return SEEN.format(
            name=chosen.name,
            sharing=NAMES[sharing],
            layers=chosen.layers,
            numbers=chosen.numbers(sharing),
            bytes=chosen.layers * chosen.numbers(sharing) * BYTES_EACH,
            length=length,
            size=in_words(chosen.bytes_of(length, sharing, window)),
        )

    return update


class Heads:
    """A cell for every head of the queries, and below a wider one for each head of keys and values that they share."""

    MOST = 128

    def __init__(self, axes: Axes):
        axes.set(xlim=(-0.01, 1.01), ylim=(0, 1))
        axes.axis("off")
        look = {"linewidth": 0.6, "animated": True}
        self.asking = [Rectangle((0, 0.62), 0, 0.16, fc=STILL, ec=INK, **look) for _ in range(self.MOST)]
        self.kept = [Rectangle((0, 0.3), 0, 0.16, fc=MOVED, ec=PAPER, **look) for _ in range(self.MOST)]
        for cell in (*self.asking, *self.kept):
            axes.add_patch(cell)
        self.wires = LineCollection([], colors=QUIET, linewidths=0.7, animated=True)
        axes.add_collection(self.wires, autolim=False)
        words = {"size": 11, "color": INK, "ha": "center", "va": "center", "animated": True}
        self.title, self.above, self.below = (axes.text(0.5, y, "", **words) for y in (0.99, 0.86, 0.2))

    def show(self, model: CachedModel, sharing: str) -> None:
        h, g = model.heads, model.kept_heads(sharing)
        spread(self.asking, h)
        spread(self.kept, g)
        wires = [[((i + 0.5) / h, 0.62), ((i // (h // g) + 0.5) / g, 0.46)] for i in range(h)]
        self.wires.set_segments(wires)
        self.wires.set_linewidths(0.7 if h <= 32 else 0.35)
        self.title.set_text(HEADS.format(name=model.name))
        self.above.set_text(ASKING.format(heads=h))
        numbers = model.numbers(sharing)
        one = sharing == "MLA" or (sharing == "built" and model.latent)
        words = LATENT.format(numbers=numbers) if one else KEPT.format(kept=g, key=model.key_dim, value=model.head_dim)
        self.below.set_text(words)


def spread(cells: list[Rectangle], count: int) -> None:
    """Show so many of the cells, side by side over the whole width."""
    for place, cell in enumerate(cells):
        cell.set_visible(place < count)
        cell.set_x(place / count)
        cell.set_width(1 / count)


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "model": Slider(0, len(cached_models()) - 1, 1, value=0, label=Text(en="model", zh="模型")),
        "sharing": Choice({NAMES[key]: key for key in SHARINGS}, "built", label=Text(en="heads", zh="头")),
        "length": Slider(SHORTEST, LONGEST, 2, value=LENGTH, label=Text(en="tokens", zh="词元数"), log=True),
        "window": Toggle(False, label=Text(en="sliding window", zh="滑动窗口")),
    }
    return Panel(cache_size, size=(10, 4.6), narrow=(4.6, 7), **controls | own)
