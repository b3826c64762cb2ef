#!/usr/bin/python3
"""Writes tests/data/layout.csv: how tensors lie, and what that costs.

    tools/layout_truth.py >tests/data/layout.csv
    tools/layout_truth.py WORD...      only nets with one of these words

Each row is a net in the language, a batch and settings, beside the same net in
PyTorch 1.13 on a CPU: bytes that autograd saves (storages, each once, without
parameters, buffers and inputs), bytes of the gradients, the peak of forward and
backward of the sum of the outputs, and the most that a prediction needs: each
storage from the operation that makes it to the last one that reads it. Nets are
programs without frames that would hold what nothing needs any more.
"""
import operator
import sys

import torch
import torch.nn.functional as F
from torch import nn

from alive import VERSION, measure, prediction

torch.manual_seed(1)
torch.set_num_threads(1)


class Program(nn.Module):
    """Steps one after the other: a function or module, the names of what it
    reads and of what it makes; `x` is the input, and what is not said."""

    def __init__(self, *steps):
        super().__init__()
        self.steps = [step if isinstance(step, tuple) else (step, "x", "x")
                      for step in steps]
        self.parts = nn.ModuleList(s[0] for s in self.steps
                                   if isinstance(s[0], nn.Module))
        self.last = {}
        for i, (_, reads, _) in enumerate(self.steps):
            for name in reads.split():
                self.last[name, self.made(name, i)] = i

    def made(self, name, end):
        """The step that made what `name` is in front of step `end`."""
        return max((i for i in range(end) if name in self.steps[i][2].split()),
                   default=-1)

    def forward(self, x):
        held = {"x": x}
        del x
        for i, (f, reads, makes) in enumerate(self.steps):
            args = [held[name] for name in reads.split()]
            for name in set(reads.split()):
                if self.last[name, self.made(name, i)] == i:
                    del held[name]
            out = f(*args)
            del args
            if len(makes.split()) > 1:
                held.update(zip(makes.split(), out))
            else:
                held[makes] = out
            del out
        return held["x"]


def row(net, shape, *steps, settings="", predicts=True):
    """`predicts`: netc's net does the same then as while it is trained."""
    if sys.argv[1:] and not any(word in net for word in sys.argv[1:]):
        return
    for batch in 1, 2:
        model = Program(*steps)
        for parameter in model.parameters():
            parameter.grad = None
        data = torch.rand(batch, *shape) + 0.1
        values = [*measure(model, [data])]
        if predicts:
            values.append(prediction(model, [data]))
        print(f'"{net}",{batch},"{settings}",' + ",".join(map(str, values)),
              flush=True)


def conv(i, o, k=1, **more):
    return nn.Conv2d(i, o, k, **more)


lin = nn.Linear

print(f"""\
# What PyTorch {VERSION} keeps and allocates where tensors are views, copied, or lie in
# another order, in bytes (CPU, float32): tools/layout_truth.py. Peak: of forward
# and backward, without parameters, buffers and input; prediction: without
# weights and input.
# net,batch,settings,saved,gradients,peak,prediction""")


