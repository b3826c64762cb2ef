#!/usr/bin/python3
"""What PyTorch 1.13 keeps for backward, and how much is alive in a step.

    tools/step_truth.py >tests/data/steps.csv

Each row is a net, most of them small and with frozen parts, beside the same
net in PyTorch, at a batch of 1 and of 3: bytes that autograd saves (storages,
each once, without parameters, buffers and inputs), bytes of the gradients, and
the peak of forward and backward of the sum of the outputs, sampled after every
operation. Run by hand when a rule of what is kept changes.
"""
import torch
import torch.nn.functional as F
from torch import nn
from torchvision import models
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


# Measuring

def key_of(tensor):
    return tensor.storage()._storage._cdata


class Watch(TorchDispatchMode):
    """The most that is alive after an operation: storages not in `outside`."""

    def __init__(self, outside):
        super().__init__()
        self.outside, self.alive, self.peak = outside, {}, 0

    def note(self, tensor):
        key = key_of(tensor)
        if key not in self.outside and key not in self.alive:
            storage = tensor.storage()
            self.alive[key] = StorageWeakRef(storage), storage.nbytes()
        return tensor

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, float):  # a saved number, unpacked
            out = torch.tensor(out, dtype=torch.float64)
        for value in tree_flatten(out)[0]:
            if isinstance(value, torch.Tensor):
                self.note(value)
        self.alive = {key: held for key, held in self.alive.items()
                      if not held[0].expired()}
        self.peak = max(self.peak, sum(n for _, n in self.alive.values()))
        return out


plain_linear = F.linear


def linear(x, weight, bias=None):
    """F.linear as it is where nothing watches: a mode that does makes it add
    the bias to a copy. ATen/native/Linear.cpp"""
    if bias is None or x.dim() == 2 or (x.dim() == 3 and x.is_contiguous()):
        return plain_linear(x, weight, bias)
    return torch.matmul(x, weight.t()).add_(bias)


F.linear = linear


def backward(out):
    outs = out if isinstance(out, tuple) else (out,)
    total = outs[0].sum()
    for other in outs[1:]:
        total = total + other.sum()
    total.backward()


def measure(model, inputs):
    """Bytes that are saved, of gradients, and at the peak."""
    outside = {key_of(t) for t in
               [*inputs, *model.parameters(), *model.buffers()]}
    kept = {}

    def pack(tensor):
        if key_of(tensor) not in outside:
            kept[key_of(tensor)] = tensor.storage().nbytes(), tensor
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = model(*inputs)
    saved = sum(size for size, _ in kept.values())
    kept.clear()
    del out
    with Watch(outside) as watch:
        # Numbers that are saved as tensors no operation makes.
        with torch.autograd.graph.saved_tensors_hooks(watch.note,
                                                      lambda t: t):
            out = model(*inputs)
        backward(out)
    gradients = sum(p.grad.numel() * p.grad.element_size()
                    for p in model.parameters() if p.grad is not None)
    return saved, gradients, watch.peak


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


def row(net, shape, build, kind=torch.float32, train="", batches=(1, 3)):
    for batch in batches:
        model = build()
        x = torch.zeros(batch, *shape, dtype=kind)
        values = measure(model, [x])
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


print("""\
# What PyTorch 1.13 keeps and allocates in a step of small nets, in bytes (CPU,
# float32): tools/step_truth.py. loss=sum; peak: of forward and backward,
# without parameters, buffers and input.
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


# Whole nets.
row("examples/zoo/inception_v3.net", (3, 299, 299),
    lambda: Call(lambda x, net: tuple(net(x)), models.inception_v3(
        weights=None, init_weights=False)), train="-Daux=true", batches=[2])
row("examples/zoo/swin.net", (3, 224, 224),
    lambda: models.swin_t(weights=None), batches=[2])
