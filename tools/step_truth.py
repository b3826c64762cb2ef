#!/usr/bin/python3
"""What PyTorch keeps for backward, and how much is alive in a step.

    tools/step_truth.py >tests/data/steps.csv
    tools/step_truth.py WORD...      only nets with one of these words

Each row is a net, most of them small and with frozen parts, beside the same
net in PyTorch, at a batch of 1 and of 3: bytes that autograd saves (storages,
each once, without parameters, buffers and inputs), bytes of the gradients, and
the peak of forward and backward of the sum of the outputs, sampled after every
operation. Run by hand when a rule of what is kept changes.
"""
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import spectral_norm, weight_norm
from torch.utils.checkpoint import checkpoint
from torchvision import models
from torchvision.models.swin_transformer import ShiftedWindowAttention

from alive import TORCH2, VERSION, key_of, measure
from lora import Lora, LoraAttention


# Nets

class Call(nn.Module):
    """A function of the tensor, with the modules that it calls."""

    def __init__(self, function, *modules):
        super().__init__()
        self.function, self.parts = function, nn.ModuleList(modules)

    def forward(self, x):
        return self.function(x, *self.parts)


def ice(*modules):
    """The same, frozen."""
    for module in modules:
        module.requires_grad_(False)
    return modules[0] if len(modules) == 1 else nn.Sequential(*modules)


def seq(*modules):
    return nn.Sequential(*modules)


def row(net, shape, build, kind=torch.float32, train="", batches=(1, 3),
        peak=True):
    """`peak`: no frame of Python holds tensors longer than backward does."""
    if sys.argv[1:] and not any(word in net for word in sys.argv[1:]):
        return
    for batch in batches:
        model = build()
        x = torch.zeros(batch, *shape, dtype=kind)
        bits = int(train[-1]) if "saved_dtype" in train else 0
        values = list(measure(model, [x], bits))
        if not peak:
            values[2] = "-"
        print(f'"{net}",{batch},"{train}",' + ",".join(map(str, values)))


def lin(i, o, bias=True):
    return nn.Linear(i, o, bias)


def conv(i, o, k=3, bias=True, **more):
    return nn.Conv2d(i, o, k, padding=k // 2, bias=bias, **more)


class Weight(nn.Module):
    """A tensor of its own, which is trained."""

    def __init__(self, *shape):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape))

    def forward(self):
        return self.weight


class Constant(nn.Module):
    def __init__(self, *shape):
        super().__init__()
        self.register_buffer("weight", torch.ones(shape))

    def forward(self):
        return self.weight


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * x


class Bare(nn.Module):
    """The same without a scale."""

    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


class FusedNorm(torch.autograd.Function):
    """What apex's functions keep, with kernels that are put together here:
    apex/normalization/fused_layer_norm.py."""

    @staticmethod
    def forward(ctx, x, weight, bias, rms, efficient):
        mean = None if rms else x.mean(-1)
        centered = x if rms else x - mean.unsqueeze(-1)
        factor = torch.rsqrt(centered.pow(2).mean(-1) + 1e-5)
        y = centered * factor.unsqueeze(-1) * weight
        if not rms:
            y = y + bias
        ctx.rms, ctx.efficient = rms, efficient
        ctx.save_for_backward(y if efficient else x, weight, bias,
                              None if efficient else mean, factor)
        return y

    @staticmethod
    def backward(ctx, grad):
        kept, weight, bias, mean, factor = ctx.saved_tensors
        if not ctx.efficient:
            kept = kept if ctx.rms else kept - mean.unsqueeze(-1)
            kept = kept * factor.unsqueeze(-1)
        else:
            kept = (kept if ctx.rms else kept - bias) / weight
        inner = grad * weight
        terms = kept * (inner * kept).mean(-1, keepdim=True)
        if not ctx.rms:
            terms = terms + inner.mean(-1, keepdim=True)
        axes = tuple(range(grad.dim() - 1))
        return ((inner - terms) * factor.unsqueeze(-1),
                (grad * kept).sum(axes),
                None if ctx.rms else grad.sum(axes), None, None)


class Fused(nn.Module):
    def __init__(self, width, rms=False, efficient=False):
        super().__init__()
        self.rms, self.efficient = rms, efficient
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = None if rms else nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return FusedNorm.apply(x, self.weight, self.bias, self.rms,
                               self.efficient)


class Scale(Weight):
    def forward(self, x):
        return x * self.weight


class ChannelScale(nn.Module):
    """Of a map with its channels first."""

    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x):
        return x * self.weight


class Attention(nn.Module):
    """Four projections, and every step of the softmax in memory."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (lin(width, width)
                                            for _ in range(4))

    def forward(self, x):
        n, length, width = x.shape

        def split(y):
            return y.view(n, length, self.heads, -1).transpose(1, 2)

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        scores = q @ k.transpose(2, 3)
        del q, k
        scores = scores * (width // self.heads) ** -0.5
        weights = scores.softmax(-1)
        del scores
        x = weights @ v
        del weights, v
        return self.out(x.transpose(1, 2).reshape(n, length, width))


class Module(nn.Module):
    """`other` attends to another tensor; with `pads` an input of zeros hides
    no key; without `first` the input is what its values are, by position."""

    def __init__(self, width, heads, dropout=0, weights=False, first=True,
                 other=None, pads=False):
        super().__init__()
        self.net = nn.MultiheadAttention(width, heads, dropout,
                                         batch_first=first)
        self.weights, self.first, self.pads = weights, first, pads
        self.other = other

    def forward(self, x):
        seen = self.other(x) if self.other else x
        mask = torch.zeros(x.shape[:2] if self.first else x.shape[1::-1],
                           dtype=torch.bool) if self.pads else None
        return self.net(x, seen, seen, mask, self.weights)[0]


class Steps(nn.Module):
    """A net of length, batch, features. The values are all the same."""

    def __init__(self, *modules):
        super().__init__()
        self.net = nn.Sequential(*modules)

    def forward(self, x):
        batch, length, width = x.shape
        return self.net(x.view(length, batch, width))


class Views(nn.Module):
    """timm/models/vision_transformer.py"""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = lin(width, 3 * width), lin(width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.qkv(x).reshape(
            n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        scores = scores.softmax(-1)
        x = scores @ v
        return self.out(x.transpose(1, 2).reshape(n, length, width))


class Recurrent(nn.Module):
    """The layer by itself: its steps are the first axis, as they lie."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        n, steps, _ = x.shape
        return self.net(x.view(steps, n, -1))[0].view(n, steps, -1)