def in_place():
    """An activation in place on a view: rows of a dense layer, instnorm."""
    functions = {"relu": nn.ReLU(True), "relu6": nn.ReLU6(True),
                 "leaky": nn.LeakyReLU(0.01, True), "elu": nn.ELU(1.0, True),
                 "silu": nn.SiLU(True), "mish": nn.Mish(True),
                 "hswish": nn.Hardswish(True)}
    for word, f in functions.items():
        row(f"input 16x32; linear 64; {word}; linear 32", (16, 32),
            lin(32, 64), f, lin(64, 32))
        row(f"input 8x8x4; conv 4 1; instnorm; {word}; conv 3 1", (4, 8, 8),
            conv(4, 4), nn.InstanceNorm2d(4, affine=True), f, conv(4, 3))
    row("input 16x32; linear 64 relu; linear 64 relu; linear 8", (16, 32),
        lin(32, 64), nn.ReLU(True), lin(64, 64), nn.ReLU(True), lin(64, 8))
    row("input 16x32; linear 64 nobias; relu; linear 32", (16, 32),
        lin(32, 64, False), nn.ReLU(True), lin(64, 32))
    row("input 4x6x8; linear 16; relu; linear 8", (4, 6, 8),
        lin(8, 16), nn.ReLU(True), lin(16, 8))
    row("input 4x6x8; linear 16; silu; linear 8", (4, 6, 8),
        lin(8, 16), nn.SiLU(True), lin(16, 8))
    row("input 32; linear 64; relu; linear 32", (32,),
        lin(32, 64), nn.ReLU(True), lin(64, 32))
    row("input 8x8x4; conv 4 1; instnorm noaffine; relu; conv 3 1", (4, 8, 8),
        conv(4, 4), nn.InstanceNorm2d(4), nn.ReLU(True), conv(4, 3))
    row("input 16x32; linear 64; relu", (16, 32), lin(32, 64), nn.ReLU(True))
    row("input 16x32; linear 64; ln; relu; linear 8", (16, 32),
        lin(32, 64), nn.LayerNorm(64), nn.ReLU(True), lin(64, 8))
    row("input 8x8x4; conv 4 1; bn; relu; conv 3 1", (4, 8, 8),
        conv(4, 4), nn.BatchNorm2d(4), nn.ReLU(True), conv(4, 3))
    row("input 8x8x4; conv 4 1; gn 2; relu; conv 3 1", (4, 8, 8),
        conv(4, 4), nn.GroupNorm(2, 4), nn.ReLU(True), conv(4, 3))
    row("input 16x32; linear 32; add {} { linear 32 }; relu; linear 8",
        (16, 32), lin(32, 32), (lin(32, 32), "x", "y"),
        (torch.add, "x y", "x"), nn.ReLU(True), lin(32, 8), predicts=False)
    row("input 6x8x8; reshape 8x8x6; conv 4 1; reshape 64x4; relu; linear 3",
        (6, 8, 8), conv(6, 4), lambda x: x.permute(0, 2, 3, 1),
        lambda x: x.reshape(-1, 64, 4), nn.ReLU(True), lin(4, 3))


def in_place_parts():
    """On a part of a tensor, whose gradient lies among zeros."""
    def part(axis, first, size):
        return lambda x: x.narrow(axis, first, size)

    def both(*x):
        return torch.cat(x, 1)

    for word, f in ("relu", nn.ReLU(True)), ("leaky", nn.LeakyReLU(.01, True)), \
                   ("silu", nn.SiLU(True)):
        row(f"input 9x4; linear 8; slice c 0:4; {word}; linear 3", (9, 4),
            lin(4, 8), part(-1, 0, 4), f, lin(4, 3))
        row(f"input 9x4; linear 8; slice l 0:4; {word}; linear 3", (9, 4),
            lin(4, 8), part(1, 0, 4), f, lin(8, 3))
        row(f"input 5x7x4; conv 8 1; slice c 2:6; {word}; conv 3 1", (4, 5, 7),
            conv(4, 8), part(1, 2, 4), f, conv(4, 3))
        row(f"input 5x7x4; conv 8 1; slice c 2:6; {word}", (4, 5, 7),
            conv(4, 8), part(1, 2, 4), f)
        row(f"input 5x7x4; conv 4 1; crop 3x3; {word}; conv 3 1", (4, 5, 7),
            conv(4, 4), part(2, 1, 3), part(-1, 2, 3), f, conv(4, 3))
        row(f"input 9x4; linear 8; permute 1 0; {word}; linear 3", (9, 4),
            lin(4, 8), lambda x: x.transpose(1, 2), f, lin(9, 3))
        row(f"input 9x4; linear 8; slice c 0:4; {word}; mean l; fc 3", (9, 4),
            lin(4, 8), part(-1, 0, 4), f, lambda x: x.mean(1), lin(4, 3))
    row("input 8x8x4; x: conv 8 1; concat { from x; slice c 0:4; relu } { from "
        "x; slice c 4:8; relu }; conv 3 1", (4, 8, 8), conv(4, 8),
        (part(1, 0, 4), "x", "a"), (nn.ReLU(), "a", "a"),
        (part(1, 4, 4), "x", "b"), (nn.ReLU(True), "b", "b"),
        (both, "a b", "x"), conv(8, 3))
    row("input 8x8x4; conv 8 1; slice h 1:5; hswish; slice w 1:5; elu; "
        "conv 3 1", (4, 8, 8), conv(4, 8), part(2, 1, 4), nn.Hardswish(True),
        part(-1, 1, 4), nn.ELU(1., True), conv(8, 3))
    row("input 8x8x4; conv 8 1; instnorm; relu; concat {} { conv 4 1 }; "
        "conv 3 1", (4, 8, 8), conv(4, 8), nn.InstanceNorm2d(8, affine=True),
        nn.ReLU(True), (conv(8, 4), "x", "y"), (both, "x y", "x"), conv(12, 3))



