"""How many values share a mean?"""

from blocklab.checks.row import wrong
from blocklab.checks.steps.one_number import one_number
from blocklab.language import Text

VALUES_PER_MEAN = one_number(
    name="values_per_mean",
    answer=784,
    wants=Text(en="a whole number", zh="一个整数"),
    means=Text(en="count", zh="个数"),
    mistakes=(
        wrong("batch-only", answer=4).hint(
            en="That is the number of images. BatchNorm pools the pixels of each channel, too.",
            zh="这是图像的张数。批量归一化还会把每个通道的所有像素合在一起算。",
        ),
        wrong("one-image", answer=196).hint(
            en="So many values has one channel of *one* image, as InstanceNorm takes them. BatchNorm pools the images, "
            "too.",
            zh="这是**一张**图的一个通道里的个数，实例归一化才这样算。批量归一化还会把各张图合在一起算。",
        ),
        wrong("number-of-means", answer=16).hint(
            en="That is how many means there are, one per channel. How many values does each take?",
            zh="这是均值的个数，每个通道一个。每个均值由多少个数得到？",
        ),
        wrong("whole-image", answer=3136).hint(
            en="So many values has one whole image: LayerNorm over `(C, H, W)`. BatchNorm keeps the channels apart and "
            "pools the images.",
            zh="这是一整张图里的个数，沿 `(C, H, W)` 的层归一化才这样算。批量归一化把各个通道分开，把各张图合起来。",
        ),
        wrong("images-and-channels", answer=64).hint(
            en="You count images times channels. Each channel has its own mean, so the 16 is no factor, but its pixels "
            "are pooled.",
            zh="你数的是图像数乘以通道数。每个通道各有各的均值，所以不乘 16；通道里的像素倒是要合在一起算。",
        ),
        wrong("every-value", answer=12544).hint(
            en="That is all there is in the tensor. BatchNorm keeps the channels apart.",
            zh="这是整个张量里的个数。批量归一化的各个通道是分开算的。",
        ),
    ),
    section=Text(en="How many numbers share a mean?", zh="多少个数共用一个均值？"),
    panel=Text(
        en="under “How far off are the estimates?”, set 4 images of 14 × 14 and read m.",
        zh="在“估计得有多准？”一节里，设为 4 张 14 × 14 的图，读出 m。",
    ),
    line="x.mean((0, 2, 3)).shape == (16,)  # so many means share all the values of x",
)