class Adapted(nn.Module):
    """A block of a transformer of which only the adapters are trained."""

    def __init__(self):
        super().__init__()
        self.embed, self.last = ice(nn.Embedding(10, 8)), ice(lin(8, 10, False))
        self.norms = ice(nn.ModuleList(nn.LayerNorm(8) for _ in range(3)))
        self.attend, self.up = LoraAttention(8, 2, 2), Lora(lin(8, 16), 2)
        self.down = ice(lin(16, 8))

    def forward(self, x):
        x = self.embed(x)
        x = x + self.attend(self.norms[0](x))
        x = x + self.down(F.gelu(self.up(self.norms[1](x))))
        return self.last(self.norms[2](x))


print(f"""\
# What PyTorch {VERSION} keeps and allocates in a step of small nets, in bytes (CPU,
# float32): tools/step_truth.py. loss=sum; peak: of forward and backward,
# without parameters, buffers and input.
# It is - where frames of Python hold what nothing needs any more.
# net,batch,settings,saved,gradients,peak""")

# An operand is kept if the other one needs a gradient.
row("input 8; linear 8; mul {} { weight 8 fixed }; linear 8", (8,),
    lambda: seq(lin(8, 8), Call(lambda x, w: x * w(), Constant(8)),
                lin(8, 8)))
row("input 8; linear 8; mul {} { weight 8 }; linear 8", (8,),
    lambda: seq(lin(8, 8), Call(lambda x, w: x * w(), Weight(8)), lin(8, 8)))
row("input 8; mul {} { linear 8 }; linear 8", (8,),
    lambda: seq(Call(lambda x, a: x * a(x), lin(8, 8)), lin(8, 8)))
row("input 4x8; mul {} { linear 8 }; linear 8", (4, 8),
    lambda: seq(Call(lambda x, a: x * a(x), lin(8, 8)), lin(8, 8)))
row("input 4x8; linear 8; matmul {} { weight 8x5 fixed }; linear 3", (4, 8),
    lambda: seq(lin(8, 8), Call(lambda x, w: x @ w(), Constant(8, 5)),
                lin(5, 3)))

# A dense layer needs rows one behind the other, or copies them.
for bias in True, False:
    no = "" if bias else " nobias"
    row(f"input 4x6x6; linear 6; softmax; permute 1 0 2; linear 5{no}",
        (4, 6, 6), lambda: seq(
            lin(6, 6), nn.Softmax(-1),
            Call(lambda x: x.permute(0, 2, 1, 3)), lin(6, 5, bias)))
    row(f"input 4x6; linear 6; slice l 1:3; linear 5{no}", (4, 6),
        lambda: seq(lin(6, 6), Call(lambda x: x.narrow(1, 1, 2)),
                    lin(6, 5, bias)))
    row(f"input 4x6; linear 6; slice c 1:3; linear 5{no}", (4, 6),
        lambda: seq(lin(6, 6), Call(lambda x: x.narrow(2, 1, 2)),
                    lin(2, 5, bias)))
    row(f"input 4x5x6; linear 6; slice 1 1:3; linear 5{no}", (4, 5, 6),
        lambda: seq(lin(6, 6), Call(lambda x: x.narrow(2, 1, 2)),
                    lin(6, 5, bias)))
row("input 1x6x6; linear 6; permute 1 0 2; linear 5", (1, 6, 6),
    lambda: seq(lin(6, 6), Call(lambda x: x.permute(0, 2, 1, 3)), lin(6, 5)))
row("input 9; linear 8; slice c 1:5; linear 5", (9,),
    lambda: seq(lin(9, 8), Call(lambda x: x.narrow(1, 1, 4)), lin(4, 5)))


# Frozen: before, between and behind what is trained.
KINDS = {
    "linear 8": ((8,), lambda: lin(8, 8)),
    "conv 6 3x3 pad": ((6, 5, 5), lambda: conv(6, 6)),
    "dwconv 3x3 pad": ((6, 5, 5), lambda: conv(6, 6, groups=6)),
    "deconv 6 3x3 pad=1": ((6, 5, 5), lambda: nn.ConvTranspose2d(
        6, 6, 3, padding=1)),
    "bn": ((6, 5, 5), lambda: nn.BatchNorm2d(6)),
    "gn 2": ((6, 5, 5), lambda: nn.GroupNorm(2, 6)),
    "instnorm": ((6, 5, 5), lambda: nn.InstanceNorm2d(6, affine=True)),
    "prelu": ((6, 5, 5), lambda: nn.PReLU(6)),
    "ln": ((4, 8), lambda: nn.LayerNorm(8)),
    "rmsnorm": ((4, 8), lambda: RmsNorm(8)),
    "scale": ((4, 8), lambda: Scale(8)),
    "attention 2 naive": ((4, 8), lambda: Attention(8, 2)),
    "attention 2 packed sbhd" + " naive" * (not TORCH2):  # fused since 2.0
        ((4, 8), lambda: Module(8, 2)),
    "lstm 8": ((4, 8), lambda: Recurrent(nn.LSTM(8, 8))),
    "gru 8": ((4, 8), lambda: Recurrent(nn.GRU(8, 8))),
    "rnn 8": ((4, 8), lambda: Recurrent(nn.RNN(8, 8))),
}
# Of several operations, without a gradient: what a frame holds stays. A frozen
# recurrent layer does not keep its input either.
FRAMES = "attention 2 naive", "attention 2 packed sbhd naive"
STEPS = "lstm 8", "gru 8", "rnn 8"
for word, (shape, build) in KINDS.items():
    dense = len(shape) < 3
    size = shape if dense else (5, 5, 6)

    def trained():
        return lin(8, 8) if dense else conv(6, 6, 1)
    text = "linear 8" if dense else "conv 6 1x1"
    start = f"input {'x'.join(map(str, size))}; "
    row(f"{start}{word} frozen; {text}", shape,
        lambda: seq(ice(build()), trained()),
        peak=word not in FRAMES + STEPS)
    row(f"{start}{text}; {word} frozen; {text}", shape,
        lambda: seq(trained(), ice(build()), trained()),
        peak=word not in STEPS)
    row(f"{start}{text}; {word} frozen; scale", shape,
        lambda: seq(trained(), ice(build()), Scale(8) if dense else
                    ChannelScale(6)), peak=word not in STEPS)

