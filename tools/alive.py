"""What is alive in a step: tensors, after every operation.

What a kernel takes and gives back while it runs is none. For
tools/step_truth.py and tools/sequence_truth.py.
"""
import weakref

import torch
import torch.nn.functional as F
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


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
        if func is torch.ops.aten.detach.default and \
                isinstance(out, (float, int)):  # a saved number, unpacked
            out = torch.tensor(out, dtype=torch.float64)
        for value in tree_flatten(out)[0]:
            if isinstance(value, torch.Tensor):
                self.note(value)
        self.count()
        return out

    def count(self):
        self.alive = {key: held for key, held in self.alive.items()
                      if not held[0].expired()}
        self.peak = max(self.peak, sum(n for _, n in self.alive.values()))


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


class Held:
    """A tensor that autograd keeps; what nothing leads back to goes."""

    def __init__(self, tensor):
        self.tensor = tensor


def size_of(tensor, bits):
    """Bytes of its storage; with `bits`, as GACT writes it: gact/quantizer.py,
    check_quantize(), and gact/ops.py, no_scheme_quantize_pack()."""
    if not bits or not tensor.requires_grad or not 1 < tensor.dim() < 5 or \
            tensor.dtype not in (torch.float32, torch.float16):
        return tensor.storage().nbytes()
    groups = F.pad(tensor.detach().reshape(-1),
                   (0, -tensor.numel() % 256)).view(-1, 256)
    least, most = groups.min(-1).values, groups.max(-1).values
    codes = torch.empty(groups.numel() * bits // 8, dtype=torch.uint8)
    return sum(t.storage().nbytes() for t in (codes, least, most))


def measure(model, inputs, bits=0):
    """Bytes that are saved, of gradients, and at the peak."""
    outside = {key_of(t) for t in
               [*inputs, *model.parameters(), *model.buffers()]}
    kept = []

    def pack(tensor):
        held = Held(tensor)
        if key_of(tensor) not in outside:
            kept.append(weakref.ref(held))
        return held
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda h: h.tensor):
        out = model(*inputs)
    alive = [held().tensor for held in kept if held()]
    saved = sum({key_of(t): size_of(t, bits) for t in alive}.values())
    del out, alive
    with Watch(outside) as watch:
        # Numbers that are saved as tensors no operation makes.
        with torch.autograd.graph.saved_tensors_hooks(watch.note,
                                                      lambda t: t):
            out = model(*inputs)
        backward(out)
    gradients = sum(p.grad.numel() * p.grad.element_size()
                    for p in model.parameters() if p.grad is not None)
    return saved, gradients, watch.peak
