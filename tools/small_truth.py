#!/usr/bin/python3
"""Writes tests/data/small.csv: small layers as PyTorch runs them.

Each row has a net in the language, a batch, and what PyTorch 1.13 did on a
CPU: the parameters, the multiply-accumulates of convolutions and products for
one sample, the bytes that autograd keeps (each storage once, without
parameters, buffers and inputs), and the most that the allocator held at once in
forward and backward, the loss being the sum of the output. Run by hand:
tools/small_truth.py >tests/data/small.csv
"""
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

torch.manual_seed(1)
ONLY = sys.argv[1:]


class Products(TorchDispatchMode):
    """Counts multiply-accumulates of matrix products and convolutions."""
    macs = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name in ("mm", "addmm", "bmm"):
            self.macs += out.numel() * args[-2].shape[-1]
        elif name == "convolution":
            self.macs += out.numel() * math.prod(args[1].shape[1:])
        return out


def saved_bytes(module, inputs, owned):
    kept = {}

    def pack(tensor):
        storage = tensor.storage()
        if storage.data_ptr() not in owned:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = module(*inputs)
    del out
    return sum(kept.values())


def peak_bytes(module, inputs):
    """What the allocator had at most, above what it had before."""
    for parameter in module.parameters():
        parameter.grad = None
    with torch.autograd.profiler.profile(profile_memory=True) as seen:
        out = module(*inputs)
        out.sum().backward()
        del out
    live = peak = 0
    for event in seen.kineto_results.events():
        if event.name() == "[memory]":
            live += event.nbytes()
            peak = max(peak, live)
    return peak


def case(net, module, *shapes):
    """`shapes`: of the inputs, without the batch, as `module` takes them."""
    if ONLY and not any(word in net for word in ONLY):
        return
    for batch in 1, 3:
        inputs = [torch.rand(batch, *shape) + 0.1 for shape in shapes]
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.abs_()
        module(*inputs).sum().backward()  # what is made once
        owned = {t.storage().data_ptr() for t in
                 [*module.parameters(), *module.buffers(), *inputs]}
        with Products() as products, torch.no_grad():
            module(*inputs)
        print(f'"{net}",{batch},'
              f'{sum(p.numel() for p in module.parameters())},'
              f'{products.macs // batch},'
              f'{saved_bytes(module, inputs, owned)},'
              f'{peak_bytes(module, inputs)}')


class Then(nn.Module):
    """A layer, and functions of what it gives; gradients reach both."""

    def __init__(self, first, function, *more):
        super().__init__()
        self.first, self.function = first, function
        self.more = nn.ModuleList(more)

    def forward(self, *x):
        return self.function(self.first(*x), *self.more)


def vector(net, function, *more, width=8):
    """On a sequence of 6 vectors, behind a dense layer."""
    case(f"input 6x8; linear {width}; {net}",
         Then(nn.Linear(8, width), function, *more), (6, 8))


def map_of(net, function, *more, channels=8):
    """On a map of 6x5, behind a convolution of 1x1."""
    case(f"input 6x5x4; conv {channels} 1x1; {net}",
         Then(nn.Conv2d(4, channels, 1), function, *more), (4, 6, 5))


def arithmetic():
    vector("mul 0.17", lambda x: x * 0.17)
    vector("div 2", lambda x: x / 2)
    vector("add 1", lambda x: x + 1)
    vector("sub 1", lambda x: x - 1)
    vector("max 0.5", lambda x: x.clamp(min=0.5))
    vector("min 0.5", lambda x: x.clamp(max=0.5))
    vector("sqrt", torch.sqrt)
    vector("exp", torch.exp)
    vector("log", torch.log)
    vector("abs", torch.abs)
    vector("neg", torch.neg)
    vector("pow 3", lambda x: x.pow(3))
    vector("mul 0.17; linear 4", lambda x, f: f(x * 0.17), nn.Linear(8, 4))
    vector("add 1; linear 4", lambda x, f: f(x + 1), nn.Linear(8, 4))
    vector("exp; linear 4", lambda x, f: f(x.exp()), nn.Linear(8, 4))
    vector("div { linear 8 } {}", lambda x, f: f(x) / x, nn.Linear(8, 8))
    vector("min { linear 8 } {}", lambda x, f: torch.minimum(f(x), x),
           nn.Linear(8, 8))
    vector("div { sum c keep } {}; linear 4",
           lambda x, f: f(x.sum(-1, True) / x), nn.Linear(8, 4))
    for word, f in ("mean", torch.mean), ("sum", torch.sum):
        vector(f"{word} l", lambda x: f(x, 1))
        vector(f"{word} c; fc 3", lambda x, g: g(f(x, 2)), nn.Linear(6, 3))
        map_of(f"{word} h w", lambda x: f(x, (2, 3)))
        map_of(f"{word} c keep; conv 2 3x3",
               lambda x, g: g(f(x, 1, True)), nn.Conv2d(1, 2, 3))
    for word, one, several in (("max", torch.max, torch.amax),
                               ("min", torch.min, torch.amin)):
        vector(f"{word} l", lambda x: one(x, 1)[0])
        map_of(f"{word} c keep; conv 2 3x3",
               lambda x, g: g(one(x, 1, True)[0]), nn.Conv2d(1, 2, 3))
        map_of(f"{word} h w; fc 3",
               lambda x, g: g(several(x, (2, 3))), nn.Linear(8, 3))


class Vectors(nn.Module):
    """A factor and a term for each channel of a map."""

    def __init__(self, channels, function):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels, 1, 1))
        self.bias = nn.Parameter(torch.zeros(channels, 1, 1))
        self.function = function

    def forward(self, x):
        return self.function(x, self.weight, self.bias)


def channels():
    vector("glu", lambda x: F.glu(x, -1))
    vector("glu; linear 3", lambda x, f: f(F.glu(x, -1)), nn.Linear(4, 3))
    vector("l2norm", lambda x: F.normalize(x, dim=-1))
    vector("l2norm; linear 3", lambda x, f: f(F.normalize(x, dim=-1)),
           nn.Linear(8, 3))
    map_of("l2norm", lambda x: F.normalize(x, dim=1))
    map_of("lrn 5", lambda x: F.local_response_norm(x, 5))
    # resmlp's Affine, Caffe's Scale
    map_of("affine; conv 2 3x3", lambda x, a, f: f(a(x)),
           Vectors(8, lambda x, w, b: torch.addcmul(b, w, x)),
           nn.Conv2d(8, 2, 3))
    map_of("scale bias; conv 2 3x3", lambda x, a, f: f(a(x)),
           Vectors(8, lambda x, w, b: x * w + b), nn.Conv2d(8, 2, 3))


arithmetic()
channels()