# nn.MultiheadAttention: what it keeps, by need_weights and the order of axes.
# Frames of Python hold the inputs of one that attends to others, and what
# several samples have copied.
for weights in (False, True):
    for first in (True, False):
        for dropout in (0, 0.1):
            naive = " naive" * (weights or not TORCH2)
            words = "attention 2 packed sbhd" + "=all" * (not first) + \
                f" dropout={dropout}" * (dropout > 0) + naive
            told = {"dropout": dropout, "weights": weights, "first": first}
            if not (TORCH2 or weights):
                continue  # 1.13 has one way for both
            around = seq if first else Steps
            row(f"input 5x8; linear 8; {words}; linear 3", (5, 8),
                lambda: around(lin(8, 8), Module(8, 2, **told), lin(8, 3)),
                peak=TORCH2 or not first)
            row(f"input 5x8; {words}; linear 3", (5, 8),
                lambda: around(Module(8, 2, **told), lin(8, 3)),
                peak=TORCH2 or not first)
            row(f"input 5x8; linear 8; fork {{ c: linear 8 }}; {words} "
                "cross=c; linear 3", (5, 8),
                lambda: around(lin(8, 8), Module(8, 2, other=lin(8, 8),
                                                 **told), lin(8, 3)),
                peak=False)
            row(f"input x_ 5x8; input p_ 5; from p_; m: mul -1e9; from x_; "
                f"linear 8; {words} mask=m; linear 3", (5, 8),
                lambda: around(lin(8, 8), Module(8, 2, pads=True, **told),
                               lin(8, 3)), peak=False)

# Layers behind and around what is frozen.
# In place on a view, as a dense layer of rows gives, gradients are copied.
for word, module in [("relu inplace=off", nn.ReLU), ("gelu", nn.GELU),
                     ("silu inplace=off", nn.SiLU), ("sigmoid", nn.Sigmoid),
                     ("leaky inplace=off", nn.LeakyReLU),
                     ("softmax", lambda: nn.Softmax(-1)),
                     ("dropout 0.5", nn.Dropout),
                     ("rmsnorm noaffine", lambda: Bare(8))]:
    row(f"input 4x8; linear 8; linear 8 frozen; {word}; linear 8", (4, 8),
        lambda: seq(lin(8, 8), ice(lin(8, 8)), module(), lin(8, 8)))
    row(f"input 4x8; linear 8 frozen; {word}; linear 8", (4, 8),
        lambda: seq(ice(lin(8, 8)), module(), lin(8, 8)))
