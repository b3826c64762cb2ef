#!/usr/bin/env python3
"""Writes tests/data/layers.csv: what PyTorch makes of random layers.

Each row has a net in the language, the shape that PyTorch gives (channels
last) and its number of parameters. Needs python3-torch; run by hand when a
layer is added: tools/layer_truth.py >tests/data/layers.csv
"""
import random
import torch
from torch import nn

random.seed(20240)


def join(values):
    return "x".join(str(v) for v in values)


def row(net, size, channels, module):
    """One row; `module` sees a batch of one, channels first."""
    data = torch.zeros(1, channels, *size)
    try:
        out = module(data)
    except RuntimeError:
        return  # PyTorch refuses it: no truth
    if 0 in out.shape:
        return  # nothing is left: for us an error
    shape = list(out.shape[2:]) + [out.shape[1]]
    params = sum(p.numel() for p in module.parameters())
    print(f'"input {join(size)}x{channels}; {net}",{join(shape)},{params}')


def some(n, low, high):
    return [random.randint(low, high) for _ in range(n)]


def convolution(axes):
    groups = random.choice([1, 1, 2, 3])
    channels, out = groups * random.randint(1, 4), groups * random.randint(1, 5)
    kernel, stride = some(axes, 1, 5), some(axes, 1, 3)
    pad, dilate = some(axes, 0, 3), some(axes, 1, 2)
    bias = random.random() < 0.7
    size = some(axes, 6, 24)
    conv = [nn.Conv1d, nn.Conv2d, nn.Conv3d][axes - 1]
    text = (f"conv {out} {join(kernel)} /{join(stride)} pad={join(pad)} "
            f"dilate={join(dilate)} groups={groups}"
            + ("" if bias else " nobias"))
    row(text, size, channels, conv(channels, out, tuple(kernel),
                                   tuple(stride), tuple(pad), tuple(dilate),
                                   groups, bias))


def same_convolution(axes):
    channels, out = random.randint(1, 4), random.randint(1, 4)
    kernel, dilate = some(axes, 1, 6), some(axes, 1, 2)
    conv = [nn.Conv1d, nn.Conv2d, nn.Conv3d][axes - 1]
    row(f"conv {out} {join(kernel)} pad dilate={join(dilate)}",
        some(axes, 4, 20), channels,
        conv(channels, out, tuple(kernel), padding="same",
             dilation=tuple(dilate)))


def transposed(axes):
    groups = random.choice([1, 1, 2])
    channels, out = groups * random.randint(1, 3), groups * random.randint(1, 3)
    kernel, stride = some(axes, 1, 4), some(axes, 1, 3)
    pad, dilate = some(axes, 0, 1), some(axes, 1, 2)
    outpad = [random.randint(0, max(s, d) - 1)
              for s, d in zip(stride, dilate)]
    conv = [nn.ConvTranspose1d, nn.ConvTranspose2d,
            nn.ConvTranspose3d][axes - 1]
    row(f"deconv {out} {join(kernel)} /{join(stride)} pad={join(pad)} "
        f"outpad={join(outpad)} groups={groups} dilate={join(dilate)}",
        some(axes, 3, 10), channels,
        conv(channels, out, tuple(kernel), tuple(stride), tuple(pad),
             tuple(outpad), groups, True, tuple(dilate)))


