"""Modules as others publish them, written afresh, and each with one mistake."""

import threading
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import blocklab
from blocklab_course import check


class Llama(nn.Module):
    """As in Hugging Face: float32 inside, back to the type of x before the weight."""

    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight, self.variance_epsilon = nn.Parameter(torch.ones(hidden_size)), eps

    def forward(self, hidden_states):
        wide = hidden_states.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * wide.to(hidden_states.dtype)


class T5(Llama):
    """As in Hugging Face: only the variance is float32, and the type of the weight decides."""

    def forward(self, hidden_states):
        variance = hidden_states.to(torch.float32).pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        if self.weight.dtype in (torch.float16, torch.bfloat16):
            hidden_states = hidden_states.to(self.weight.dtype)
        return self.weight * hidden_states


class Gemma(Llama):
    def forward(self, x):
        wide = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return (wide * (1.0 + self.weight.float())).type_as(x)


class RoundedOnce(nn.Module):
    """As in many courses: the weight is multiplied in float32."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x):
        wide = x.to(torch.float32)
        root = torch.sqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return (wide / root * self.weight).to(x.dtype)


class InTypeOfX(RoundedOnce):
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class DividedInTypeOfX(RoundedOnce):
    def forward(self, x):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class EpsOutside(RoundedOnce):
    def forward(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        return (wide / (wide.pow(2).mean(-1, keepdim=True).sqrt() + self.eps) * self.weight).to(x.dtype)


class EpsInBuffer(RoundedOnce):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model)
        del self.eps
        self.register_buffer("eps", torch.tensor(eps))


EPS = (1e-8, 1e-6, 1e-5, 1e-3)
RMS_NORMS = [("rms_norm", kind) for kind in (nn.RMSNorm, blocklab.RMSNorm, Llama, T5, RoundedOnce, EpsInBuffer)]
RMS_NORMS += [("rms_norm_llama", Llama), ("rms_norm_gemma", Gemma)]


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize(("exercise", "kind"), RMS_NORMS)
def test_rms_norm_module_with_usual_eps_passes(exercise, kind, eps):
    verdict = check(exercise, kind(8, eps=eps), keep=False, patience=60)
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize(
    ("exercise", "kind", "mistake"),
    [
        ("rms_norm", EpsOutside, "eps-outside-root"),
        ("rms_norm", nn.LayerNorm, "layer-norm"),
        ("layer_norm", partial(nn.GroupNorm, 1), "raises"),  # right for (N, d) only
        ("rms_norm_llama", InTypeOfX, "not-in-float32"),
        ("rms_norm_llama", DividedInTypeOfX, "not-in-float32"),
        ("rms_norm_llama", RoundedOnce, "rounded-once"),
        ("rms_norm_llama", Gemma, "as-in-gemma"),
        ("rms_norm_gemma", Llama, "as-in-llama"),
    ],
)
@pytest.mark.parametrize("eps", [1e-6, 1e-3])
def test_mistake_of_rms_norm_module_is_named_alone(exercise, kind, mistake, eps):
    assert check(exercise, kind(8, eps=eps), keep=False, patience=60).mistake == mistake


def test_example_of_several_mistakes_is_not_in_16_bits():
    verdict = check("rms_norm_gemma", InTypeOfX(3), keep=False, patience=60)
    assert verdict.mistake == "weight-without-one+not-in-float32"
    assert "float16" not in "".join(value for _name, value in verdict.counterexample.arguments)


def test_right_rounding_of_large_module_passes():
    """Of 8,192 numbers some are ties, which float32 arithmetic rounds either way."""
    assert check("rms_norm_gemma", Gemma(512), keep=False, patience=60).passed


@pytest.mark.parametrize("groups", [1, 2, 3, 4, 5, 8, 64])
def test_group_norm_module_with_group_per_channel_passes(groups):
    for kind in (nn.GroupNorm, blocklab.GroupNorm, GroupNorm):
        verdict = check("group_norm", kind(groups, groups), keep=False, patience=60)
        assert verdict.passed, str(verdict)


class GroupNorm(nn.Module):
    def __init__(self, num_groups, num_channels, eps=1e-5):
        super().__init__()
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight, self.bias = nn.Parameter(torch.ones(num_channels)), nn.Parameter(torch.zeros(num_channels))

    def forward(self, x):
        y = x.reshape(len(x), self.num_groups, -1)
        y = (y - y.mean(-1, keepdim=True)) / (y.var(-1, keepdim=True, correction=0) + self.eps).sqrt()
        channels = (1, -1) + (1,) * (x.dim() - 2)
        return y.view(x.shape) * self.weight.view(channels) + self.bias.view(channels)


def test_groups_that_do_not_divide_are_named():
    verdict = check("group_norm", GroupNorm(3, 4), keep=False)
    assert verdict.mistake == "module-sizes"
    assert "num_groups to divide the 4 channels" in str(verdict)


class Batch(nn.Module):
    """Its parts are those of the published classes below."""

    def __init__(self, channels, shape=None, biased=False):
        super().__init__()
        shape = shape or (channels,)
        self.weight, self.bias = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.zeros(shape))
        self.register_buffer("running_mean", torch.zeros(shape))
        self.register_buffer("running_var", torch.ones(shape))
        self.eps, self.momentum, self.biased = 1e-5, 0.1, biased

    def move(self, mean, variance):
        self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean
        self.running_var = (1 - self.momentum) * self.running_var + self.momentum * variance


class ForPictures(Batch):
    """As in ARENA, TorchCode and many posts: (N, C, H, W) only."""

    def forward(self, x):
        mean, variance = self.running_mean, self.running_var
        if self.training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)
            with torch.no_grad():
                self.move(mean, variance if self.biased else x.var((0, 2, 3)))
        mean, variance, weight, bias = (v[None, :, None, None] for v in (mean, variance, self.weight, self.bias))
        return (x - mean) / (variance + self.eps).sqrt() * weight + bias


class ForRows(Batch):
    """As in nn-zero-to-hero: (N, C) only."""

    keepdim, correction = False, 0

    def forward(self, x):
        mean, variance = self.running_mean, self.running_var
        if self.training:
            mean = x.mean(0, keepdim=self.keepdim)
            variance = x.var(0, correction=self.correction, keepdim=self.keepdim)
            with torch.no_grad():
                self.move(mean, x.var(0, keepdim=self.keepdim))
        return self.weight * (x - mean) / torch.sqrt(variance + self.eps) + self.bias


class UnbiasedForRows(ForRows):
    correction = 1


class AxesKept(ForRows):
    keepdim, correction = True, 1


class AsInDiveIntoDeepLearning(Batch):
    """With vectors of as many axes as x."""

    def forward(self, x):
        mean, variance = self.running_mean, self.running_var
        if self.training:
            axes = (0, 2, 3) if x.dim() == 4 else 0
            mean = x.mean(axes, keepdim=True)
            variance = ((x - mean) ** 2).mean(axes, keepdim=True)
            with torch.no_grad():
                self.move(mean, variance)
        return self.weight * ((x - mean) / torch.sqrt(variance + self.eps)) + self.bias


class AsInLabml(Batch):
    """Puts all positions into one axis."""

    def forward(self, x):
        flat = x.view(len(x), len(self.weight), -1)
        mean, variance = self.running_mean, self.running_var
        if self.training:
            mean = flat.mean([0, 2])
            variance = (flat**2).mean([0, 2]) - mean**2
            with torch.no_grad():
                self.move(mean, variance)
        y = (flat - mean.view(1, -1, 1)) / torch.sqrt(variance + self.eps).view(1, -1, 1)
        return (self.weight.view(1, -1, 1) * y + self.bias.view(1, -1, 1)).view_as(x)


@pytest.mark.parametrize(
    ("module", "ranks"),
    [
        (ForPictures(3), "4 axes only"),
        (ForRows(3), "2 axes only"),
        (nn.BatchNorm1d(7), "2 or 3 axes only"),
        (nn.BatchNorm3d(3), "5 axes only"),
        (nn.BatchNorm2d(3, affine=False), "4 axes only"),
        (nn.BatchNorm2d(5, eps=1e-3, momentum=0.01).eval(), "4 axes only"),
    ],
)
def test_batch_norm_module_for_some_ranks_passes_on_those(module, ranks):
    verdict = check("batch_norm", module, keep=False, patience=60)
    assert verdict.passed, str(verdict)
    assert ranks in str(verdict), str(verdict)


@pytest.mark.parametrize(
    ("module", "mistake"),
    [
        (ForPictures(3, biased=True), "biased-variance-stored"),
        (AsInDiveIntoDeepLearning(3, (1, 3)), "biased-variance-stored"),
        (AsInDiveIntoDeepLearning(3, (1, 3, 1, 1)), "biased-variance-stored"),
        (AsInLabml(5), "biased-variance-stored"),
        (UnbiasedForRows(3), "unbiased-variance"),
    ],
)
def test_mistake_of_batch_norm_module_for_some_ranks_is_named(module, mistake):
    assert check("batch_norm", module, keep=False, patience=60).mistake == mistake


def become_list(self, mean, _variance):
    self.running_mean = mean.tolist()


def become_number(self, mean, _variance):
    self.running_mean = mean.mean().item()


@pytest.mark.parametrize(
    ("module", "mistake", "words"),
    [
        (AxesKept(3), "wrong-shape", "`running_mean` has shape `(1, 3)` after the call, expected `(3,)`"),
        (type("", (ForRows,), {"move": become_list})(3), "wrong-type", "`running_mean` is `list`; expected a tensor"),
        (
            type("", (ForRows,), {"move": become_number})(3),
            "wrong-type",
            "`running_mean` is `float`; expected a tensor",
        ),
    ],
)
def test_buffer_of_another_kind_is_described(module, mistake, words):
    verdict = check("batch_norm", module, keep=False, patience=60)
    assert verdict.mistake == mistake
    assert words in str(verdict)
    assert "stops with" not in str(verdict)


class InTraining(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) if self.training else x


class InEval(nn.LayerNorm):
    def forward(self, x):
        return x if self.training else super().forward(x)


class WithDropout(nn.LayerNorm):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.2, self.training)


class RunningStatistics(nn.LayerNorm):
    mean, variance = 0.0, 1.0

    def forward(self, x):
        mean, variance = self.mean, self.variance
        if self.training:
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
            self.mean = 0.9 * self.mean + 0.1 * mean.mean().item()
            self.variance = 0.9 * self.variance + 0.1 * variance.mean().item()
        return (x - mean) / (variance + self.eps) ** 0.5 * self.weight + self.bias


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kind", [InTraining, InEval, WithDropout, RunningStatistics])
def test_norm_that_differs_between_modes_is_refused(kind, training):
    assert check("layer_norm", kind(4).train(training), keep=False).mistake == "modes-differ"


@pytest.mark.parametrize("training", [True, False])
def test_norm_passes_in_either_mode(training):
    assert check("layer_norm", nn.LayerNorm(6).train(training), keep=False, patience=60).passed


class FeedForward(nn.Module):
    def __init__(self, d_model, hidden, names=("w1", "w2", "w3"), gate=F.silu, bias=False):
        super().__init__()
        self.names, self.gate = names, gate
        for name, sizes in zip(names, [(d_model, hidden), (hidden, d_model), (d_model, hidden)], strict=True):
            setattr(self, name, nn.Linear(*sizes, bias=bias))

    def forward(self, x):
        gate, down, up = (getattr(self, name) for name in self.names)
        return F.dropout(down(self.gate(gate(x)) * up(x)), 0.1, self.training)


@pytest.mark.parametrize("sizes", [(2, 3), (8, 16), (5, 5), (16, 1), (64, 170)])
def test_swiglu_of_any_size_passes(sizes):
    for kind in (blocklab.SwiGLU, FeedForward):
        verdict = check("swiglu", kind(*sizes), keep=False, patience=60)
        assert verdict.passed, str(verdict)


@pytest.mark.parametrize(
    ("module", "mistake", "words"),
    [
        (FeedForward(8, 16, gate=torch.sigmoid), "glu-for-swiglu", "original GLU"),
        (FeedForward(8, 16, bias=True), "state-dict-keys", "Missing: none. Unexpected: w1.bias, w2.bias, w3.bias."),
        (
            FeedForward(8, 16, ("gate_proj", "down_proj", "up_proj")),
            "state-dict-keys",
            "Missing: w1.weight, w2.weight, w3",
        ),
        (FeedForward(300, 800), "module-too-large", "Submit a smaller one"),
    ],
)
def test_fault_of_swiglu_of_any_size_is_named(module, mistake, words):
    verdict = check("swiglu", module, keep=False, patience=60)
    assert verdict.mistake == mistake
    assert words in str(verdict)


SIZES = "`d_model=8, nhead=2, dim_feedforward=12`"


@pytest.mark.parametrize("sizes", [(16, 4, 32), (8, 4, 12), (8, 1, 12), (8, 2, 16)])
def test_encoder_layer_of_other_sizes_is_told_the_right_ones(sizes):
    for kind in (nn.TransformerEncoderLayer, blocklab.EncoderLayer):
        verdict = check("encoder_layer", kind(*sizes, batch_first=True), keep=False)
        assert verdict.mistake == "other-sizes"
        assert SIZES in str(verdict)


def test_norms_that_are_one_module_are_named():
    layer = blocklab.EncoderLayer(8, 2, 12)
    layer.norm1 = layer.norm2
    verdict = check("encoder_layer", layer, keep=False)
    assert verdict.mistake == "shared-parameters"
    assert "`norm1.weight` = `norm2.weight`" in str(verdict)


def test_module_without_sizes_is_told_so():
    assert check("batch_norm", nn.LazyBatchNorm2d(), keep=False).mistake == "module-without-size"


def test_module_with_other_arguments_is_told_so():
    verdict = check("swish", nn.SiLU(), keep=False)
    assert verdict.mistake == "signature"
    assert "`SiLU(input)`" in str(verdict)


class Counts(nn.ReLU):
    """Remembers how often it was called, in a buffer, and leaves training mode."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        self.eval()
        return super().forward(x)