def norms():
    """Statistics, which a prediction has, too; and lrn's steps."""
    for word, f in ("ln", nn.LayerNorm(8)), ("l2norm", F.normalize), \
                   ("rmsnorm", Rms(8)), ("rmsnorm noaffine", Bare()):
        rows = (lambda x: F.normalize(x, dim=-1)) if word == "l2norm" else f
        row(f"input 9x4; linear 8; {word}; linear 3", (9, 4), lin(4, 8),
            *steps_of(rows), lin(8, 3))
        row(f"input 9x4; linear 8; add {{ {word} }} {{}}; linear 3", (9, 4),
            lin(4, 8), *beside(steps_of(rows)), lin(8, 3))
    row("input 64x32; linear 256; rmsnorm; linear 32", (64, 32), lin(32, 256),
        *steps_of(Rms(256)), lin(256, 32))
    row("input 9x4; linear 8; rmsnorm frozen; linear 3", (9, 4), lin(4, 8),
        *steps_of(frozen(Rms(8))), lin(8, 3))
    for word, f in ("gn 2", nn.GroupNorm(2, 8)), \
                   ("instnorm", nn.InstanceNorm2d(8, affine=True)), \
                   ("instnorm noaffine", nn.InstanceNorm2d(8)), \
                   ("bn", nn.BatchNorm2d(8)):
        row(f"input 6x5x3; conv 8 1; {word}; conv 4 1", (3, 6, 5), conv(3, 8),
            f, conv(8, 4))
    row("input 6x5x3; conv 8 1; l2norm; conv 4 1", (3, 6, 5), conv(3, 8),
        F.normalize, conv(8, 4))
    row("input 32x32x3; conv 8 1; ln; conv 4 1", (3, 32, 32), conv(3, 8),
        *channels_last(nn.LayerNorm(8)), conv(8, 4))
    for size in 3, 5:
        row(f"input 6x6x3; conv 8 1; lrn {size}; conv 4 1", (3, 6, 6),
            conv(3, 8), nn.LocalResponseNorm(size), conv(8, 4))
    row("input 12x10x3; conv 16 3x3 pad relu; lrn 5; pool 3x3 /2; conv 8 3x3 "
        "pad groups=2 relu; lrn 5; pool 3x3 /2; conv 4 1", (3, 12, 10),
        conv(3, 16, 3, padding=1), nn.ReLU(True), nn.LocalResponseNorm(5),
        nn.MaxPool2d(3, 2), conv(16, 8, 3, padding=1, groups=2), nn.ReLU(True),
        nn.LocalResponseNorm(5), nn.MaxPool2d(3, 2), conv(8, 4))