def pooling(axes):
    kernel, stride = some(axes, 1, 5), some(axes, 1, 4)
    pad = [random.randint(0, k // 2) for k in kernel]
    dilate = some(axes, 1, 2)
    ceil = random.random() < 0.5
    pool = [nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d][axes - 1]
    def single(values):
        return values[0] if axes == 1 else tuple(values)
    row(f"pool {join(kernel)} /{join(stride)} pad={join(pad)} "
        f"dilate={join(dilate)}" + (" ceil" if ceil else ""),
        some(axes, 5, 24), random.randint(1, 4),
        pool(single(kernel), single(stride), single(pad), single(dilate),
             ceil_mode=ceil))


def mean_pooling(axes):
    kernel, stride = some(axes, 1, 5), some(axes, 1, 4)
    pad = [random.randint(0, k // 2) for k in kernel]
    ceil = random.random() < 0.5
    pool = [nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d][axes - 1]
    row(f"avgpool {join(kernel)} /{join(stride)} pad={join(pad)}"
        + (" ceil" if ceil else ""),
        some(axes, 5, 24), random.randint(1, 4),
        pool(tuple(kernel), tuple(stride), tuple(pad), ceil))


def adaptive(axes):
    size = some(axes, 1, 7)
    pool = [nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d,
            nn.AdaptiveAvgPool3d][axes - 1]
    row(f"adaptpool {join(size)}", some(axes, 7, 20), 3, pool(tuple(size)))
    pool = [nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d,
            nn.AdaptiveMaxPool3d][axes - 1]
    row(f"adaptmaxpool {join(size)}", some(axes, 7, 20), 3, pool(tuple(size)))


for axes in (1, 2, 3):
    for _ in range(60):
        convolution(axes)
    for _ in range(10):
        same_convolution(axes)
    for _ in range(40):
        transposed(axes)
    for _ in range(60):
        pooling(axes)
    for _ in range(30):
        mean_pooling(axes)
    for _ in range(5):
        adaptive(axes)

for channels in (4, 6, 12):
    row("bn", (5, 7), channels, nn.BatchNorm2d(channels))
    row("instnorm", (5, 7), channels, nn.InstanceNorm2d(channels, affine=True))
    row("gn 2", (5, 7), channels, nn.GroupNorm(2, channels))
    row("lrn 5", (5, 7), channels, nn.LocalResponseNorm(5))
    row("prelu", (5, 7), channels, nn.PReLU(channels))
    row("shuffle 2", (5, 7), channels, nn.ChannelShuffle(2))
    row("up 2", (5, 7), channels, nn.Upsample(scale_factor=2))
    row("space2depth 2", (6, 8), channels, nn.PixelUnshuffle(2))
    row("pixelshuffle 2", (5, 7), 4 * channels, nn.PixelShuffle(2))
    row("pad 1:2", (5, 7), channels, nn.ConstantPad2d((1, 2, 1, 2), 0))


def sequence(net, width, run, module):
    """A row for a sequence; `run` gives its output, LxC or C."""
    length = random.randint(2, 9)
    out = run(torch.zeros(1, length, width))[0]
    params = sum(p.numel() for p in module.parameters())
    print(f'"input {length}x{width}; {net}",{join(out.shape)},{params}')


def recurrent(name, kind):
    width, units = random.randint(1, 9), random.randint(1, 9)
    layers = random.randint(1, 3)
    bidir, bias, last = (random.random() < 0.5 for _ in range(3))
    module = kind(width, units, layers, bias=bias, bidirectional=bidir,
                  batch_first=True)

    def run(data):
        out, state = module(data)
        if not last:
            return out
        state = state[0] if isinstance(state, tuple) else state
        return torch.cat(list(state[-2:] if bidir else state[-1:]), 1)
    sequence(f"{name} {units} layers={layers}" + " bidir" * bidir
             + " nobias" * (not bias) + " last" * last, width, run, module)


def attention():
    heads, dim = random.randint(1, 4), random.randint(1, 5)
    width, bias = heads * dim, random.random() < 0.5
    module = nn.MultiheadAttention(width, heads, bias=bias, batch_first=True)
    sequence(f"attention {heads}" + " nobias" * (not bias), width,
             lambda data: module(data, data, data)[0], module)


def embedding():
    entries, width = random.randint(2, 50), random.randint(1, 20)
    module = nn.Embedding(entries, width)
    out = module(torch.zeros(1, 7, dtype=torch.int64))[0]
    print(f'"input 7 : i64; embed {entries} {width}",{join(out.shape)},'
          f'{entries * width}')


for _ in range(20):
    recurrent("rnn", nn.RNN)
    recurrent("lstm", nn.LSTM)
    recurrent("gru", nn.GRU)
    attention()
for _ in range(5):
    embedding()

for channels in (4, 6):
    row("prelu shared", (5, 7), channels, nn.PReLU())
    row("celu 0.5", (5, 7), channels, nn.CELU(0.5))
    row("hardtanh -2 3", (5, 7), channels, nn.Hardtanh(-2, 3))
    row("softsign", (5, 7), channels, nn.Softsign())
    row("softmax h", (5, 7), channels, nn.Softmax(2))
    row("up 1.5 bicubic", (5, 7), channels,
        nn.Upsample(scale_factor=1.5, mode="bicubic"))
    row("deconv 6 3x3 wnorm", (5, 7), channels, nn.utils.weight_norm(
        nn.ConvTranspose2d(channels, 6, 3)))
    row("deconv 6 3x3 groups=2 spectral nobias", (5, 7), channels,
        nn.utils.spectral_norm(nn.ConvTranspose2d(channels, 6, 3, groups=2,
                                                  bias=False)))
