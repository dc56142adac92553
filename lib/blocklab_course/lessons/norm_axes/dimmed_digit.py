"""Real handwritten digits, one dimmed: BatchNorm lets it stay dim, LayerNorm gives each image its own scale."""

from collections.abc import Callable

import torch
from matplotlib.figure import Figure
from torch import Tensor

from blocklab.normalization import batch_norm, layer_norm
from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import is_narrow
from blocklab_course.panel.palette import INK, POKED, QUIET
from blocklab_course.pretrained.digits import load_digits

LIMITS = (0, 1), (-1.2, 2.2), (-1.2, 2.2)  # of each row, from black to white
DIMMED = 2  # which image the slider dims
ROWS = (
    Text(en="input", zh="输入"),
    Text(en="BatchNorm", zh="批量归一化"),
    Text(en="LayerNorm", zh="层归一化"),
)
SCALE = Text(en="black = {low}\nwhite = {high}", zh="黑 = {low}\n白 = {high}")
SEEN = Text(
    en="Image n = {image} at {percent:.0f}% brightness. Its standard deviation after BatchNorm is {batch:.2f}, "
    "after LayerNorm {layer:.2f}; the other images change by up to {batch_moved:.2f} and {layer_moved:.2f}.",
    zh="n = {image} 这幅图的亮度为 {percent:.0f}%。它的标准差：批量归一化后为 {batch:.2f}，层归一化后为 {layer:.2f}；"
    "其余图像的最大变化分别为 {batch_moved:.2f} 和 {layer_moved:.2f}。",
)


def dimmed_digit(images: Tensor) -> Callable[[Figure], Callable[..., str]]:
    """The picture of a batch of images, (N, 1, H, W) with values in 0 … 1.

    update(brightness): the factor on image DIMMED.
    """
    normalized = (
        lambda x: x,
        lambda x: batch_norm(x, None, None, training=True),
        lambda x: layer_norm(x, x.shape[1:]),
    )
    others = torch.arange(len(images)) != DIMMED
    at_full = [function(images) for function in normalized]

    def picture(figure: Figure) -> Callable[..., str]:
        narrow = is_narrow(figure)
        place = {"left": 0.01, "right": 0.99, "bottom": 0.02, "top": 0.83, "wspace": 0.12, "hspace": 0.4}
        if not narrow:
            place = {"left": 0.13, "right": 0.99, "bottom": 0.02, "top": 0.9}
        grid = figure.subplots(3, len(images), gridspec_kw=place)
        shown = []
        for row, (axes_row, limit) in enumerate(zip(grid, LIMITS, strict=True)):
            for column, axes in enumerate(axes_row):
                axes.set(xticks=[], yticks=[])
                axes.spines[:].set_color(POKED if column == DIMMED else QUIET)
                axes.spines[:].set_linewidth(2.2 if column == DIMMED else 0.6)
                image = axes.imshow(images[column, 0].numpy(), cmap="gray", vmin=limit[0], vmax=limit[1], animated=True)
                shown.append((row, column, image))
                if column == DIMMED:
                    draggable(image, "brightness", up(*images.shape[-2:]))
            scale = SCALE.format(low=limit[0], high=limit[1]).replace("-", "−")
            if narrow:
                above, words = 1.45 if row == 0 else 1.1, f"{ROWS[row]}: {scale}".replace("\n", ", ")
                axes_row[0].text(0, above, words, transform=axes_row[0].transAxes, size=10, color=INK, va="bottom")
            else:
                axes_row[0].set_ylabel(
                    f"{ROWS[row]}\n{scale}", rotation=0, ha="right", va="center", size=11, color=INK, labelpad=8
                )
        for column, axes in enumerate(grid[0]):
            axes.set_title(f"n = {column}", size=10, color=POKED if column == DIMMED else INK)

        def update(brightness: float) -> str:
            x = images.clone()
            x[DIMMED] *= brightness
            results = [function(x) for function in normalized]
            for row, column, image in shown:
                image.set_data(results[row][column, 0].numpy())
            _, batch, layer = results
            moved = [(now - then)[others].abs().max() for now, then in zip(results, at_full, strict=True)]
            return SEEN.format(
                image=DIMMED,
                percent=100 * brightness,
                batch=batch[DIMMED].std(correction=0),
                layer=layer[DIMMED].std(correction=0),
                batch_moved=moved[1],
                layer_moved=moved[2],
            )

        return update

    return picture


def up(height: int, width: int) -> Callable[[float], tuple[float, float]]:
    """From the lower to the upper edge of an image, along its middle: the higher, the brighter."""
    return lambda brightness: (width / 2 - 0.5, height * (1 - brightness) - 0.5)


def panel(**own: Control) -> Panel:
    """The picture of the first eight digits with its controls; `own` replaces some of them."""
    label = Text(en=f"brightness of n = {DIMMED}", zh=f"n = {DIMMED} 的亮度")
    controls = {"brightness": Slider(0.05, 1, 0.05, value=1.0, label=label)}
    images = load_digits()[0][:8].unsqueeze(1) / 16  # (N, 1, H, W)
    return Panel(dimmed_digit(images), size=(10, 4), narrow=(4.6, 3.2), **controls | own)