row("input 6x6x3; freeze { conv 8 3x3 pad bn relu; pool 2x2 }; "
    "conv 4 3x3 pad bn relu; gap; fc 10", (3, 6, 6),
    lambda: seq(ice(conv(3, 8, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
                    nn.MaxPool2d(2)), conv(8, 4, bias=False),
                nn.BatchNorm2d(4), nn.ReLU(True), nn.AdaptiveAvgPool2d(1),
                nn.Flatten(), lin(4, 10)))
row("input 6x6x3; conv 8 3x3 pad bn relu; freeze { conv 8 3x3 pad bn relu; "
    "avgpool 2x2 }; conv 4 3x3 pad bn relu", (3, 6, 6),
    lambda: seq(conv(3, 8, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
                ice(conv(8, 8, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
                    nn.AvgPool2d(2)), conv(8, 4, bias=False),
                nn.BatchNorm2d(4), nn.ReLU(True)))
row("input 6x6x8; freeze { conv 8 3x3 pad bn frozen=false relu; "
    "conv 8 1x1 nobias }; relu", (8, 6, 6), lambda: seq(
        conv(8, 8, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
        ice(conv(8, 8, 1, bias=False)), nn.ReLU(True)))
for join, function in [("add", torch.add), ("mul", torch.mul),
                       ("sub", torch.sub)]:
    row(f"input 4x8; linear 8; {join} {{ linear 8 frozen }} {{ linear 8 }}; "
        "linear 8", (4, 8), lambda: seq(
            lin(8, 8), Call(lambda x, a, b: function(a(x), b(x)),
                            ice(lin(8, 8)), lin(8, 8)), lin(8, 8)))
    row(f"input 4x8; {join} {{ linear 8 frozen }} {{ linear 8 }}; linear 8",
        (4, 8), lambda: seq(Call(lambda x, a, b: function(a(x), b(x)),
                                 ice(lin(8, 8)), lin(8, 8)), lin(8, 8)))
row("input 4x8; concat { linear 8 frozen } { linear 8 }; linear 8", (4, 8),
    lambda: seq(Call(lambda x, a, b: torch.cat([a(x), b(x)], -1),
                     ice(lin(8, 8)), lin(8, 8)), lin(16, 8)))
row("input 4x8; freeze { add { ln; linear 16 gelu; linear 8 } {} }; linear 8",
    (4, 8), lambda: seq(Call(
        lambda x, n, a, b: b(F.gelu(a(n(x)))) + x,
        ice(nn.LayerNorm(8)), ice(lin(8, 16)), ice(lin(16, 8))), lin(8, 8)))
row("input 4x8; linear 8; freeze { add { ln; linear 16 gelu; linear 8 } {} }; "
    "linear 8", (4, 8), lambda: seq(lin(8, 8), Call(
        lambda x, n, a, b: b(F.gelu(a(n(x)))) + x,
        ice(nn.LayerNorm(8)), ice(lin(8, 16)), ice(lin(16, 8))), lin(8, 8)))
row("input 6 : i64; embed 10 8 frozen; linear 8", (6,),
    lambda: seq(ice(nn.Embedding(10, 8)), lin(8, 8)), torch.int64)
row("input 6 : i64; embed 10 8; linear 8 frozen; linear 4", (6,),
    lambda: seq(nn.Embedding(10, 8), ice(lin(8, 8)), lin(8, 4)), torch.int64)
row("input 6 : i64; embed 10 8 frozen; posembed frozen; ln; linear 4", (6,),
    lambda: seq(ice(nn.Embedding(10, 8)), Call(
        lambda x, p: x + p(), ice(Weight(6, 8))), nn.LayerNorm(8), lin(8, 4)),
    torch.int64)
row("input 6 : i64; words: embed 10 8 frozen; linear 8; "
    "linear 10 nobias tie=words", (6,), lambda: Call(
        lambda x, e, a: F.linear(a(e(x)), e.weight), ice(nn.Embedding(10, 8)),
        lin(8, 8)), torch.int64)
row("input 8; linear 8; shared: linear 8 frozen; relu; again shared; "
    "linear 8", (8,), lambda: Call(
        lambda x, a, b, c: c(b(F.relu_(b(a(x))))), lin(8, 8), ice(lin(8, 8)),
        lin(8, 8)))
row("input 4x8; linear 8 gelu; linear 8 frozen gelu; linear 8 gelu; "
    "linear 8 frozen; linear 8", (4, 8), lambda: seq(
        lin(8, 8), nn.GELU(), ice(lin(8, 8)), nn.GELU(), lin(8, 8), nn.GELU(),
        ice(lin(8, 8)), lin(8, 8)))

# Weights that several layers share: gradients are summed into a third tensor.
for bias in True, False:
    no = "" if bias else " nobias"
    row(f"input 4x8; linear 8; s: linear 8{no}; again s; linear 8", (4, 8),
        lambda: Call(lambda x, a, b, c: c(b(b(a(x)))), lin(8, 8),
                     lin(8, 8, bias), lin(8, 8)))
    row(f"input 8; linear 8; s: linear 8{no}; again s; again s; linear 8",
        (8,), lambda: Call(lambda x, a, b, c: c(b(b(b(a(x))))), lin(8, 8),
                           lin(8, 8, bias), lin(8, 8)))
    row(f"input 3x3x16; conv 16 1x1; s: conv 16 3x3 pad{no}; again s; "
        "conv 16 1x1", (16, 3, 3), lambda: Call(
            lambda x, a, b, c: c(b(b(a(x)))), conv(16, 16, 1),
            conv(16, 16, 3, bias), conv(16, 16, 1)))
row("input 3x3x4; conv 4 1x1; s: conv 400 1x1; conv 4 1x1; again s", (4, 3, 3),
    lambda: Call(lambda x, a, b, c: b(c(b(a(x)))), conv(4, 4, 1),
                 conv(4, 400, 1), conv(400, 4, 1)))
row("input 4x8; linear 8; s: ln; linear 8; again s; linear 8", (4, 8),
    lambda: Call(lambda x, a, n, b, c: c(n(b(n(a(x))))), lin(8, 8),
                 nn.LayerNorm(8), lin(8, 8), lin(8, 8)))
row("input 6 : i64; words: embed 100 8; linear 8; linear 100 nobias "
    "tie=words", (6,), lambda: Call(
        lambda x, e, a: F.linear(a(e(x)), e.weight), nn.Embedding(100, 8),
        lin(8, 8)), torch.int64)
row("input 4x8; linear 8; s: scale; linear 8; again s; linear 8", (4, 8),
    lambda: Call(lambda x, a, n, b, c: c(n(b(n(a(x))))), lin(8, 8),
                 Scale(8), lin(8, 8), lin(8, 8)))

# Recurrent layers, step by step.
for word, kind in ("rnn", nn.RNN), ("lstm", nn.LSTM), ("gru", nn.GRU):
    row(f"input 9x6; linear 6; {word} 7 nobias; linear 3", (9, 6),
        lambda: seq(lin(6, 6), Recurrent(kind(6, 7, bias=False)), lin(7, 3)))
    row(f"input 1x6; {word} 7 layers=3; linear 3", (1, 6),
        lambda: seq(Recurrent(kind(6, 7, 3)), lin(7, 3)))
    row(f"input 30x8; {word} 16 layers=2 bidir dropout=0.5; linear 4", (30, 8),
        lambda: seq(Recurrent(kind(8, 16, 2, bidirectional=True,
                                   dropout=0.5)), lin(32, 4)))
    row(f"input 12x4; linear 4; {word} 3 bidir frozen; linear 4", (12, 4),
        lambda: seq(lin(4, 4), ice(Recurrent(kind(4, 3, bidirectional=True))),
                    lin(6, 4)), peak=False)
    row(f"input 35 : i64; embed 300 64; {word} 64 layers=2; linear 300", (35,),
        lambda: seq(nn.Embedding(300, 64), Recurrent(kind(64, 64, 2)),
                    lin(64, 300)), torch.int64, batches=(1, 20))

# Layers that are computed in place, or not.
row("input 4x8; linear 8; relu inplace=off; linear 8", (4, 8),
    lambda: seq(lin(8, 8), nn.ReLU(), lin(8, 8)))
row("input 8; linear 8; silu inplace=on; linear 8; silu inplace=off; "
    "linear 8", (8,), lambda: seq(lin(8, 8), nn.SiLU(True), lin(8, 8),
                                    nn.SiLU(), lin(8, 8)))
for word, module in [("relu", lambda: nn.ReLU(True)),
                     ("silu", lambda: nn.SiLU(True)),
                     ("leaky", lambda: nn.LeakyReLU(inplace=True))]:
    row(f"input 8; linear 8; linear 8 frozen {word}; linear 8", (8,),
        lambda: seq(lin(8, 8), ice(lin(8, 8)), module(), lin(8, 8)))
    row(f"input 8; linear 8 frozen {word}; linear 8", (8,),
        lambda: seq(ice(lin(8, 8)), module(), lin(8, 8)))
row("input 6x6x8; conv 8 1x1 bn relu inplace=off; conv 8 1x1 bn relu; "
    "conv 8 1x1", (8, 6, 6), lambda: seq(
        conv(8, 8, 1, False), nn.BatchNorm2d(8), nn.ReLU(),
        conv(8, 8, 1, False), nn.BatchNorm2d(8), nn.ReLU(True),
        conv(8, 8, 1)))
row("input 8; linear 8; relu inplace=on; linear 8; leaky; linear 8", (8,),
    lambda: seq(lin(8, 8), nn.ReLU(True), lin(8, 8), nn.LeakyReLU(),
                lin(8, 8)), train="inplace=off")
row("input 4x8; linear 8; add { linear 8 } {} inplace=off; linear 8", (4, 8),
    lambda: seq(lin(8, 8), Call(lambda x, a: a(x) + x, lin(8, 8)),
                lin(8, 8)))


class Mixed(nn.Module):
    """Under autocast, whose cache is emptied behind it."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.net(x)


class Checkpoint(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return checkpoint(self.net, x, use_reentrant=False)


# Mixed precision: of frozen matrices, each use has a copy of its own.
for word, shape, build, text, trained in [
        ("linear 8", (4, 8), lambda: lin(8, 8), "linear 8",
         lambda: lin(8, 8)),
        ("conv 6 3x3 pad", (6, 5, 5), lambda: conv(6, 6), "conv 6 1x1",
         lambda: conv(6, 6, 1))]:
    start = "input 4x8; " if len(shape) < 3 else "input 5x5x6; "
    for net, build_all in [
            (f"{word} frozen; {text}",
             lambda: seq(ice(build()), trained())),
            (f"{text}; {word} frozen; {text}",
             lambda: seq(trained(), ice(build()), trained())),
            (f"{text}; {word} frozen", lambda: seq(trained(), ice(build()))),
            (f"{text}; shared: {word} frozen; again shared; {text}",
             lambda: Call(lambda x, a, b, c: c(b(b(a(x)))), trained(),
                          ice(build()), trained()))]:
        row(start + net, shape, lambda: Mixed(build_all()),
            train="precision=mixed", peak=False)

# Segments that are computed once more, and some that need not be.
row("input 4x8; checkpoint { linear 8 frozen; gelu; linear 8 frozen }; "
    "linear 8", (4, 8), lambda: seq(Checkpoint(ice(
        lin(8, 8), nn.GELU(), lin(8, 8))), lin(8, 8)))
row("input 4x8; linear 32 frozen; checkpoint { linear 32 frozen; gelu; "
    "linear 32 frozen }; gelu; linear 8", (4, 8), lambda: seq(
        ice(lin(8, 32)), Checkpoint(ice(lin(32, 32), nn.GELU(), lin(32, 32))),
        nn.GELU(), lin(32, 8)), peak=False)
row("input 4x8; checkpoint { linear 8 frozen; gelu; linear 8 }; linear 8",
    (4, 8), lambda: seq(Checkpoint(seq(
        ice(lin(8, 8)), nn.GELU(), lin(8, 8))), lin(8, 8)), peak=False)

# Adapters of low rank beside frozen weights.
row("input 8; linear 8 lora=2; linear 8 lora=2", (8,),
    lambda: seq(Lora(lin(8, 8), 2), Lora(lin(8, 8), 2)))
row("input 4x8; linear 8; linear 16 nobias lora=3 lora_alpha=6; linear 4",
    (4, 8), lambda: seq(lin(8, 8), Lora(lin(8, 16, False), 3, 6),
                        lin(16, 4)))
row("input 4x8; linear 8 lora=2 lora_dropout=0.1; gelu; linear 8 lora=2 "
    "lora_dropout=0.1", (4, 8), lambda: seq(
        Lora(lin(8, 8), 2, dropout=0.1), nn.GELU(),
        Lora(lin(8, 8), 2, dropout=0.1)), peak=False)
row("input 5x5x6; conv 6 3x3 pad lora=2; bn frozen; relu; fc 10 lora=4",
    (6, 5, 5), lambda: seq(Lora(conv(6, 6), 2), ice(nn.BatchNorm2d(6)),
                           nn.ReLU(True), nn.Flatten(),
                           Lora(lin(150, 10), 4)))
row("input 5x5x6; conv 6 1x1; conv 8 3x3 pad groups=2 lora=4; conv 4 1x1",
    (6, 5, 5), lambda: seq(conv(6, 6, 1), Lora(conv(6, 8, groups=2), 4),
                           conv(8, 4, 1)))
for word, more in [("lora=2", {}), ("lora=2 lora_on=qkvo", {"on": "qkvo"}),
                   ("packed lora=2", {"packed": True})]:
    row(f"input 5x8; attention 2 naive {word}; linear 8 lora=2", (5, 8),
        lambda: seq(LoraAttention(8, 2, 2, **more), Lora(lin(8, 8), 2)),
        peak=False)
row("input 6 : i64; freeze { embed 10 8; add { ln; attention 2 naive lora=2 } "
    "{}; add { ln; linear 16 lora=2 gelu; linear 8 } {}; ln; linear 10 "
    "nobias }", (6,), lambda: Adapted(), torch.int64, peak=False)

# The same with a length for each output.
row("input 8; linear 8 lora=2 dora; linear 8 lora=2 dora", (8,),
    lambda: seq(Lora(lin(8, 8), 2, dora=True), Lora(lin(8, 8), 2, dora=True)))
row("input 4x8; linear 8; linear 16 nobias lora=3 lora_alpha=6 dora; linear 4",
    (4, 8), lambda: seq(lin(8, 8), Lora(lin(8, 16, False), 3, 6, dora=True),
                        lin(16, 4)))
row("input 40x8; linear 8; linear 8 lora=2 dora; linear 4", (40, 8),
    lambda: seq(lin(8, 8), Lora(lin(8, 8), 2, dora=True), lin(8, 4)))
row("input 4x8; linear 24 lora=2 dora; gelu; linear 8 lora=2 dora", (4, 8),
    lambda: seq(Lora(lin(8, 24), 2, dora=True), nn.GELU(),
                Lora(lin(24, 8), 2, dora=True)))
row("input 4x8; linear 8 lora=2 lora_dropout=0.1 dora; gelu; linear 8 lora=2 "
    "lora_dropout=0.1 dora", (4, 8), lambda: seq(
        Lora(lin(8, 8), 2, dropout=0.1, dora=True), nn.GELU(),
        Lora(lin(8, 8), 2, dropout=0.1, dora=True)), peak=False)
row("input 5x5x6; conv 6 3x3 pad lora=2 dora; bn frozen; relu; fc 10 lora=4 "
    "dora", (6, 5, 5), lambda: seq(
        Lora(conv(6, 6), 2, dora=True), ice(nn.BatchNorm2d(6)), nn.ReLU(True),
        nn.Flatten(), Lora(lin(150, 10), 4, dora=True)))
row("input 5x5x6; conv 6 1x1; conv 8 3x3 pad lora=4 dora nobias; conv 4 1x1",
    (6, 5, 5), lambda: seq(conv(6, 6, 1), Lora(conv(6, 8, bias=False), 4,
                                               dora=True), conv(8, 4, 1)))
for word, more in [("lora=2", {}), ("lora=2 lora_on=qkvo", {"on": "qkvo"}),
                   ("packed lora=2", {"packed": True})]:
    row(f"input 5x8; attention 2 naive {word} dora; linear 8 lora=2 dora",
        (5, 8), lambda: seq(LoraAttention(8, 2, 2, dora=True, **more),
                            Lora(lin(8, 8), 2, dora=True)), peak=False)

# What is kept in groups of fewer bits.
for bits in 8, 4, 2:
    train = f"saved_dtype=i{bits}"
    row("input 40x8; linear 16 gelu; linear 8; softmax; linear 8", (40, 8),
        lambda: seq(lin(8, 16), nn.GELU(), lin(16, 8), nn.Softmax(-1),
                    lin(8, 8)), train=train, peak=False)
    row("input 40x8; linear 8; add { ln; linear 32 gelu; dropout 0.1; linear "
        "8 } {}; linear 8 frozen; gelu", (40, 8), lambda: seq(lin(8, 8), Call(
            lambda x, n, a, d, b: b(d(F.gelu(a(n(x))))) + x, nn.LayerNorm(8),
            lin(8, 32), nn.Dropout(0.1), lin(32, 8)), ice(lin(8, 8)),
            nn.GELU()), train=train, peak=False)
    row("input 20x20x3; conv 6 3x3 pad bn relu; pool 2x2; conv 8 3x3 pad "
        "frozen; sigmoid; gap; fc 10", (3, 20, 20), lambda: seq(
            conv(3, 6, bias=False), nn.BatchNorm2d(6), nn.ReLU(True),
            nn.MaxPool2d(2), ice(conv(6, 8)), nn.Sigmoid(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), lin(8, 10)), train=train,
        peak=False)
    row("input 20x8; linear 8 frozen; gelu; linear 8; mul {} { linear 8 }; "
        "tanh", (20, 8), lambda: seq(ice(lin(8, 8)), nn.GELU(), lin(8, 8),
                                     Call(lambda x, a: x * a(x), lin(8, 8)),
                                     nn.Tanh()), train=train, peak=False)

# Norms in one kernel, which keep their input, or their output.
for word, efficient in ("fused", False), ("efficient", True):
    def fused(rms=False):
        return Fused(8, rms, efficient)
    for norm in "ln", "rmsnorm":
        rms = norm == "rmsnorm"
        row(f"input 4x8; linear 8; {norm}; linear 8", (4, 8),
            lambda: seq(lin(8, 8), fused(rms), lin(8, 8)),
            train=f"norms={word}", peak=False)
        row(f"input 4x8; linear 8; add {{ {norm}; linear 8 }} {{}}; gelu; "
            "linear 8", (4, 8), lambda: seq(lin(8, 8), Call(
                lambda x, n, a: a(n(x)) + x, fused(rms), lin(8, 8)),
                nn.GELU(), lin(8, 8)), train=f"norms={word}", peak=False)
        row(f"input 4x8; {norm}; gelu; {norm}; silu; linear 8", (4, 8),
            lambda: seq(fused(rms), nn.GELU(), fused(rms),
                        nn.SiLU(not efficient), lin(8, 8)), train=f"norms={word} inplace=off"
            if efficient else f"norms={word}", peak=False)

# Two operands, of the same size or spread over the other one.
JOINS = {"max": torch.maximum, "min": torch.minimum, "sub": torch.sub,
         "div": torch.div, "mul": torch.mul, "add": torch.add}
for word, function in JOINS.items():
    row(f"input 4x8; linear 8; {word} {{ linear 8 frozen }} {{ linear 8 }}; "
        "tanh", (4, 8), lambda: seq(lin(8, 8), Call(
            lambda x, a, b: function(a(x), b(x)), ice(lin(8, 8)), lin(8, 8)),
            nn.Tanh()))
    row(f"input 4x8; {word} {{ linear 8 }} {{ linear 8 frozen }}; linear 8",
        (4, 8), lambda: seq(Call(lambda x, a, b: function(a(x), b(x)),
                                 lin(8, 8), ice(lin(8, 8))), lin(8, 8)))
    row(f"input 40x8; linear 8; {word} {{ linear 8 }} {{ linear 8 }}; tanh",
        (40, 8), lambda: seq(lin(8, 8), Call(
            lambda x, a, b: function(a(x), b(x)), lin(8, 8), lin(8, 8)),
            nn.Tanh()))
    row(f"input 40x8; linear 8; {word} {{ linear 8 }} {{ linear 8 }} "
        "{ linear 8 }; tanh", (40, 8), lambda: seq(lin(8, 8), Call(
            lambda x, a, b, c: function(function(a(x), b(x)), c(x)),
            lin(8, 8), lin(8, 8), lin(8, 8)), nn.Tanh()))
    for fixed, other in ("", Weight), (" fixed", Constant):
        row(f"input 40x8; linear 8; {word} {{ linear 8 }} "
            f"{{ weight 8{fixed} }}; tanh", (40, 8), lambda: seq(
                lin(8, 8), Call(lambda x, a, b: function(a(x), b()),
                                lin(8, 8), other(8)), nn.Tanh()))

# Parts of a tensor; one that nothing reads has a gradient of zeros.
row("input 40x8; linear 8; p: split c 2; add { from p[1]; linear 4 } "
    "{ from p[2]; linear 4 }; tanh", (40, 8), lambda: seq(lin(8, 8), Call(
        lambda x, a, b: (lambda p: a(p[0]) + b(p[1]))(x.chunk(2, -1)),
        lin(4, 4), lin(4, 4)), nn.Tanh()))
row("input 40x8; linear 8; p: split c 2; from p[1]; linear 4 tanh", (40, 8),
    lambda: seq(lin(8, 8), Call(lambda x: x.chunk(2, -1)[0]), lin(4, 4),
                nn.Tanh()))
row("input 40x8; linear 8; p: split c 2; from p[1]; sigmoid", (40, 8),
    lambda: seq(lin(8, 8), Call(lambda x: x.chunk(2, -1)[0]), nn.Sigmoid()))
row("input 40x8; linear 8; p: split c 4; from p[2]; sigmoid", (40, 8),
    lambda: seq(lin(8, 8), Call(lambda x: x.chunk(4, -1)[1]), nn.Sigmoid()))
row("input 40x8; linear 8; p: split c 2; mul { from p[1]; sigmoid } "
    "{ from p[2] }; tanh", (40, 8), lambda: seq(lin(8, 8), Call(
        lambda x: (lambda p: p[0].sigmoid() * p[1])(x.chunk(2, -1))),
        nn.Tanh()))
row("input 40x8; linear 8; p: split c 2 4 2; concat { from p[1]; sigmoid } "
    "{ from p[2]; tanh } { from p[3] }; tanh", (40, 8), lambda: seq(
        lin(8, 8), Call(lambda x: (lambda p: torch.cat(
            [p[0].sigmoid(), p[1].tanh(), p[2]], -1))(
                x.split([2, 4, 2], -1))), nn.Tanh()))
row("input 6x6x8; conv 8 1x1; p: split c 2; concat { from p[1] } "
    "{ from p[2] } { from p[2]; conv 4 3x3 pad }; conv 4 1x1 tanh", (8, 6, 6),
    lambda: seq(conv(8, 8, 1), Call(
        lambda x, b: (lambda p: torch.cat([p[0], p[1], b(p[1])], 1))(
            x.chunk(2, 1)), conv(4, 4)), conv(12, 4, 1), nn.Tanh()))

# Padding: of what is not zero, backward asks the input for its size.
for mode, word in [("constant", ""), ("reflect", " mode=reflect"),
                   ("replicate", " mode=replicate")]:
    row(f"input 6x6x3; conv 4 1x1; pad 2{word}; conv 4 3x3 tanh", (3, 6, 6),
        lambda: seq(conv(3, 4, 1), Call(lambda x: F.pad(x, (2,) * 4, mode)),
                    nn.Conv2d(4, 4, 3), nn.Tanh()))
    row(f"input 6x6x3; pad 2{word}; conv 4 3x3 tanh", (3, 6, 6), lambda: seq(
        Call(lambda x: F.pad(x, (2,) * 4, mode)), nn.Conv2d(3, 4, 3),
        nn.Tanh()))
    row(f"input 9x3; conv 4 1; pad 2{word}; conv 4 3 tanh", (3, 9),
        lambda: seq(nn.Conv1d(3, 4, 1), Call(
            lambda x: F.pad(x, (2, 2), mode)), nn.Conv1d(4, 4, 3), nn.Tanh()))

# Axes in another order: samples are multiplied one by one where the two of
# them change places; gradients of rows that are apart are copied.
def turn(*order):
    return Call(lambda x: x.permute(*order))


for no in "", " nobias":
    def last():
        return lin(8, 8, not no)
    row(f"input 40x6x8; linear 8{no}; permute 1 0 2; tanh", (40, 6, 8),
        lambda: seq(last(), turn(0, 2, 1, 3), nn.Tanh()))
    row(f"input 40x8; linear 8; linear 8{no}; permute 1 0; tanh", (40, 8),
        lambda: seq(lin(8, 8), last(), turn(0, 2, 1), nn.Tanh()))
    row(f"input 40x8; linear 8; linear 8{no}; permute 1 0; linear 6 tanh",
        (40, 8), lambda: seq(lin(8, 8), last(), turn(0, 2, 1), lin(40, 6),
                             nn.Tanh()))
    for order in (0, 2, 1, 3), (0, 3, 1, 2):
        words = " ".join(str(i - 1) for i in order[1:])
        row(f"input 40x6x8; linear 8; linear 8{no}; permute {words}; linear 8 "
            "tanh", (40, 6, 8), lambda: seq(
                lin(8, 8), last(), turn(*order), lin((8, 6)[order[3] == 2], 8),
                nn.Tanh()))
for word, module in [("gelu", nn.GELU), ("ln", lambda: nn.LayerNorm(8)),
                     ("scale", lambda: Scale(8)),
                     ("softmax", lambda: nn.Softmax(-1))]:
    row(f"input 40x6x8; linear 8; {word}; permute 1 0 2; tanh", (40, 6, 8),
        lambda: seq(lin(8, 8), module(), turn(0, 2, 1, 3), nn.Tanh()))
    row(f"input 40x6x8; linear 8; permute 1 0 2; {word}; linear 4 tanh",
        (40, 6, 8), lambda: seq(lin(8, 8), turn(0, 2, 1, 3), module(),
                                lin(8, 4), nn.Tanh()))
row("input 40x8; linear 8; permute 1 0; tanh; linear 8 tanh", (40, 8),
    lambda: seq(lin(8, 8), turn(0, 2, 1), nn.Tanh(), lin(40, 8), nn.Tanh()))
row("input 40x8; linear 8; permute 1 0; gelu; linear 8 gelu; permute 1 0; "
    "linear 9 tanh", (40, 8), lambda: seq(
        lin(8, 8), turn(0, 2, 1), nn.GELU(), lin(40, 8), nn.GELU(),
        turn(0, 2, 1), lin(8, 9), nn.Tanh()))
row("input 40x6x8; linear 8; permute 1 0 2; mul {} { linear 8 }; linear 8 "
    "tanh", (40, 6, 8), lambda: seq(
        lin(8, 8), turn(0, 2, 1, 3), Call(lambda x, a: x * a(x), lin(8, 8)),
        lin(8, 8), nn.Tanh()))
row("input 40x8; linear 8; permute 1 0; linear 40; permute 1 0; linear 8 "
    "tanh", (40, 8), lambda: seq(lin(8, 8), turn(0, 2, 1), lin(40, 40),
                                 turn(0, 2, 1), lin(8, 8), nn.Tanh()))
row("input 40x8; linear 8; permute 1 0; s: linear 40; again s; permute 1 0; "
    "linear 8 tanh", (40, 8), lambda: Call(
        lambda x, a, s, b: b(s(s(a(x).transpose(1, 2))).transpose(
            1, 2)).tanh(), lin(8, 8), lin(40, 40), lin(8, 8)))
row("input 40x8; linear 8; add {} { ln; permute 1 0; linear 64 gelu; linear "
    "40; permute 1 0 }; add {} { ln; linear 32 gelu; linear 8 }; ln", (40, 8),
    lambda: seq(lin(8, 8), Call(
        lambda x, n, a, b: x + b(F.gelu(a(n(x).transpose(1, 2)))).transpose(
            1, 2), nn.LayerNorm(8), lin(40, 64), lin(64, 40)),
        Call(lambda x, n, a, b: x + b(F.gelu(a(n(x)))), nn.LayerNorm(8),
             lin(8, 32), lin(32, 8)), nn.LayerNorm(8)))
row("input 6x6x8; conv 8 1x1; linear 8; conv 8 3x3 pad; tanh", (8, 6, 6),
    lambda: Call(lambda x, d, a, c: c(a(d(x).permute(0, 2, 3, 1)).permute(
        0, 3, 1, 2)).tanh(), conv(8, 8, 1), lin(8, 8), conv(8, 8)))
row("input 6x6x8; conv 8 1x1; add {} { dwconv 3x3 pad; ln; linear 32 gelu; "
    "linear 8; scale }; conv 4 1x1 tanh", (8, 6, 6), lambda: Call(
        lambda x, d, e, n, a, b, g, c: (lambda y: c(y + g(b(F.gelu(a(n(
            e(y).permute(0, 2, 3, 1)))))).permute(0, 3, 1, 2)).tanh())(d(x)),
        conv(8, 8, 1), conv(8, 8, groups=8), nn.LayerNorm(8), lin(8, 32),
        lin(32, 8), Scale(8), conv(8, 4, 1)))

# timm's attention: queries, keys and values are parts of one tensor.
row("input 197x384; add {} { ln; attention 6 views naive }", (197, 384),
    lambda: Call(lambda x, n, a: x + a(n(x)), nn.LayerNorm(384),
                 Views(384, 6)))


class Windows(nn.Module):
    """torchvision's windows, between two dense layers."""

    def __init__(self, window):
        super().__init__()
        self.first, self.last = lin(8, 8), lin(8, 4)
        self.windows = ShiftedWindowAttention(8, [window] * 2, [0, 0], 2)

    def forward(self, x):
        n, c, h, _ = x.shape
        return self.last(self.windows(self.first(x.view(n, h, h, c))))


# Some windows, and a single one; frames of Python hold the parts of them.
for h, w in (4, 2), (2, 2), (3, 3), (6, 3):
    n = h // w
    row(f"input {h}x{h}x8; linear 8; reshape {n} x {w} x {n} x {w} x 8; "
        f"permute 0 2 1 3 4; reshape _x{w * w} x 8; attention 2 views "
        f"scale=queries relative={w}x{w} naive; reshape {n} x {n} x {w}x{w} x "
        f"8; permute 0 2 1 3 4; reshape {h} x {h} x 8; linear 4", (8, h, h),
        lambda: Windows(w), peak=False)

# Small words. Norms without a shift, weights that have a gain.
def unshifted(norm):
    norm.bias = None
    return norm


class Gained(nn.Conv2d):
    """timm/layers/std_conv.py: ScaledStdConv2d"""

    def __init__(self, i, o, k, **more):
        super().__init__(i, o, k, **more)
        self.gain = nn.Parameter(torch.ones(o, 1, 1))
        self.scale = self.weight[0].numel() ** -0.5

    def forward(self, x):
        weight = F.batch_norm(
            self.weight.reshape(1, self.out_channels, -1), None, None,
            weight=(self.gain * self.scale).view(-1), training=True,
            momentum=0., eps=1e-6).reshape_as(self.weight)
        return F.conv2d(x, weight, self.bias, self.stride, self.padding,
                        self.dilation, self.groups)


MAP, ROWS = (4, 6, 5), (6, 8)
for word, build in [
        ("bn nobias", lambda: unshifted(nn.BatchNorm2d(8))),
        ("gn 2 nobias", lambda: unshifted(nn.GroupNorm(2, 8))),
        ("instnorm nobias",
         lambda: unshifted(nn.InstanceNorm2d(8, affine=True))),
        ("prelu", lambda: nn.PReLU(8)), ("prelu shared", nn.PReLU),
        ("prelu shared frozen", lambda: ice(nn.PReLU())),
        ("softsign", nn.Softsign),
        ("hardtanh -0.5 2 inplace=off", lambda: nn.Hardtanh(-0.5, 2)),
        ("pad 1 circular", lambda: Call(
            lambda x: F.pad(x, (1, 1, 1, 1), mode="circular"))),
        ("pad 1x2 circular", lambda: Call(
            lambda x: F.pad(x, (2, 2, 1, 1), mode="circular"))),
        ("pad 0:1x2:0 circular", lambda: Call(
            lambda x: F.pad(x, (2, 0, 0, 1), mode="circular"))),
        ("softmax h", lambda: nn.Softmax(2)),
        ("softmax w", lambda: nn.Softmax(3)),
        ("softmax c", lambda: nn.Softmax(1)),
        ("logsoftmax h", lambda: nn.LogSoftmax(2)),
        ("up 2 bicubic", lambda: nn.Upsample(scale_factor=2,
                                             mode="bicubic")),
        ("sin", lambda: Call(torch.sin)), ("cos", lambda: Call(torch.cos)),
        ("conv 8 3x3 ws gain", lambda: Gained(8, 8, 3)),
        ("conv 8 3x3 ws gain nobias", lambda: Gained(8, 8, 3, bias=False)),
        ("conv 8 3x3 groups=2 ws gain", lambda: Gained(8, 8, 3, groups=2)),
        ("dwconv 3x3 ws gain", lambda: Gained(8, 8, 3, groups=8)),
        ("deconv 6 3x3 /2 wnorm",
         lambda: weight_norm(nn.ConvTranspose2d(8, 6, 3, 2))),
        ("deconv 6 3x3 nobias wnorm",
         lambda: weight_norm(nn.ConvTranspose2d(8, 6, 3, bias=False))),
        ("deconv 6 3x3 groups=2 wnorm",
         lambda: weight_norm(nn.ConvTranspose2d(8, 6, 3, groups=2))),
        ("conv 6 3x3 spectral", lambda: spectral_norm(nn.Conv2d(8, 6, 3))),
        ("deconv 6 3x3 spectral",
         lambda: spectral_norm(nn.ConvTranspose2d(8, 6, 3))),
        ("deconv 6 3x3 groups=2 spectral",
         lambda: spectral_norm(nn.ConvTranspose2d(8, 6, 3, groups=2)))]:
    out = 6 if "conv 6" in word else 8
    row(f"input 6x5x4; conv 8 1x1; {word}; conv 3 1x1", MAP,
        lambda: seq(conv(4, 8, 1), build(), conv(out, 3, 1)),
        batches=[1] if "instnorm" in word else (1, 3))
for word, build in [
        ("ln nobias", lambda: unshifted(nn.LayerNorm(8))),
        ("sin", lambda: Call(torch.sin)), ("cos", lambda: Call(torch.cos)),
        ("celu 0.7 inplace=off", lambda: nn.CELU(0.7)),
        ("hardtanh inplace=off", nn.Hardtanh), ("softsign", nn.Softsign),
        ("prelu shared", nn.PReLU),
        ("softmax l", lambda: nn.Softmax(1))]:
    row(f"input 6x8; linear 8; {word}; linear 3", ROWS,
        lambda: seq(lin(8, 8), build(), lin(8, 3)))
def causal(x):
    hidden = torch.ones(*x.shape[-2:], dtype=torch.bool).triu(1)
    return x.masked_fill(hidden, -math.inf).softmax(-1)


def written(x, q, k, v, o):
    """Attention of one head, with every step in memory."""
    scores = q(x) @ k(x).transpose(1, 2) * 8 ** -0.5
    scores = causal(scores)
    x = scores @ v(x)
    del scores
    return o(x)


row("input 6x8; linear 6; softmax causal; linear 3", ROWS,
    lambda: seq(lin(8, 6), Call(causal), lin(6, 3)))
row("input 6x8; linear 9; softmax causal; linear 3", ROWS,
    lambda: seq(lin(8, 9), Call(causal), lin(9, 3)))
row("input 6x8; matmul { matmul { linear 8 } { linear 8; permute 1 0 }; "
    "mul 0.35; softmax causal } { linear 8 }; linear 8", ROWS,
    lambda: Call(written, *(lin(8, 8) for _ in range(4))), peak=False)
row("input 6x8; ln nobias; linear 3", ROWS,
    lambda: seq(unshifted(nn.LayerNorm(8)), lin(8, 3)))
row("input 6x8; linear 8; ln nobias frozen; linear 3", ROWS,
    lambda: seq(lin(8, 8), ice(unshifted(nn.LayerNorm(8))), lin(8, 3)))
for word, build in ("celu 0.7", nn.CELU), ("hardtanh", nn.Hardtanh):
    row(f"input 6x5x4; conv 8 1x1; {word}; conv 3 1x1", MAP,
        lambda: seq(conv(4, 8, 1), build(inplace=True), conv(8, 3, 1)))
row("input 16x4; conv 8 3; deconv 6 4 /2 pad=1 wnorm leaky(0.1); conv 3 1",
    (4, 16), lambda: seq(
        nn.Conv1d(4, 8, 3), weight_norm(nn.ConvTranspose1d(8, 6, 4, 2, 1)),
        nn.LeakyReLU(0.1, True), nn.Conv1d(6, 3, 1)))

# Whole nets.
row("examples/zoo/inception_v3.net", (3, 299, 299),
    lambda: Call(lambda x, net: tuple(net(x)), models.inception_v3(
        weights=None, init_weights=False)), train="-Daux=true", batches=[2])
row("examples/zoo/swin.net", (3, 224, 224),
    lambda: models.swin_t(weights=None), batches=[1, 2])
