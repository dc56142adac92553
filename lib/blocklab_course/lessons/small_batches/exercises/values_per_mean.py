"""From which batch size on do enough numbers share every mean of a network?"""

from blocklab_course.checks.exercise import one_number
from blocklab_course.checks.mistake import with_section, wrong
from blocklab_course.i18n import Text

GPUS = Text(en="Exercise: how large must the batch be?", zh="练习：批量至少要多大？")

VALUES_PER_MEAN = one_number(
    name="values_per_mean",
    answer=64,  # the linear layer has one number per sample, and each GPU half of the samples
    expects=Text(en="a whole number", zh="一个整数"),
    result_name=Text(en="batch size", zh="批量大小"),
    mistakes=(
        *with_section(
            GPUS,
            wrong("one-gpu", answer=32).hint(
                en="With a batch of 32 each GPU has only 16 samples, and each counts for itself.",
                zh="批量大小为 32 时，每块 GPU 只分到 16 个样本，而且各算各的。",
            ),
            wrong("linear-layer-and-gpu-forgotten", answer=8).hint(
                en="That is enough for maps of 2 × 2 on a single GPU. Two things are missing: the batch is halved, and "
                "the linear layer has one number per sample.",
                zh="在一块 GPU 上，这对 2 × 2 的特征图够了。"
                "还少想了两件事：批量要分成两半；线性层里，每个样本只有一个数。",
            ),
            wrong("one-sample", answer=1).hint(
                en="Two GPUs share the batch, so it takes at least 2 samples. And a single sample has 8 · 8 = 64 "
                "numbers only in the first place; the later ones have fewer.",
                zh="小批量要平分给两块 GPU，至少得有 2 个样本。"
                "而且一个样本只在第一处有 8 × 8 = 64 个数，后面几处都更少。",
            ),
            wrong("more-than-32-on-one-gpu", answer=33).hint(
                en="m may be 32 itself, and two GPUs share the batch: with 33 neither of them has 32 samples.",
                zh="m 可以正好是 32；而且批量平分给两块 GPU，批量大小为 33 时，哪一块都不到 32 个样本。",
            ),
            wrong("gpu-twice", answer=128).hint(
                en="That is more than it takes: with 128 each GPU has 64 samples, and 32 are enough.",
                zh="多了：批量大小为 128 时，每块 GPU 有 64 个样本，而 32 个就够了。",
            ),
        ),
        wrong("linear-layer-forgotten", answer=16).hint(
            en="With 16, that is 8 images for each GPU, the maps of 2 × 2 have 8 · 2 · 2 = 32 numbers. But the linear "
            "layer has no map: one number per sample, so 8.",
            zh="批量大小为 16 时，每块 GPU 有 8 张图，2 × 2 的特征图正好有 8 × 2 × 2 = 32 个数。"
            "可是线性层没有特征图，每个样本只有一个数，所以只有 8 个。",
        ),
        wrong("middle-map", answer=4).hint(
            en="That is enough where the maps have 4 × 4. The later ones are smaller, and the smallest decides.",
            zh="特征图是 4 × 4 时，这就够了。可是后面的更小，要由最小的决定。",
        ),
        wrong("first-map", answer=2).hint(
            en="With one image per GPU the first BatchNorm has 8 · 8 = 64 numbers. The later ones have fewer, and the "
            "one with the fewest decides.",
            zh="每块 GPU 一张图时，第一个批量归一化有 8 × 8 = 64 个数。后面的更少，要由最少的那个决定。",
        ),
        wrong("more-than-32", answer=65).hint(
            en="One too many: m may be 32 itself. 64 samples give each GPU 32.",
            zh="多了一个：m 可以正好是 32。64 个样本，每块 GPU 就有 32 个。",
        ),
        wrong("times-the-smallest-map", answer=256).hint(
            en="You multiply by the size of the map of 2 × 2. A map makes m larger, so it takes fewer samples, not "
            "more. And the linear layer has no map at all.",
            zh="你乘上了 2 × 2 的特征图的大小。有特征图，m 只会更大，需要的样本反而更少。况且线性层根本没有特征图。",
        ),
        wrong("times-the-middle-map", answer=512).hint(
            en="You multiply by the size of the map of 4 × 4. A map makes m larger, so it takes fewer samples, not "
            "more. The linear layer decides, and it has no map.",
            zh="你乘上了 4 × 4 的特征图的大小。有特征图，m 只会更大，需要的样本反而更少。"
            "起决定作用的是没有特征图的线性层。",
        ),
    ),
    section=Text(en="How many numbers share a mean?", zh="多少个数共用一个均值？"),
    hint_line="m = batch_size / 2 * side * side  # side is 1 after a linear layer",
)
