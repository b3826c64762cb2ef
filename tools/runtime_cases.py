#!/usr/bin/python3
"""Cases for the runtime's kernels from PyTorch: runtime_cases.py FOLDER.

Writes cases.txt and cases.bin. A case is one operation of runtime/ops.def:

    case conv stride and padding
    numbers 1 2 1 1
    reals 1e-05
    in 1x5x5x3 scale=4      what it reads; both sides make the same values
    out 1x3x3x4             whose values follow in cases.bin, as float32

Inputs come from a small generator, so that only outputs are kept. They are
computed in 64 bits. Needs Debian's python3-torch (1.13).
"""
import struct
import sys

import numpy
import torch
import torchvision
from torch.nn import functional as F

from sequence_truth import bucket

CASES = []
state = 1


def uniform(count):
    """As test_runtime.c does: values of 24 bits in [-1, 1)."""
    global state
    values = numpy.empty(count, numpy.float64)
    for i in range(count):
        state = (state * 1664525 + 1013904223) & 0xffffffff
        values[i] = (state >> 8) / 2**23 - 1
    return values


class Input:
    """shape, and: scale=2^n, plus (above 0), or index=N (type i32 or i64)"""

    def __init__(self, *shape, scale=1, plus=0, index=0, type="i32"):
        self.shape, self.scale, self.plus = shape, scale, plus
        self.index, self.type = index, type

    def text(self):
        words = ["x".join(map(str, self.shape))]
        if self.scale != 1:
            words.append(f"scale={self.scale}")
        if self.plus:
            words.append(f"plus={self.plus}")
        if self.index:
            words.append(f"{self.type}={self.index}")
        return " ".join(words)

    def make(self):
        values = uniform(int(numpy.prod(self.shape)))
        if self.index:
            values = numpy.floor((values + 1) / 2 * self.index)
            return torch.tensor(values.reshape(self.shape), dtype=torch.int64)
        values = values * self.scale + self.plus
        return torch.tensor(values.reshape(self.shape), dtype=torch.float64)


def case(op, name, ins, run, numbers=(), reals=(), work=0):
    global state
    state = len(CASES) * 2654435761 + 1 & 0xffffffff
    tensors = [i.make() for i in ins]
    with torch.no_grad():
        out = run(*tensors).contiguous()
    CASES.append((op, name, ins, out, numbers, reals, work))


def first(x):
    """channels first"""
    return x.movedim(-1, 1)


def last(x):
    return x.movedim(1, -1)


def by_axis(*rows):
    return [n for axis in zip(*rows) for n in axis]


CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
DECONV = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def conv(name, shape, out, kernel, stride=None, dilation=None, pad=None,
         groups=1, bias=True, added=None):
    axes = len(kernel)
    ones = [1] * axes
    stride, dilation, pad = stride or ones, dilation or ones, pad or [0] * axes
    ins = [Input(*shape), Input(*kernel, shape[-1] // groups, out)]
    if bias:
        ins.append(Input(out))
    if added:
        ins.append(Input(*added))

    def run(x, w, *more):
        w = w.movedim(-1, 0).movedim(-1, 1)
        y = last(CONV[axes](first(x), w, more[0] if bias else None,
                            stride=stride, padding=pad, dilation=dilation,
                            groups=groups))
        return y + more[-1] if added else y
    case("conv", name, ins, run, [groups] + by_axis(stride, dilation, pad))


def deconv(name, shape, out, kernel, stride=None, dilation=None, pad=None,
           outpad=None, groups=1, bias=True):
    axes = len(kernel)
    ones = [1] * axes
    stride, dilation, pad = stride or ones, dilation or ones, pad or [0] * axes
    ins = [Input(*shape), Input(*kernel, shape[-1] // groups, out)]
    if bias:
        ins.append(Input(out))

    def run(x, w, b=None):
        # kernel, I/G, O -> I, O/G, kernel: the groups move to the inputs
        g = w.reshape(*kernel, shape[-1] // groups, groups, out // groups)
        g = g.movedim(-2, 0)  # G, kernel, I/G, O/G
        g = g.movedim(-2, 1).movedim(-1, 2)
        g = g.reshape(shape[-1], out // groups, *kernel)
        return last(DECONV[axes](first(x), g, b, stride=stride, padding=pad,
                                 output_padding=outpad or 0, groups=groups,
                                 dilation=dilation))
    case("deconv", name, ins, run, [groups] + by_axis(stride, dilation, pad))


def convolutions():
    conv("point by point", (1, 4, 5, 6), 8, (1, 1))
    conv("point by point, batch, odd sizes", (3, 5, 3, 7), 19, (1, 1))
    conv("point by point, wide", (1, 3, 3, 33), 40, (1, 1), bias=False)
    conv("point by point, stride", (1, 5, 6, 4), 5, (1, 1), stride=(2, 2))
    conv("no padding", (1, 6, 5, 3), 4, (3, 3))
    conv("padding", (3, 4, 4, 3), 5, (3, 3), pad=(1, 1))
    conv("many channels", (1, 5, 6, 16), 33, (3, 3), pad=(1, 1))
    conv("stride", (1, 9, 7, 3), 6, (3, 3), stride=(2, 2), pad=(1, 1))
    conv("large kernel, stride", (1, 13, 13, 3), 16, (7, 7), stride=(2, 2),
         pad=(3, 3))
    conv("dilation", (1, 9, 8, 4), 5, (3, 3), dilation=(2, 3), pad=(2, 3))
    conv("by axis", (1, 7, 8, 3), 4, (3, 5), stride=(2, 1), pad=(0, 2),
         dilation=(2, 1))
    conv("no bias", (1, 5, 5, 3), 4, (3, 3), pad=(1, 1), bias=False)
    conv("groups", (3, 4, 4, 6), 8, (3, 3), pad=(1, 1), groups=2)
    conv("groups of many", (1, 5, 5, 16), 32, (3, 3), pad=(1, 1), groups=4)
    conv("depthwise", (1, 6, 5, 7), 7, (3, 3), pad=(1, 1), groups=7)
    conv("depthwise, wide, stride", (3, 7, 6, 20), 20, (3, 3), pad=(1, 1),
         stride=(2, 2), groups=20)
    conv("depthwise, large kernel, dilation", (1, 9, 9, 9), 9, (5, 5),
         pad=(4, 4), dilation=(2, 2), groups=9)
    conv("depthwise, multiplier", (1, 4, 4, 5), 15, (3, 3), pad=(1, 1),
         groups=5)
    conv("padding beyond the map", (1, 2, 2, 3), 4, (5, 5), pad=(4, 4))
    conv("line", (3, 12, 4), 6, (3,), pad=(1,))
    conv("line, stride, dilation", (1, 20, 2), 9, (5,), stride=(3,),
         dilation=(2,), pad=(4,))
    conv("line, depthwise", (1, 9, 6), 6, (3,), pad=(1,), groups=6)
    conv("volume", (1, 4, 5, 3, 2), 6, (3, 3, 3), pad=(1, 1, 1))
    conv("volume, stride, groups", (3, 5, 4, 4, 4), 8, (3, 2, 3),
         stride=(2, 1, 2), pad=(1, 0, 1), groups=2)
    deconv("stride", (1, 3, 4, 3), 5, (2, 2), stride=(2, 2))
    deconv("padding", (3, 3, 3, 4), 6, (4, 4), stride=(2, 2), pad=(1, 1))
    deconv("added rows", (1, 3, 4, 3), 4, (3, 3), stride=(2, 2), pad=(1, 1),
           outpad=(1, 1))
    deconv("dilation", (1, 4, 3, 2), 3, (3, 3), dilation=(2, 1), bias=False)
    deconv("groups", (1, 3, 3, 6), 4, (3, 3), stride=(2, 1), groups=2)
    deconv("line", (3, 5, 3), 4, (4,), stride=(3,), pad=(1,))
    deconv("volume", (1, 2, 3, 2, 3), 4, (2, 3, 2), stride=(2, 2, 2))
    deconv("wide", (1, 2, 2, 20), 34, (4, 4), stride=(2, 2), pad=(1, 1))


def pools():
    def pool(op, name, shape, kernel, stride, pad=None, dilation=None,
             ceil=False, counts=1, after=None):
        axes = len(kernel)
        pad = pad or [0] * axes
        dilation = dilation or [1] * axes
        numbers = by_axis(kernel, stride, dilation, pad, after or pad)

        def run(x):
            x = first(x)
            if after:  # uneven: only values count
                fill = 0 if op == "avgpool" else -numpy.inf
                x = F.pad(x, [n for p in zip(pad[::-1], after[::-1])
                              for n in p], value=fill)
            p = [0] * axes if after else pad
            if op == "maxpool":
                f = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}[axes]
                return last(f(x, kernel, stride, p, dilation, ceil))
            f = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}[axes]
            return last(f(x, kernel, stride, p, ceil, bool(counts)))
        case(op, name, [Input(*shape)], run,
             ([counts] if op == "avgpool" else []) + numbers)

    for op in "maxpool", "avgpool":
        pool(op, "halves", (1, 4, 6, 5), (2, 2), (2, 2))
        pool(op, "batch, wide", (3, 4, 4, 19), (2, 2), (2, 2))
        pool(op, "overlap, padding", (1, 7, 7, 6), (3, 3), (2, 2), (1, 1))
        pool(op, "rounded up", (1, 6, 7, 3), (3, 3), (2, 2), ceil=True)
        pool(op, "rounded up, padding", (1, 6, 5, 3), (3, 3), (2, 2), (1, 1),
             ceil=True)
        pool(op, "by axis", (1, 6, 7, 3), (2, 3), (1, 2), (1, 0))
        pool(op, "uneven padding", (1, 5, 5, 3), (2, 2), (1, 1), (0, 0),
             after=(1, 1))
        pool(op, "line", (3, 9, 4), (3,), (2,), (1,))
        pool(op, "volume", (1, 4, 5, 4, 3), (2, 3, 2), (2, 1, 2), (1, 1, 0))
    pool("maxpool", "dilation", (1, 8, 7, 3), (3, 2), (1, 1), (1, 0), (2, 3))
    pool("avgpool", "only values count", (1, 6, 5, 3), (3, 3), (2, 2), (1, 1),
         counts=0, ceil=True)
    pool("avgpool", "same size", (1, 6, 5, 18), (3, 3), (1, 1), (1, 1))
    for op, f in ("adaptavg", (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d,
                               F.adaptive_avg_pool3d)), \
                 ("adaptmax", (F.adaptive_max_pool1d, F.adaptive_max_pool2d,
                               F.adaptive_max_pool3d)):
        for name, shape, size in (
                ("global", (3, 5, 4, 17), (1, 1)),
                ("global line", (1, 7, 3), (1,)),
                ("divides", (1, 6, 6, 4), (3, 2)),
                ("overlaps", (1, 7, 5, 3), (3, 4)),
                ("larger", (1, 2, 3, 2), (5, 4)),
                ("volume", (1, 3, 5, 4, 2), (2, 2, 2))):
            case(op, name, [Input(*shape)],
                 lambda x: last(f[len(size) - 1](first(x), size)))


def products():
    for name, shape, out, bias in (
            ("vector", (1, 13), 10, True), ("batch", (3, 40), 17, True),
            ("rows", (3, 5, 16), 33, True), ("no bias", (1, 9, 24), 8, False),
            ("one output", (3, 50), 1, True), ("long", (1, 200), 65, True)):
        case("linear", name, [Input(*shape), Input(shape[-1], out)] +
             ([Input(out)] if bias else []),
             lambda x, w, b=0: x @ w + b)
    for name, a, b in (
            ("plain", (1, 5, 7), (1, 7, 6)),
            ("batches", (3, 2, 9, 16), (3, 2, 16, 9)),
            ("wide", (1, 2, 7, 33), (1, 2, 33, 40))):
        case("matmul", name, [Input(*a), Input(*b)], torch.matmul)


def sums():
    """of what a product gives and another value"""
    for bias in True, False:
        words = "" if bias else ", no bias"
        conv("added" + words, (3, 5, 4, 6), 37, (3, 3), pad=(1, 1), bias=bias,
             added=(3, 5, 4, 37))
        conv("added, depthwise" + words, (1, 5, 11, 21), 21, (3, 3),
             pad=(1, 1), groups=21, bias=bias, added=(1, 5, 11, 21))
        conv("added, groups" + words, (1, 4, 9, 32), 32, (3, 3), pad=(1, 1),
             groups=4, bias=bias, added=(1, 4, 9, 32))
        for shape, out in ((1, 30), 19), ((3, 20, 300), 70):
            case("linear", f"added, {len(shape)} axes" + words,
                 [Input(*shape), Input(shape[-1], out)] +
                 [Input(out)] * bias + [Input(*shape[:-1], out)],
                 lambda x, w, *more: x @ w + sum(more))


def norms():
    def vectors(c, n):
        return [Input(c, plus=1, scale=0.5), Input(c)][:n]

    for name, shape in ("map", (3, 3, 4, 5)), ("vector", (1, 21)), \
                       ("wide", (1, 2, 2, 40)), ("line", (3, 4, 6)):
        c = shape[-1]
        case("bn", name, [Input(*shape)] + vectors(c, 2) +
             [Input(c), Input(c, plus=1, scale=0.5)],
             lambda x, s, t, m, v: last(F.batch_norm(first(x), m, v, s, t)),
             reals=[1e-5])
    case("bn", "not affine, eps", [Input(1, 3, 3, 5), Input(5),
                                   Input(5, plus=1, scale=0.5)],
         lambda x, m, v: last(F.batch_norm(first(x), m, v, eps=1e-3)),
         reals=[1e-3])
    for n in 0, 2:
        name = "affine" if n else "plain"
        case("instnorm", name, [Input(3, 4, 3, 5)] + vectors(5, n),
             lambda x, s=None, t=None: last(F.instance_norm(
                 first(x), weight=s, bias=t)), reals=[1e-5])
        for groups, shape in (1, (1, 3, 4, 6)), (3, (3, 2, 3, 6)), \
                             (4, (1, 8)), (2, (1, 2, 3, 2, 4)):
            case("gn", f"{name}, {groups} of {shape[-1]}",
                 [Input(*shape)] + vectors(shape[-1], n),
                 lambda x, s=None, t=None: last(F.group_norm(
                     first(x), groups, s, t)), [groups], [1e-5])
        for shape in (1, 20), (3, 5, 33), (1, 3, 3, 8):
            case("ln", f"{name}, {shape[-1]}",
                 [Input(*shape, plus=1)] + vectors(shape[-1], n),
                 lambda x, s=None, t=None: F.layer_norm(
                     x, x.shape[-1:], s, t, 1e-6), reals=[1e-6])
            case("rmsnorm", f"{name}, {shape[-1]}",
                 [Input(*shape)] + vectors(shape[-1], min(n, 1)),
                 lambda x, s=1: s * (x * torch.rsqrt(
                     x.pow(2).mean(-1, keepdim=True) + 1e-5)), reals=[1e-5])
    case("instnorm", "line", [Input(1, 9, 3)],
         lambda x: last(F.instance_norm(first(x))), reals=[1e-5])
    for size, alpha, beta, k in (5, 1e-4, 0.75, 1), (4, 0.5, 0.5, 2), \
                                (9, 1.0, 0.75, 1):
        case("lrn", f"window of {size}",
             [Input(size % 3 + 1, 3, 2, 7, scale=4)], lambda x:
             last(F.local_response_norm(first(x), size, alpha, beta, k)),
             [size], [alpha, beta, k])


def values():
    functions = {
        "relu": F.relu, "relu6": F.relu6, "selu": F.selu, "gelu": F.gelu,
        "silu": F.silu, "mish": F.mish, "sigmoid": torch.sigmoid,
        "hsigmoid": F.hardsigmoid, "hswish": F.hardswish, "tanh": torch.tanh,
        "softplus": F.softplus}
    for op, f in functions.items():
        case(op, "map", [Input(3, 4, 3, 5, scale=8)], f)
        case(op, "large and small values", [Input(1, 67, scale=128)], f)
    for batch, slope in (1, 0.01), (3, 0.25):
        case("leaky", f"{slope}", [Input(batch, 4, 7, scale=4)],
             lambda x: F.leaky_relu(x, slope), reals=[slope])
        case("elu", f"{slope}", [Input(batch, 4, 7, scale=4)],
             lambda x: F.elu(x, slope), reals=[slope])
        case("scale", f"{slope}", [Input(batch, 4, 7)], lambda x: x * slope,
             reals=[slope])
    case("prelu", "map", [Input(3, 4, 3, 5, scale=4), Input(5)],
         lambda x, a: last(F.prelu(first(x), a)))
    case("prelu", "vector", [Input(1, 21), Input(21)], F.prelu)
    for op, f in ("softmax", F.softmax), ("logsoftmax", F.log_softmax):
        for shape in (1, 10), (3, 4, 33), (1, 2, 3, 3, 1):
            case(op, f"of {shape[-1]}", [Input(*shape, scale=8)],
                 lambda x: f(x, -1))
        case(op, "large values", [Input(3, 9, scale=256)], lambda x: f(x, -1))
    for op, f in ("add", torch.add), ("sub", torch.sub), ("mul", torch.mul), \
                 ("max", torch.maximum):
        case(op, "equal sizes", [Input(3, 3, 4, 5), Input(3, 3, 4, 5)], f)
        case(op, "by channel", [Input(3, 3, 4, 5), Input(5)], f)
        case(op, "by position", [Input(1, 3, 4, 19), Input(1, 3, 4, 1)], f)
        case(op, "of each sample", [Input(3, 4, 4, 6), Input(3, 1, 1, 6)], f)
        case(op, "the first is smaller", [Input(1, 4, 1), Input(3, 1, 17)], f)


def moves():
    for name, shape in ("vector", (3, 7)), ("map", (1, 3, 4, 5)):
        case("copy", name, [Input(*shape)], lambda x: x)
    for mode, word in enumerate(("constant", "reflect", "replicate")):
        for shape, pads in ((3, 5, 3), (2, 1)), ((1, 3, 4, 3), (1, 2, 0, 3)), \
                           ((1, 3, 3, 3, 2), (1, 1, 2, 0, 0, 2)):
            before = pads[::2]
            flat = [n for i in range(len(pads) - 2, -1, -2)
                    for n in pads[i:i + 2]]
            case("pad", f"{word}, {len(before)} axes", [Input(*shape)],
                 lambda x: last(F.pad(first(x), flat, mode=word)),
                 [mode, *before])
    for shape, shift in ((3, 5, 2), (2,)), ((1, 4, 5, 3), (-1, 7)), \
                        ((1, 3, 2, 4, 2), (1, -1, 2)):
        case("roll", f"{len(shift)} axes", [Input(*shape)],
             lambda x: torch.roll(x, shift, tuple(range(1, 1 + len(shift)))),
             shift)
    for shape, by in ((3, 4, 3), (2,)), ((1, 3, 4, 5), (2, 3)), \
                     ((3, 3, 2, 17), (2, 2)), ((1, 2, 3, 2, 2), (2, 1, 3)):
        axes = len(by)
        size = [s * b for s, b in zip(shape[1:], by)]
        linear = ("linear", "bilinear", "trilinear")[axes - 1]
        out = "x".join(map(str, by))
        case("up", f"nearest {out}", [Input(*shape)],
             lambda x: last(F.interpolate(first(x), size)), [0, 0])
        for align in 0, 1:
            case("up", f"linear {out}" + (", corners" if align else ""),
                 [Input(*shape)], lambda x: last(F.interpolate(
                     first(x), size, mode=linear, align_corners=bool(align))),
                 [1, align])
    for axis, shapes in (3, ((1, 3, 2, 4), (1, 3, 2, 1), (1, 3, 2, 6))), \
                        (1, ((3, 2, 5), (3, 4, 5))), (2, ((3, 2, 5),) * 2), \
                        (1, ((1, 1, 3),) * 4), (1, ((3, 6),)):
        case("concat", f"{len(shapes)} along {axis}",
             [Input(*s) for s in shapes],
             lambda *x: torch.cat(x, axis), [axis])
    for type in "i32", "i64":
        for shape in (3, 5), (1,), (1, 2, 3):
            case("embed", f"{type}, {len(shape)} axes",
                 [Input(*shape, index=11, type=type), Input(11, 6)],
                 F.embedding)
    case("last", "one way", [Input(3, 5, 4)], lambda x: x[:, -1], [1])
    case("last", "two ways", [Input(1, 5, 8)],
         lambda x: torch.cat([x[:, -1, :4], x[:, 0, 4:]], 1), [2])


def rope(x, base, neighbours, speed=None):
    length, dim = x.shape[-3], x.shape[-1]
    if speed is None:
        speed = base ** (-torch.arange(0, dim, 2) / dim).double()
    angle = torch.outer(torch.arange(length, dtype=torch.float64), speed)
    c, s = angle.cos()[:, None], angle.sin()[:, None]
    if neighbours:
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack([a * c - b * s, b * c + a * s], -1).flatten(-2)
    a, b = x.chunk(2, -1)  # rotate_half of transformers' Llama
    return x * torch.cat([c, c], -1) + torch.cat([-b, a], -1) * \
        torch.cat([s, s], -1)


def hide(x, behind, ahead):
    q, k = x.shape[-2:]
    far = torch.arange(q)[:, None] - torch.arange(k)[None]
    hidden = torch.zeros(q, k, dtype=torch.bool)
    if behind >= 0:
        hidden |= far > behind
    if ahead >= 0:
        hidden |= -far > ahead
    return x.masked_fill(hidden, -numpy.inf)


def relative(scores, table, window):
    """torchvision's swin_transformer, and the same for one axis"""
    axes = torch.meshgrid(*[torch.arange(w) for w in window], indexing="ij")
    at = torch.stack(axes).flatten(1)
    far = at[:, :, None] - at[:, None]
    index = 0
    for i, w in enumerate(window):
        index = index * (2 * w - 1) + far[i] + w - 1
    flat = table.reshape(-1, table.shape[-1])
    return scores + flat[index].permute(2, 0, 1)


def attention(q, k, v, behind, ahead, factor):
    repeat = q.shape[3] // k.shape[3]
    q, k, v = (x.transpose(2, 3) for x in (q, k, v))
    k = k.repeat_interleave(repeat, 2)
    v = v.repeat_interleave(repeat, 2)
    scores = hide(q @ k.transpose(-1, -2) * factor, behind, ahead)
    return (scores.softmax(-1) @ v).transpose(2, 3)


def attentions():
    for pairs in 0, 1:
        case("rope", "neighbours" if pairs else "halves",
             [Input(3, 7, 2, 6)], lambda x: rope(x, 10000.0, pairs), [pairs],
             [10000.0])
        case("rope", "another base" + " of neighbours" * pairs,
             [Input(1, 2, 5, 1, 8)], lambda x: rope(x, 500.0, pairs), [pairs],
             [500.0])
    for behind, ahead in (-1, 0), (2, 0), (1, 1), (-1, 2), (3, -1):
        case("mask", f"{behind} behind, {ahead} ahead",
             [Input(abs(behind), 2, 6, 5)],
             lambda x: hide(x, behind, ahead), [behind, ahead])
    for window in (4,), (2, 3):
        n = int(numpy.prod(window))
        case("relative", f"{len(window)} axes",
             [Input(2 * n - 7, 2, n, n), Input(*[2 * w - 1 for w in window], 2)],
             lambda x, t: relative(x, t, window), [len(window), *window])
    for name, q, k, behind, ahead in (
            ("all", (1, 1, 5, 2, 8), (1, 1, 5, 2, 8), -1, -1),
            ("causal", (3, 1, 6, 2, 4), (3, 1, 6, 2, 4), -1, 0),
            ("window", (1, 2, 7, 1, 5), (1, 2, 7, 1, 5), 2, 0),
            ("others, fewer heads", (1, 1, 4, 4, 6), (1, 1, 7, 2, 6), -1, -1),
            ("wide heads", (1, 1, 19, 1, 20), (1, 1, 35, 1, 20), -1, -1)):
        factor = q[-1] ** -0.5
        case("attention", name, [Input(*q, scale=4), Input(*k), Input(*k)],
             lambda q, k, v: attention(q, k, v, behind, ahead, factor),
             [behind, ahead], [factor])


def recurrent():
    for op, kind, gates in ("rnn", torch.nn.RNN, 1), \
                           ("lstm", torch.nn.LSTM, 4), \
                           ("gru", torch.nn.GRU, 3):
        for ways in 1, 2:
            for bias in 0, 1, 2:
                for batch, steps, width, units in (1, 4, 3, 5), (3, 3, 6, 4):
                    rows = gates * units
                    each = [Input(width, rows), Input(units, rows)]
                    if bias:
                        each += [Input(rows) for _ in range(3 - bias)]

                    def run(x, *weights):
                        net = kind(width, units, bias=bool(bias),
                                   bidirectional=ways == 2, batch_first=True)
                        net = net.double()
                        if bias == 2:  # the other one is zero
                            weights = [v for i in range(0, len(weights), 3)
                                       for v in (*weights[i:i + 3],
                                                 0 * weights[i + 2])]
                        for p, w in zip(net.parameters(), weights):
                            p.copy_(w.t() if w.dim() == 2 else w)
                        return net(x)[0]
                    case(op, ("two ways" if ways == 2 else "one way") +
                         ("", ", biased", ", one bias")[bias] + f", {batch}",
                         [Input(batch, steps, width)] + each * ways, run,
                         [ways, bias], work=batch * steps * rows)


def given_states():
    """States before the first step (8), and the cell after the last (16)."""
    for op, kind, gates in ("rnn", torch.nn.RNN, 1), \
                           ("lstm", torch.nn.LSTM, 4), \
                           ("gru", torch.nn.GRU, 3):
        for flags in (8, 16, 24) if gates == 4 else (8,):
            for batch, steps, width, units in (1, 1, 3, 5), (3, 4, 3, 4):
                rows, given = gates * units, 1 + (gates == 4)
                states = [Input(batch, units)] * (given if flags & 8 else 0)

                def run(x, *more):
                    net = kind(width, units, batch_first=True).double()
                    begin = [s[None] for s in more[:len(states)]]
                    for p, w in zip(net.parameters(), more[len(states):]):
                        p.copy_(w.t() if w.dim() == 2 else w)
                    begin = (tuple(begin) if given == 2 else begin[0]) \
                        if begin else None
                    y, last = net(x, begin)
                    return torch.cat([y, last[1].transpose(0, 1)], 1) \
                        if flags & 16 else y
                case(op, f"given {flags}, {batch}",
                     [Input(batch, steps, width), *states,
                      Input(width, rows), Input(units, rows), Input(rows),
                      Input(rows)], run, [1, 1 | flags],
                     work=batch * steps * rows)


def boxed(x, batch):
    """N * boxes, C, H, W with the samples in front"""
    return last(x).reshape(batch, -1, *last(x).shape[1:])


def unpooled(x, places):
    """Later values of a place win, as they do in a walk."""
    out = torch.zeros(x.shape[0], 24, x.shape[3], dtype=x.dtype)
    for b in range(x.shape[0]):
        for i in range(6):
            for c in range(x.shape[3]):
                out[b, places[b, i // 3, i % 3, c], c] = x[b, i // 3, i % 3, c]
    return out.reshape(x.shape[0], 4, 6, x.shape[3])


def arithmetic():
    for shape in (1, 21), (3, 4, 3, 5):
        for op, f in ("sqrt", torch.sqrt), ("log", torch.log):
            case(op, f"{len(shape)} axes", [Input(*shape, plus=2)], f)
        for op, f in ("exp", torch.exp), ("abs", torch.abs), \
                     ("neg", torch.neg):
            case(op, f"{len(shape)} axes", [Input(*shape, scale=4)], f)
    for exponent in 2, 3, -0.5:
        case("pow", f"to {exponent}",
             [Input(1 if exponent < 0 else 3, 4, 7, plus=2)],
             lambda x: x ** exponent, reals=[exponent])
    for batch in 1, 3:
        shape = batch, 4, 19
        case("shift", f"batch {batch}", [Input(*shape)], lambda x: x + 0.25,
             reals=[0.25])
        case("atleast", f"batch {batch}", [Input(*shape)],
             lambda x: x.clamp(min=0.25), reals=[0.25])
        case("atmost", f"batch {batch}", [Input(*shape)],
             lambda x: x.clamp(max=0.25), reals=[0.25])
    for op, f in ("div", torch.div), ("min", torch.minimum):
        case(op, "equal sizes", [Input(3, 3, 4, 5), Input(3, 3, 4, 5, plus=2)],
             f)
        case(op, "by channel", [Input(1, 3, 4, 5), Input(5, plus=2)], f)
        case(op, "the first is smaller",
             [Input(1, 4, 1), Input(3, 1, 17, plus=2)], f)
    for shape in (1, 8), (3, 4, 3, 10):
        case("glu", f"{len(shape)} axes", [Input(*shape, scale=4)],
             lambda x: F.glu(x, -1))
        case("l2norm", f"{len(shape)} axes", [Input(*shape, scale=4)],
             lambda x: F.normalize(x, dim=-1), reals=[1e-12])
        case("l2norm", f"a least, {len(shape)} axes", [Input(*shape)],
             lambda x: F.normalize(x, dim=-1, eps=2), reals=[2])
        case("affine", f"{len(shape)} axes",
             [Input(*shape), Input(shape[-1]), Input(shape[-1])],
             lambda x, a, b: x * a + b)
    for shape, kernel, stride, pad in (
            ((1, 6, 5, 3), (2, 2), (2, 2), (0, 0)),
            ((3, 7, 7, 2), (3, 3), (2, 2), (1, 1)),
            ((3, 9, 2), (3,), (1,), (1,))):
        axes = len(kernel)
        f = (F.max_pool1d, F.max_pool2d)[axes - 1]
        case("places", f"{axes} axes, {kernel[0]}", [Input(*shape)],
             lambda x: last(f(first(x), kernel, stride, pad,
                              return_indices=True)[1]),
             by_axis(kernel, stride, (1,) * axes, pad, pad))
    for size in 3, 5:
        for shape in (1, 6, 5, 3), (3, 4, 7, 2):
            case("lrnwithin", f"{size} of {shape[1]}x{shape[2]}",
                 [Input(*shape, scale=4)],
                 lambda x: x / last(1 + 0.5 * F.avg_pool2d(
                     first(x) ** 2, size, 1, size // 2)) ** 0.75,
                 [size], [0.5, 0.75, 1])
    for batch in 1, 3:
        case("unpool", f"batch {batch}",
             [Input(batch, 2, 3, 4), Input(batch, 2, 3, 4, index=24,
                                           type="i64")], unpooled)
    for batch, samples, aligned in (1, 2, 0), (3, 2, 1), (3, 0, 0):
        case("roialign", f"{samples} samples" + " aligned" * aligned,
             [Input(batch, 6, 7, 3), Input(batch, 4, 4, scale=8, plus=6)],
             lambda x, b: boxed(torchvision.ops.roi_align(
                 first(x), list(b), (3, 2), 0.5, samples or -1,
                 bool(aligned)), batch), [samples, aligned], [0.5])
    for batch in 1, 3:
        case("roipool", f"batch {batch}",
             [Input(batch, 6, 7, 3), Input(batch, 4, 4, scale=8, plus=6)],
             lambda x, b: boxed(torchvision.ops.roi_pool(
                 first(x), list(b), (3, 2), 0.5), batch), reals=[0.5])
    for mode, f in enumerate((torch.sum, torch.mean, torch.amax, torch.amin)):
        for shape, axes in ((3, 4, 5), 1), ((1, 6, 3, 4), 2), \
                           ((3, 2, 3, 4), 3), ((1, 7), 1):
            case("reduce", f"mode {mode}, {axes} axes of {len(shape)}",
                 [Input(*shape, scale=4)],
                 lambda x: f(x, tuple(range(-axes, 0))), [mode])


def gelu_by_tanh():
    def run(x):
        return F.gelu(x, approximate="tanh")
    case("gelutanh", "map", [Input(3, 4, 3, 5, scale=8)], run)
    case("gelutanh", "large and small values", [Input(1, 67, scale=128)], run)


def distances():
    for n, count, most, causal in ((130, 32, 128, 0), (70, 32, 64, 1),
                                   (40, 8, 6, 0), (40, 5, 30, 1)):
        at = torch.arange(n)
        rows = bucket(at[None] - at[:, None], causal, count, most)
        case("distances", f"{count} buckets" + " behind" * causal, [],
             lambda: rows[None], [count, most, causal, 1, 1, n])
    for window in (7,), (3, 4), (2, 3, 2):
        axes = torch.meshgrid(*[torch.arange(w) for w in window],
                              indexing="ij")
        at, index = torch.stack(axes).flatten(1), 0
        for i, w in enumerate(window):
            index = index * (2 * w - 1) + at[i][:, None] - at[i] + w - 1
        case("distances", f"{len(window)} axes", [],
             lambda: index.expand(2, -1, -1),
             [0, 128, 0, *[1] * (3 - len(window)), *window])


def reset_first():
    """gru, whose reset gate acts before the product of the state (4)."""
    def way(x, w, r, b, c, h=None):
        h = torch.zeros(len(x), r.shape[0]).to(x) if h is None else h
        outs = []
        n = 2 * r.shape[0]
        for step in x.unbind(1):
            of_x, of_h = step @ w + b, h @ r[:, :n] + c[:n]
            reset, update = torch.sigmoid(of_x[:, :n] + of_h).chunk(2, 1)
            new = torch.tanh(of_x[:, n:] + (reset * h) @ r[:, n:] + c[n:])
            h = (1 - update) * new + update * h
            outs.append(h)
        return torch.stack(outs, 1)

    for ways, bias, batch in (1, 0, 1), (1, 1, 3), (2, 2, 3):
        steps, width, units = 4, 3, 5
        rows = 3 * units
        each = [Input(width, rows), Input(units, rows)]
        each += [Input(rows) for _ in range((3 - bias) % 3)]

        def run(x, *weights):
            count, none, outs = len(each), torch.zeros(rows).to(x), []
            for i in range(ways):
                w = [*weights[i * count:(i + 1) * count], none, none][:4]
                out = way(x.flip(1) if i else x, *w)
                outs.append(out.flip(1) if i else out)
            return torch.cat(outs, 2)
        case("gru", f"reset before, {ways} ways, {batch}",
             [Input(batch, steps, width)] + each * ways, run,
             [ways, bias | 4], work=batch * steps * rows)
    case("gru", "reset before, given 8",
         [Input(2, 3, 4), Input(2, 5), Input(4, 15), Input(5, 15), Input(15),
          Input(15)], lambda x, h, *w: way(x, *w, h), [1, 1 | 4 | 8],
         work=2 * 3 * 15)


def slower_turns():
    """linear, and _compute_llama3_parameters of modeling_rope_utils.py"""
    def run(x, base, factor, trained, neighbours):
        dim = x.shape[-1]
        speed = base ** (-torch.arange(0, dim, 2).double() / dim)
        slow = speed / factor
        if trained:
            length = 2 * numpy.pi / speed
            smooth = (trained / length - 1) / (4 - 1)
            medium = (1 - smooth) * speed / factor + smooth * speed
            slow = torch.where(length > trained, slow, torch.where(
                length < trained / 4, speed, medium))
        return rope(x, None, neighbours, slow)

    for pairs, base, factor, trained in (
            (0, 10000., 4., 0), (1, 1e6, 2.5, 0), (0, 500000., 8., 100),
            (1, 10000., 32., 300)):
        case("stretched", f"by {factor} of {base:.0f}, {trained} trained",
             [Input(3 if pairs else 1, 9, 2, 16)],
             lambda x: run(x, base, factor, trained, pairs), [pairs],
             [base, factor, trained])


def sampling():
    modes, beyond = ("bilinear", "nearest", "bicubic"), ("zeros", "border",
                                                         "reflection")

    def run(x, places, mode, pad, align):
        n, groups, *out = places.shape[:-1]
        axes = places.shape[-1]
        y = first(x).reshape(n * groups, -1, *x.shape[1:-1])
        y = F.grid_sample(y, places.reshape(n * groups, *out, axes),
                          modes[mode], beyond[pad], bool(align))
        return last(y.reshape(n, -1, *out))

    for n, groups, size, out, mode, pad, align in (
            (1, 1, (6, 5), (3, 4), 0, 0, 0), (3, 2, (6, 5), (3, 4), 0, 1, 1),
            (1, 1, (4, 7), (5, 2), 0, 2, 0), (1, 3, (4, 7), (5, 2), 0, 2, 1),
            (3, 1, (6, 5), (3, 4), 1, 0, 1), (1, 2, (6, 5), (3, 4), 1, 1, 0),
            (1, 1, (6, 5), (3, 4), 1, 2, 0), (1, 1, (6, 5), (3, 4), 2, 0, 0),
            (1, 2, (6, 5), (3, 4), 2, 1, 0), (3, 1, (6, 5), (3, 4), 2, 2, 1),
            (1, 1, (1, 1), (2, 2), 0, 2, 1), (3, 2, (3, 4, 5), (2, 3, 2), 0, 0,
                                              0),
            (1, 1, (3, 4, 5), (2, 3, 2), 1, 2, 1)):
        case("gridsample", f"{modes[mode]} {beyond[pad]}"
             f"{' corners' * align}, {groups} groups of {len(size)} axes",
             [Input(n, *size, 6), Input(n, groups, *out, len(size), scale=2)],
             lambda x, g: run(x, g, mode, pad, align), [mode, pad, align])
    for n, groups, parts, mask, bias, stride, dilation in (
            (1, 1, 1, 0, 0, 1, 1), (3, 1, 1, 0, 1, 2, 1),
            (1, 2, 1, 1, 1, 1, 2), (3, 1, 2, 1, 0, 2, 1),
            (1, 2, 4, 1, 1, 1, 1)):
        out = [(s + 2 - 2 * dilation - 1) // stride + 1 for s in (6, 7)]
        ins = [Input(n, 6, 7, 8), Input(n, *out, 18 * parts, scale=2)]
        ins += [Input(n, *out, 9 * parts)] * mask
        ins += [Input(3, 3, 8 // groups, 6)] + [Input(6)] * bias

        def deform(x, where, *more):
            more = list(more)
            counts = first(more.pop(0)).contiguous() if mask else None
            weight = more.pop(0).movedim(-1, 0).movedim(-1, 1).contiguous()
            return last(torchvision.ops.deform_conv2d(
                first(x).contiguous(), first(where).contiguous(), weight,
                more[0] if more else None, stride, 1, dilation, counts))
        case("deformconv", f"{parts} parts, {groups} groups" + " mask" * mask,
             ins, deform, [groups, mask] + [stride, dilation, 1] * 2)


def states():
    """scan: Mamba's channels, and heads; delta: decays of heads, of keys."""
    def scan(x, step, b, c, rates, skip):
        shared = x.shape[2] // b.shape[2]
        b, c = (y.repeat_interleave(shared, 2)[..., None, :] for y in (b, c))
        decay = torch.exp(-torch.exp(rates) * step[..., None])
        given = (step * x)[..., None] * b
        state, out = torch.zeros_like(given[:, 0]), []
        for t in range(x.shape[1]):
            state = decay[:, t] * state + given[:, t]
            out.append((state * c[:, t]).sum(-1))
        return torch.stack(out, 1) + skip * x

    for n, steps, heads, dim, groups, values, own in (
            (1, 5, 1, 6, 1, 4, 1), (3, 4, 1, 37, 1, 3, 1),
            (1, 3, 1, 70, 1, 16, 1), (1, 3, 1, 1, 1, 1, 1),
            (3, 6, 4, 5, 2, 7, 0), (1, 3, 2, 40, 1, 16, 0),
            (1, 4, 3, 1, 3, 1, 0)):
        case("scan", f"{heads} of {dim}, {values} values, {n}",
             [Input(n, steps, heads, dim),
              Input(n, steps, heads, dim if own else 1, plus=1),
              Input(n, steps, groups, values), Input(n, steps, groups, values),
              Input(heads, dim if own else 1, values if own else 1),
              Input(heads, dim if own else 1)], scan,
             work=(1 + own) * heads * dim * values)

    def delta(q, k, v, step, beta, rates):
        shared = v.shape[2] // q.shape[2]
        q, k = (y.repeat_interleave(shared, 2) for y in (q, k))
        decay = torch.exp(-torch.exp(rates)[:, None] * step)
        state, out = torch.zeros(*v[:, 0].shape[:2], q.shape[3], v.shape[3],
                                 dtype=v.dtype), []
        for t in range(v.shape[1]):
            state = state * decay[:, t, :, :, None]
            lacks = v[:, t, :, None] - k[:, t, :, None] @ state
            lacks = beta[:, t, :, None, None] * lacks
            state = state + k[:, t, :, :, None] @ lacks
            out.append((q[:, t, :, None] @ state)[:, :, 0])
        return torch.stack(out, 1)

    for n, steps, heads, shared, dim, values, own in (
            (1, 5, 2, 1, 3, 4, 0), (3, 4, 4, 2, 5, 37, 0),
            (1, 3, 3, 1, 8, 20, 1), (1, 2, 2, 2, 1, 1, 1)):
        keys = n, steps, heads // shared, dim
        case("delta", f"{heads} of {dim}x{values}, {n}",
             [Input(*keys), Input(*keys), Input(n, steps, heads, values),
              Input(n, steps, heads, dim if own else 1, plus=1),
              Input(n, steps, heads), Input(heads)], delta,
             work=heads * dim * values)


def small_words():
    for op, f in ("sin", torch.sin), ("cos", torch.cos), \
                 ("softsign", F.softsign):
        case(op, "map", [Input(3, 4, 3, 5, scale=8)], f)
        case(op, "large and small values", [Input(1, 67, scale=64)], f)
    for alpha in 0.5, 2.:
        case("celu", f"{alpha}", [Input(3 if alpha < 1 else 1, 4, 7, scale=4)],
             lambda x: F.celu(x, alpha), reals=[alpha])
    for low, high in (-1., 1.), (-0.5, 2.):
        case("hardtanh", f"{low} to {high}",
             [Input(3 if high < 2 else 1, 4, 7, scale=4)],
             lambda x: x.clamp(low, high), reals=[low, high])
    for shape, pads in ((3, 5, 3), (2, 1)), ((1, 3, 4, 3), (1, 2, 0, 3)), \
                       ((1, 3, 3, 3, 2), (1, 1, 2, 0, 0, 2)):
        before = pads[::2]
        flat = [n for i in range(len(pads) - 2, -1, -2) for n in pads[i:i + 2]]
        case("pad", f"circular, {len(before)} axes", [Input(*shape)],
             lambda x: last(F.pad(first(x), flat, mode="circular")),
             [3, *before])
    case("bn", "scale alone", [Input(3, 4, 3, 5), Input(5), Input(5),
                               Input(5, plus=2)],
         lambda x, w, m, v: last(F.batch_norm(first(x), m, v, w, None)),
         reals=[1e-5])
    case("ln", "scale alone", [Input(3, 4, 9), Input(9)],
         lambda x, w: F.layer_norm(x, (9,), w), reals=[1e-5])
    case("gn", "scale alone", [Input(3, 4, 3, 6), Input(6)],
         lambda x, w: last(F.group_norm(first(x), 2, w)), [2], [1e-5])
    case("instnorm", "scale alone", [Input(3, 4, 3, 6), Input(6)],
         lambda x, w: last(F.instance_norm(first(x), weight=w)), reals=[1e-5])


def best():
    for shape, count, axis, least in (
            ((3, 9), 4, 1, 0), ((1, 7, 5), 3, 1, 0), ((3, 4, 6), 6, 2, 1),
            ((1, 3, 4, 5), 2, 2, 1)):
        for where in 0, 1:
            case("topk", f"{count} of axis {axis}" + " smallest" * least +
                 " indices" * where, [Input(*shape)],
                 lambda x: x.topk(count, axis, not least)[where],
                 [axis, least, where])
    for shape, count, kind in ((3, 9), 4, "i64"), ((1, 7, 5), 9, "i32"), \
                              ((3, 4, 2, 3), 2, "i64"):
        case("gather", f"{count} of {shape[1]}",
             [Input(*shape), Input(shape[0], count, index=shape[1],
                                   type=kind)],
             lambda x, i: torch.stack([y[k] for y, k in zip(x, i)]))


def shifted(scores, window, grid, moved):
    """The numbers of regions of torchvision's swin_transformer, by axis."""
    axes = len(window)
    regions = torch.zeros([w * n for w, n in zip(window, grid)])
    for axis in range(axes):
        ids = torch.zeros(regions.shape[axis])
        if moved[axis]:
            ids[-moved[axis]:] = 2
            ids[-window[axis]:-moved[axis]] = 1
        shape = [1] * axes
        shape[axis] = -1
        regions = 3 * regions + ids.reshape(shape)
    cut = [n for pair in zip(grid, window) for n in pair]
    order = [2 * i for i in range(axes)] + [2 * i + 1 for i in range(axes)]
    regions = regions.reshape(cut).permute(order)
    regions = regions.reshape(int(numpy.prod(grid)), -1)
    apart = regions[:, :, None] != regions[:, None]
    return scores + apart[:, None] * -100.0


def windows():
    for batch, window, grid, moved in (
            (1, (3,), (2,), (1,)), (2, (2, 2), (2, 3), (1, 1)),
            (1, (2, 3), (3, 1), (0, 2)), (1, (3, 2), (1, 2), (2, 0)),
            (2, (2, 2, 2), (2, 1, 2), (1, 0, 1))):
        n, g = int(numpy.prod(window)), int(numpy.prod(grid))
        axes = [x for axis in zip(window, grid, moved) for x in axis]
        case("shifted", f"{len(window)} axes by {moved}",
             [Input(batch, g, 2, n, n)],
             lambda x: shifted(x, window, grid, moved), [len(window), *axes])


def seated(chosen, experts, room):
    """Of each row its token and its expert; of each choice its row, and
    whether it has one: the modes of `seats`, by their definition."""
    samples, top = len(chosen), chosen.shape[-1]
    groups = chosen.reshape(samples if room else 1, -1).tolist()
    tokens, of, rows, kept = [], [], {}, {}
    for n, group in enumerate(groups):
        first = n * len(group)
        for expert in range(experts):
            have = [first + i for i, e in enumerate(group) if e == expert]
            for i, choice in enumerate(have):
                fits = not room or i < room
                rows[choice] = len(tokens) if fits else 0
                kept[choice] = float(fits)
                if fits:
                    tokens.append(choice // top)
                    of.append(expert)
            while room and len(tokens) < (n * experts + expert + 1) * room:
                tokens.append(0)
                of.append(expert)
    shape = (samples, experts, room) if room else chosen.shape
    by_choice = [[x[i] for i in range(chosen.numel())] for x in (rows, kept)]
    return (torch.tensor(tokens).view(shape),
            torch.tensor(by_choice[0]).view(chosen.shape),
            torch.tensor(of).view(shape),
            torch.tensor(by_choice[1], dtype=torch.float64)
            .view(chosen.shape))


def experts():
    for shape, count, room in (
            ((2, 5, 2), 4, 0), ((1, 3, 4, 2), 7, 0), ((3, 2), 3, 0),
            ((2, 6, 2), 3, 4), ((1, 9, 1), 4, 2), ((3, 3), 2, 5)):
        for mode in range(4):
            case("seats", f"{'x'.join(map(str, shape))}, {count} experts, "
                 f"room {room}, mode {mode}",
                 [Input(*shape, index=count, type="i64")],
                 lambda x: seated(x, count, room)[mode], [mode, count, room])
    for shape, ins, outs, count, bias in (
            ((2, 5, 2), 7, 9, 4, True), ((1, 40), 20, 70, 2, False),
            ((1, 1, 3), 33, 40, 5, True), ((3, 2, 2), 1, 1, 3, False)):
        case("experts", f"{ins} to {outs}, {count} experts" + " bias" * bias,
             [Input(*shape, ins), Input(*shape, index=count, type="i64"),
              Input(count, ins, outs)] + [Input(count, outs)] * bias,
             lambda x, e, w, b=None: torch.einsum("...i,...io->...o", x, w[e]) +
             (0 if b is None else b[e]), [0])
    for shape, ends in ((3, 3), (2, 5)), ((1, 2, 3), (7,)):
        rows = int(numpy.prod(shape))
        case("embed", f"rows of {'x'.join(map(str, shape))}",
             [Input(1, *ends, index=rows), Input(*shape, 6)],
             lambda i, x: x.flatten(0, -2)[i])


def main():
    torch.set_num_threads(1)
    for make in (convolutions, pools, products, norms, values, moves,
                 attentions, recurrent, given_states, arithmetic,
                 distances, gelu_by_tanh, reset_first, slower_turns, sampling,
                 small_words, best, sums, windows, experts, states):
        make()
    lines = []
    with open(f"{sys.argv[1]}/cases.bin", "wb") as binary:
        for op, name, ins, out, numbers, reals, work in CASES:
            lines.append(f"case {op} {name}")
            if numbers:
                lines.append("numbers " + " ".join(map(str, numbers)))
            if reals:
                lines.append("reals " + " ".join(f"{r:.9g}" for r in reals))
            lines += ["in " + i.text() for i in ins]
            if work:
                lines.append(f"work {work}")
            lines.append("out " + "x".join(map(str, out.shape)) +
                         (" i64=1" if out.dtype == torch.int64 else ""))
            flat = out.flatten().tolist()
            binary.write(struct.pack(f"<{len(flat)}f", *flat))
    with open(f"{sys.argv[1]}/cases.txt", "w") as text:
        text.write("\n".join(lines) + "\n")
    print(f"{len(CASES)} cases of {len({c[0] for c in CASES})} operations")


if __name__ == "__main__":
    main()