@pytest.mark.parametrize(
    ("exercise", "module"),
    [
        ("batch_norm", ForPictures(3)),
        ("layer_norm", nn.LayerNorm(4)),
        ("rms_norm", nn.RMSNorm(4, elementwise_affine=False)),
        ("swiglu", FeedForward(4, 6)),
        ("encoder_layer", nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)),
        ("encoder_layer", nn.TransformerEncoderLayer(8, 2, 16)),
        ("relu", Counts()),
    ],
)
def test_check_leaves_module_as_it_was(exercise, module):
    before = {name: x.clone() for name, x in module.state_dict().items()}
    objects = [id(x) for x in (*module.parameters(), *module.buffers())]
    check(exercise, module, keep=False, patience=60)
    assert module.training
    assert [id(x) for x in (*module.parameters(), *module.buffers())] == objects
    assert all(torch.equal(x, before[name]) for name, x in module.state_dict().items())
    assert all(x.grad is None for x in module.parameters())


class WithoutSuper(nn.Module):
    def __init__(self):
        pass


@pytest.mark.parametrize("exercise", ["layer_norm", "swiglu", "encoder_layer"])
def test_module_that_cannot_be_examined_is_told_so(exercise):
    verdict = check(exercise, WithoutSuper(), keep=False)
    assert verdict.mistake == "not-examined"
    assert "stops with" not in str(verdict)


class WithLock(ForPictures):
    """Cannot be copied deeply."""

    def __init__(self, channels):
        super().__init__(channels)
        self.lock = threading.Lock()


def test_module_that_cannot_be_copied_deeply_passes_and_stays_as_it_was():
    module = WithLock(3)
    assert check("batch_norm", module, keep=False, patience=60).passed
    assert not module.running_mean.any()
    assert module.training