class Rms(nn.Module):
    """Of its steps, as transformers' LlamaRMSNorm has them."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))


class Bare(nn.Module):
    pass


class Times(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return self.weight * x


def frozen(module):
    return module.requires_grad_(False)


def plain(module):
    """Without a bias, which these modules have no word for."""
    module.register_parameter("bias", None)
    return module


def without_biases():
    for word, f in ("gn 2", nn.GroupNorm(2, 8)), ("bn", nn.BatchNorm2d(8)), \
                   ("instnorm", nn.InstanceNorm2d(8, affine=True)):
        for more, ice in ("nobias", plain), \
                         ("nobias frozen", lambda f: frozen(plain(f))):
            row(f"input 6x5x3; conv 8 1; {word} {more}; conv 4 1", (3, 6, 5),
                conv(3, 8), ice(f), conv(8, 4))
            row(f"input 6x5x3; conv 8 1; {word} {more}; relu; conv 4 1",
                (3, 6, 5), conv(3, 8), ice(f), nn.ReLU(True), conv(8, 4))
            f.requires_grad_(True)
    row("input 5x7x4; conv 4 1; slice h 2:4; instnorm nobias; conv 3 1",
        (4, 5, 7), conv(4, 4), lambda x: x.narrow(2, 2, 2),
        plain(nn.InstanceNorm2d(4, affine=True)), conv(4, 3))


def steps_of(f):
    """A module, or what a norm of separate operations is."""
    if not isinstance(f, (Rms, Bare)):
        return [f]
    steps = [(lambda x: torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5),
              "x", "r"), (torch.mul, "x r", "x")]
    return steps + [Times(f.weight)] if isinstance(f, Rms) else steps


def named(step):
    return step if isinstance(step, tuple) else (step, "x", "x")


def beside(steps):
    """The steps on `x`, to which it is added."""
    steps = [named(step) for step in steps]
    moved = [(f, reads.replace("x", "y"), makes.replace("x", "y"))
             for f, reads, makes in steps]
    first = moved[0]
    if len(moved) > 1:  # a norm, which reads the tensor twice
        moved = [(steps[0][0], "x", "r"), (steps[1][0], "x r", "y")] + moved[2:]
    else:
        moved = [(first[0], "x", "y")]
    return [*moved, (operator.iadd, "y x", "x")]


def channels_last(*steps):
    return [lambda x: x.movedim(1, -1), *steps, lambda x: x.movedim(-1, 1)]


def patches():
    """The gradient of patches is as large as they are."""
    row("input 16x16x3; conv 8 1; unfold 3x3 pad=1; slice c 0:9; conv 4 1",
        (3, 16, 16), conv(3, 8), nn.Unfold(3, padding=1),
        lambda x: x.view(-1, 72, 16, 16), lambda x: x.narrow(1, 0, 9), conv(9, 4))
    row("input 5x7x4; conv 4 1; unfold 3x3 pad=1; conv 3 1", (4, 5, 7),
        conv(4, 4), nn.Unfold(3, padding=1), lambda x: x.view(-1, 36, 5, 7),
        conv(36, 3))
    row("input 5x7x4; conv 4 1; unfold 3x3 pad=1; slice h 4:5; conv 3 1",
        (4, 5, 7), conv(4, 4), nn.Unfold(3, padding=1),
        lambda x: x.view(-1, 36, 5, 7), lambda x: x.narrow(2, 4, 1), conv(36, 3))
    row("input 8x8x4; conv 4 1; unfold 2x2 /2; conv 3 1", (4, 8, 8),
        conv(4, 4), nn.Unfold(2, stride=2), lambda x: x.view(-1, 16, 4, 4),
        conv(16, 3))
    row("input 6x6x6x4; conv 4 1; deconv 2 2 pad=2; conv 3 1", (4, 6, 6, 6),
        nn.Conv3d(4, 4, 1), nn.ConvTranspose3d(4, 2, 2, padding=2),
        nn.Conv3d(2, 3, 1))
    row("input 3x3x3x4; conv 4 1; deconv 2 3 /2; conv 3 1", (4, 3, 3, 3),
        nn.Conv3d(4, 4, 1), nn.ConvTranspose3d(4, 2, 3, 2), nn.Conv3d(2, 3, 1))


def reductions():
    """The largest of several axes is looked for again; clamps keep a mask."""
    for word, f in ("max", torch.amax), ("min", torch.amin):
        row(f"input 16x16x3; conv 8 1; {word} h w keep; conv 4 1", (3, 16, 16),
            conv(3, 8), lambda x: f(x, (2, 3), True), conv(8, 4))
        row(f"input 9x4; linear 8; {word} l c; fc 3", (9, 4), lin(4, 8),
            lambda x: f(x, (1, 2)), lambda x: x.view(-1, 1), lin(1, 3))
    row("input 16x16x3; conv 8 1; relu; add {} { max h w keep }; conv 4 1",
        (3, 16, 16), conv(3, 8), nn.ReLU(True),
        (lambda x: x.amax((2, 3), True), "x", "y"), (torch.add, "x y", "x"),
        conv(8, 4))
    for word, more in ("max 0", {"min": 0}), ("min 6", {"max": 6}):
        row(f"input 5x7x4; conv 4 1; {word}; conv 3 1", (4, 5, 7), conv(4, 4),
            lambda x: x.clamp(**more), conv(4, 3))
        row(f"input 9x4; linear 8; {word}; linear 3", (9, 4), lin(4, 8),
            lambda x: x.clamp(**more), lin(8, 3))


def parts():
    """Parts of tensors, and what must have them in one piece. Slices are what
    torch.narrow makes: PyTorch 1.13 makes one more of each `:` in front."""
    def first(*more):
        return conv(4, 4), *more

    for word, f in ("gn 1", lambda c: nn.GroupNorm(1, c)), \
                   ("gn 2", lambda c: nn.GroupNorm(2, c)), \
                   ("instnorm", lambda c: nn.InstanceNorm2d(c, affine=True)), \
                   ("bn", nn.BatchNorm2d):
        row(f"input 5x7x4; conv 4 1; slice h 2:4; {word}; conv 3 1", (4, 5, 7),
            *first(lambda x: x.narrow(2, 2, 2), f(4), conv(4, 3)))
        row(f"input 5x7x4; conv 4 1; slice w 2:4; {word}; conv 3 1", (4, 5, 7),
            *first(lambda x: x.narrow(-1, 2, 2), f(4), conv(4, 3)))
        row(f"input 5x7x4; conv 4 1; slice c 2:4; {word}; conv 3 1", (4, 5, 7),
            *first(lambda x: x.narrow(1, 2, 2), f(2), conv(2, 3)))
        row(f"input 5x7x4; conv 4 1; sigmoid; p: split c 2; concat p[1] "
            f"{{ from p[2]; {word} }}; conv 3 1", (4, 5, 7),
            *first(nn.Sigmoid(), (lambda x: x.chunk(2, 1), "x", "a b"),
                   (f(2), "b", "b"),
                   (lambda a, b: torch.cat([a, b], 1), "a b", "x"),
                   conv(4, 3)))
        row(f"input 5x7x4; conv 4 1; ln; {word}; conv 3 1", (4, 5, 7),
            *first(*channels_last(nn.LayerNorm(4)), f(4), conv(4, 3)))
        row(f"input 5x7x4; conv 4 1; slice h 2:4; gelu; {word}; conv 3 1",
            (4, 5, 7), *first(lambda x: x.narrow(2, 2, 2), nn.GELU(), f(4),
                              conv(4, 3)))
        row(f"input 5x7x4; conv 4 1; crop 3x3; {word}; conv 3 1", (4, 5, 7),
            *first(lambda x: x.narrow(2, 1, 3), lambda x: x.narrow(-1, 2, 3), f(4),
                   conv(4, 3)))
    row("input 16x16x8; conv 16 1; slice c 8:16; gn 4; conv 8 1", (8, 16, 16),
        conv(8, 16), lambda x: x.narrow(1, 8, 8), nn.GroupNorm(4, 8), conv(8, 8))
    row("input 16x16x3; conv 8 1; crop 12x12; conv 4 1", (3, 16, 16),
        conv(3, 8), lambda x: x.narrow(2, 2, 12), lambda x: x.narrow(-1, 2, 12), conv(8, 4))
    row("input 16x16x3; conv 8 1; slice h 2:14; slice w 2:14; conv 4 1",
        (3, 16, 16), conv(3, 8), lambda x: x.narrow(2, 2, 12),
        lambda x: x.narrow(-1, 2, 12), conv(8, 4))
    row("input 9x4; linear 4; gelu; slice l 2:4; slice l 0:1; linear 3",
        (9, 4), lin(4, 4), nn.GELU(), lambda x: x.narrow(1, 2, 2), lambda x: x.narrow(1, 0, 1),
        lin(4, 3))
    row("input 9x4; linear 4; slice l 0:1; linear 3", (9, 4), lin(4, 4),
        lambda x: x.narrow(1, 0, 1), lin(4, 3))
    row("input 9x4; linear 4; gelu; slice c 0:2; slice l 0:3; linear 3",
        (9, 4), lin(4, 4), nn.GELU(), lambda x: x.narrow(-1, 0, 2),
        lambda x: x.narrow(1, 0, 3), lin(2, 3))
    row("input 9x4; linear 4; slice c 2:3; permute 1 0; linear 3", (9, 4),
        lin(4, 4), lambda x: x.narrow(-1, 2, 1), lambda x: x.transpose(1, 2),
        lin(9, 3))
    row("input 9x4; linear 4; permute 1 0; silu; linear 3", (9, 4), lin(4, 4),
        lambda x: x.transpose(1, 2), nn.SiLU(), lin(9, 3),
        settings="inplace=off")


def joined():
    """A dense layer's rows are no matrix in the gradient of what several are
    joined to along another axis than the features."""
    def two(net, shape, axis, more="", f=None):
        steps = [(lin(8, 8), "x", "a"), (lin(8, 8, False), "x", "b")]
        if more:
            steps.append((f, "b", "b"))
        row(f"input {net}; linear 8; concat {{ linear 8 }} "
            f"{{ linear 8 nobias{more} }} axis={axis}; linear 5", shape,
            lin(16, 8), *steps, (lambda a, b: torch.cat([a, b], axis + 1),
                                 "a b", "x"), lin(8, 5))

    two("6x16", (6, 16), 0)
    two("1x16", (1, 16), 0)
    two("6x16", (6, 16), 0, "; add 1", lambda x: x + 1)
    two("6x16", (6, 16), 0, "; tanh", nn.Tanh())
    two("4x3x16", (4, 3, 16), 0)
    two("4x3x16", (4, 3, 16), 1)
    two("1x3x16", (1, 3, 16), 1)
    for order in "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0":
        axes = [0, *(int(axis) + 1 for axis in order.split())]
        row(f"input 4x3x2; linear 50; permute {order}; linear 1", (4, 3, 2),
            lin(2, 50), lambda x: x.permute(axes),
            lin((0, 4, 3, 50)[axes[3]], 1))
    row("input 6x16; linear 8; concat { linear 8 } {} axis=l; linear 5",
        (6, 16), lin(16, 8), (lin(8, 8), "x", "a"),
        (lambda a, b: torch.cat([a, b], 1), "a x", "x"), lin(8, 5))
    row("input 4x16; linear 8; stack { linear 8 } { linear 8 }; linear 5",
        (4, 16), lin(16, 8), (lin(8, 8), "x", "a"), (lin(8, 8), "x", "b"),
        (lambda a, b: torch.stack([a, b], 1), "a b", "x"), lin(8, 5))


def others():
    row("input 4x2; linear 6; posembed; linear 3", (4, 2), lin(2, 6),
        Position(4, 6), lin(6, 3))
    for word, ice in ("", lambda f: f), (" frozen", frozen):
        row(f"input 9x4; linear 8; affine{word}; linear 3", (9, 4), lin(4, 8),
            ice(Factors(8)), lin(8, 3))
        row(f"input 6x5x4; conv 4 1; local 2 3 nobias{word}; conv 3 1",
            (4, 6, 5), conv(4, 4), nn.Unfold(3), ice(Local(12, 36, 2)),
            lambda x: x.permute(1, 2, 0), lambda x: x.unflatten(2, (4, 3)),
            conv(2, 3))
    row("input 9x4; linear 8; logsoftmax; mul 0.5", (9, 4), lin(4, 8),
        nn.LogSoftmax(-1), lambda x: x * 0.5)


def recurrent():
    """Steps first, as they lie; a prediction has what is touched."""
    for word, f in ("rnn", nn.RNN), ("lstm", nn.LSTM), ("gru", nn.GRU):
        for more, given in ("", {}), (" bidir", {"bidirectional": True}), \
                           (" layers=2", {"num_layers": 2}):
            ways = 2 if "bidir" in more else 1
            row(f"input 6x8; linear 8; {word} 4{more}; linear 3", (6, 8),
                lin(8, 8), *steps_first(f(8, 4, **given)), lin(4 * ways, 3))


    def turn(x):
        return x.transpose(1, 2)

    for word, f in ("rnn", nn.RNN), ("lstm", nn.LSTM), ("gru", nn.GRU):
        for more, given in ("", {}), (" bidir", {"bidirectional": True}), \
                           (" layers=2", {"num_layers": 2}):
            ways = 2 if "bidir" in more else 1
            net = f(8, 4, batch_first=True, **given)
            row(f"input 6x8; linear 8; {word} 4{more} batch_first; linear 3",
                (6, 8), lin(8, 8), First(net), lin(4 * ways, 3))
        row(f"input 9x5; {word} 4 batch_first; {word} 6 batch_first; linear 3 "
            "tanh", (9, 5), First(f(5, 4, batch_first=True)),
            First(f(4, 6, batch_first=True)), lin(6, 3), nn.Tanh())
        row(f"train inplace=off; input 7x5; linear 6; {word} 5 batch_first; "
            f"sigmoid; linear 3", (7, 5), lin(5, 6),
            First(f(6, 5, batch_first=True)), nn.Sigmoid(), lin(5, 3))
        row(f"input 9x5; conv 4 3 pad; {word} 3 bidir batch_first; linear 3",
            (5, 9), nn.Conv1d(5, 4, 3, padding=1), turn,
            First(f(4, 3, bidirectional=True, batch_first=True)), lin(6, 3))


def masked():
    """Causal attention, whose mask each layer makes and keeps."""
    def heads(count):
        def split(x):
            return x.view(*x.shape[:2], count, -1).transpose(1, 2)
        return split

    for count in 1, 2:
        split, scale = heads(count), (8 // count) ** -0.5
        row(f"input 12x8; linear 8; attention {count} causal naive; linear 3",
            (12, 8), lin(8, 8), (lin(8, 8), "x", "q"), (lin(8, 8), "x", "k"),
            (lin(8, 8), "x", "v"), (split, "q", "q"), (split, "k", "k"),
            (split, "v", "v"), (lambda q, k: q @ k.transpose(2, 3), "q k", "s"),
            (lambda s, scale=scale: s * scale, "s", "s"),
            (lambda s: s.masked_fill(torch.ones(12, 12, dtype=torch.bool).triu(
                1), -torch.inf), "s", "s"),
            (lambda s: s.softmax(-1), "s", "s"), (torch.matmul, "s v", "x"),
            lambda x: x.transpose(1, 2),
            lambda x: x.reshape(-1, 12, 8), lin(8, 8), lin(8, 3))


class Factors(nn.Module):
    """resmlp's Affine, of rows."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return torch.addcmul(self.bias, self.weight, x)


class Local(nn.Module):
    """A product for each position of patches."""

    def __init__(self, positions, width, out):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(positions, width, out))

    def forward(self, x):
        return torch.bmm(x.permute(2, 0, 1), self.weight)


class First(nn.Module):
    """The output alone."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)[0]


def steps_first(net):
    return [lambda x: x.view(x.shape[1], x.shape[0], -1), First(net),
            lambda x: x.view(x.shape[1], x.shape[0], -1)]


class Position(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(length, width))

    def forward(self, x):
        return x + self.weight


for group in in_place, in_place_parts, norms, without_biases, patches, reductions, parts, joined, recurrent, \
             masked, others:
    group()
